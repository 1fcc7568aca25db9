// The path between any two devices of a machine: as the file says it, else from
// its NVLinks, else from where the devices hang in the PCIe tree.
//
//   DevicePaths paths(machine);
//   to_text(paths.between(0, 1))   // "PIX"
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "topology/machine_topology.h"

namespace gridfold {

// All NVSwitches of a machine count as one fabric that reaches every device
// linked to any of them. NCCL (ncclTopoAddNvLinks) and hwloc
// (HWLOC_DISTANCES_TRANSFORM_MERGE_SWITCH_PORTS) see it so too: the trunks
// between the switches of a DGX-2's two boards stand in no file.
class DevicePaths {
 public:
  // The topology must outlive this and come from a reader.
  explicit DevicePaths(const MachineTopology& topology);

  // Cost: the depth of the PCIe tree at most. Indices of devices.
  DevicePath between(std::size_t a, std::size_t b) const;

  // Linked to an NVSwitch.
  bool on_fabric(std::size_t device) const { return on_fabric_[device]; }

 private:
  DevicePath by_link(std::size_t a, std::size_t b) const;
  DevicePath by_pcie(const MachineDevice& a, const MachineDevice& b) const;
  bool share_a_switch(std::int32_t a, std::int32_t b) const;

  const MachineTopology& topology_;
  // Links of a pair of devices together, the lower index first.
  std::map<std::pair<std::int32_t, std::int32_t>, DevicePath> direct_;
  // Indexed by device: its links to NVSwitches together.
  std::vector<bool> on_fabric_;
  std::vector<DevicePath> to_fabric_;
};

}  // namespace gridfold
