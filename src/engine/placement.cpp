#include "engine/placement.h"

namespace gridfold {
namespace {

std::uint64_t whole_devices(const NodeRoom& node, const DeviceNeed& need, std::uint64_t taken) {
  std::uint64_t mask = 0;
  std::int32_t found = 0;
  for (std::size_t i = 0; i < node.devices.size() && found < need.count; ++i) {
    if ((taken >> i & 1) || !device_fits(node.devices[i], need)) continue;
    mask |= std::uint64_t{1} << i;
    ++found;
  }
  return mask;
}

// The fullest devices that still fit, so that few are opened.
std::uint64_t slice_devices(const NodeRoom& node, const DeviceNeed& need, std::uint64_t taken) {
  std::uint64_t mask = 0;
  for (std::int32_t found = 0; found < need.count; ++found) {
    std::size_t best = node.devices.size();
    for (std::size_t i = 0; i < node.devices.size(); ++i) {
      const DeviceRoom& device = node.devices[i];
      if (((taken | mask) >> i & 1) || !device_fits(device, need)) continue;
      if (best == node.devices.size() || device.free_share < node.devices[best].free_share ||
          (device.free_share == node.devices[best].free_share &&
           device.free_memory < node.devices[best].free_memory)) {
        best = i;
      }
    }
    mask |= std::uint64_t{1} << best;
  }
  return mask;
}

}  // namespace

std::uint64_t first_fit_devices(const NodeRoom& node, const Request& request) {
  std::uint64_t mask = 0;
  for (const DeviceNeed& need : request.devices) {
    mask |= need.is_whole() ? whole_devices(node, need, mask) : slice_devices(node, need, mask);
  }
  return mask;
}

}  // namespace gridfold
