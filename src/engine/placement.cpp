#include "engine/placement.h"

#include "engine/device_fit.h"

namespace gridfold {
namespace {

// The first ones, where nothing is known of their places.
DeviceMask first_devices(const NodeRoom& node, const DeviceNeed& need, DeviceMask taken) {
  DeviceMask mask = 0;
  std::int32_t found = 0;
  for (std::size_t i = 0; i < node.devices.size() && found < need.count; ++i) {
    if ((taken >> i & 1) || !device_fits(node.devices[i], need)) continue;
    mask |= DeviceMask{1} << i;
    ++found;
  }
  return mask;
}

}  // namespace

std::uint64_t first_fit_devices(const NodeRoom& node, const Request& request) {
  DeviceMask mask = 0;
  for (const DeviceNeed& need : request.devices) {
    mask |= need.is_whole() && !is_choice_ruled(node, need) ? first_devices(node, need, mask)
                                                            : choose_devices(node, need, mask);
  }
  return mask;
}

}  // namespace gridfold
