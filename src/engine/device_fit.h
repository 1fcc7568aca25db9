// The device groups of a request against the devices of a node: how many tasks
// find theirs, and which they had better take. device_choice.h knows sets and
// slots; here they meet the books.
#pragma once

#include "engine/cluster.h"
#include "engine/device_choice.h"

namespace gridfold {

// Devices of the node that can take one unit of the need now.
DeviceMask open_devices(const NodeRoom& node, const DeviceNeed& need);
// What the need asks of a set of devices.
SetRequest set_request(const NodeRoom& node, const DeviceNeed& need);
// How the node's devices hang together; no groups where nothing is known.
const DeviceGroups& groups_of(const NodeRoom& node);

// Of the open devices, the most that one task could get, as it wishes them.
std::int32_t most_of(const NodeRoom& node, const DeviceNeed& need);
// How many tasks find the devices of this group at once.
std::int64_t slots_of(const NodeRoom& node, const DeviceNeed& need);

// True when more than a policy's score decides which devices are taken: the
// need has a wish or asks for a partition, or its devices hang together in a
// known way. Then choose_devices() is what to take.
inline bool is_choice_ruled(const NodeRoom& node, const DeviceNeed& need) {
  return need.place != DevicePlace::kAny || need.partition != 0 ||
         (need.is_whole() && node.layout != nullptr);
}
// The devices for one group, none of `taken` (which other groups have). Whole
// devices as device_choice.h says; for a partition the device where it costs
// least; for a slice the fullest device that still fits, and when one must be
// opened, one that breaks no whole socket. Equals by number. Requires that they
// are there.
DeviceMask choose_devices(const NodeRoom& node, const DeviceNeed& need, DeviceMask taken);

// The devices that can take one unit, in the order in which a policy that
// scores them one by one breaks ties: those in use first, then the others as
// they are best opened. By number where nothing is known of their places.
DeviceOrder order_of_devices(const NodeRoom& node, const DeviceNeed& need, DeviceMask taken);

// Where on the devices that were chosen the request's partition begins;
// kNoPartition when it asks for none.
std::int32_t choose_start(const NodeRoom& node, const Request& request, DeviceMask devices);
// What that costs of the usefulness of the device's slots; 0 without a partition.
std::int64_t partition_loss(const NodeRoom& node, const Request& request, DeviceMask devices);

}  // namespace gridfold
