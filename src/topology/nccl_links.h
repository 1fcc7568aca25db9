// The NVLinks that GPUs of NCCL's XML list by PCI address, matched with the
// devices: split off nccl_xml.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "topology/machine_topology.h"
#include "topology/xml_file.h"

namespace gridfold {

// A <gpu> element and the device it makes of its <pci>.
struct NcclGpu {
  pugi::xml_node element;
  std::int32_t device = 0;
};

// Adds the links to the topology, and the NVSwitches that only links name.
Result<void> add_nccl_links(const XmlFile& file, const std::vector<NcclGpu>& gpus,
                            MachineTopology& topology);

}  // namespace gridfold
