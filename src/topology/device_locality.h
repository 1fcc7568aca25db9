// Where each GPU of a machine stands, in the few numbers that choosing devices
// needs.
//
//   for (const DeviceLocality& gpu : gpu_localities(machine)) …
#pragma once

#include <cstdint>
#include <vector>

#include "topology/machine_topology.h"

namespace gridfold {

struct NearNic {
  std::int32_t device = 0;  // index among the machine's devices
  PathKind path = PathKind::kUnknown;
  friend bool operator==(const NearNic&, const NearNic&) = default;
};

// -1: the file does not say.
struct DeviceLocality {
  std::int32_t device = 0;  // index among the machine's devices: GPU i is i
  std::int32_t numa = -1;   // the operating system's number
  // GPUs of one group are joined by a PCIe switch. A GPU that shares its switch
  // with no other is a group of its own. Groups count from 0 in the GPUs' order.
  std::int32_t switch_group = -1;
  // GPUs of one island reach one another over NVLinks, direct or through other
  // GPUs or NVSwitches. A GPU known to have no links is an island of its own.
  std::int32_t island = -1;
  // The network cards on the shortest path that any has; empty when there is no
  // card or no path is known.
  std::vector<NearNic> nics;
  friend bool operator==(const DeviceLocality&, const DeviceLocality&) = default;
};

// One for each GPU, in order.
//
// Where the file says paths instead of switches, GPUs of one group have PIX
// between them or to the same network card; a GPU with no PIX at all joins those
// to which it has PXB.
std::vector<DeviceLocality> gpu_localities(const MachineTopology& topology);

}  // namespace gridfold
