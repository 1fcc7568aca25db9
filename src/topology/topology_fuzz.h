// What every fuzz target of a topology reader does: no crash on any bytes, and
// what is accepted holds what the users of a machine rely on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "topology/device_locality.h"
#include "topology/device_paths.h"

namespace gridfold {

inline std::string_view fuzz_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void check_machine(const MachineTopology& machine) {
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  const auto devices = static_cast<std::int32_t>(machine.devices.size());
  for (std::size_t i = 0; i < machine.switches.size(); ++i)
    require(machine.switches[i].parent < static_cast<std::int32_t>(i));
  for (const auto& device : machine.devices)
    if (device.pcie_switch.is_known())
      require(device.pcie_switch.value() < static_cast<std::int32_t>(machine.switches.size()));
  for (const auto& link : machine.links)
    require(link.a >= 0 && link.a < devices && link.b < devices && link.a != link.b);
  const DevicePaths paths(machine);
  for (std::size_t a = 0; a < machine.devices.size() && a < 64; ++a)
    for (std::size_t b = 0; b < machine.devices.size() && b < 64; ++b)
      require(paths.between(a, b) == paths.between(b, a));
  const auto gpus = gpu_localities(machine);
  require(gpus.size() == machine.count(MachineDeviceKind::kGpu));
  for (std::size_t i = 0; i < gpus.size(); ++i) require(gpus[i].device == static_cast<int>(i));
}

}  // namespace gridfold
