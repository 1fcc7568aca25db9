#include "devices/device_order.h"

#include <set>

namespace gridfold {

std::vector<DeviceSpec> keep_device_order(std::span<const DeviceSpec> before,
                                          std::span<const DeviceSpec> found) {
  std::map<std::string_view, const DeviceSpec*> by_uid;
  for (const auto& device : found) by_uid.emplace(device.uid, &device);
  std::vector<DeviceSpec> out;
  std::set<std::string_view> placed;
  for (const auto& device : before) {
    const auto now = by_uid.find(device.uid);
    if (now != by_uid.end()) {
      out.push_back(*now->second);
      placed.insert(device.uid);
    } else {
      out.push_back(device);
      out.back().fault = "was not found any more";
    }
  }
  for (const auto& device : found) {
    if (!placed.contains(device.uid)) out.push_back(device);
  }
  return out;
}

}  // namespace gridfold
