// Emulated devices: they exist only in our books, for trying things out on a
// machine without them, and are marked as such wherever they are shown.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "devices/device_facts.h"
#include "model/node.h"

namespace gridfold {

// Reads "gpu:H100-SXM5-80GB=8,npu:Ascend-910A=2,gpu:MyChip@24GiB=4": class,
// model, count, and a memory for models that the facts do not know (or to state
// another than theirs). At most kMaxDevicesPerNode in all. The devices stand in
// the order written, with uids "emulated-0", "emulated-1", ….
//
// After the count, each after a ':', may stand how the devices hang together
// and that they are split: "gpu:H100-SXM5-80GB=8:numa=4+4:switch=2+2+2+2:island=8"
// puts the first four on NUMA node 0, the next on 1, and so on; ":partitioned"
// gives them out in the model's partitions only. NUMA nodes and switches are
// numbered anew in each entry, islands are not: one never joins two entries.
//
// Errors, with field "devices[i]": kInvalid for anything else, also for a model
// that belongs to another class; kLimit for too many.
Result<std::vector<DeviceSpec>> parse_emulated_devices(std::string_view text,
                                                       const DeviceFactsTable& facts);

}  // namespace gridfold
