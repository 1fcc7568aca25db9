// Sums over a node's devices that several policies use.
#pragma once

#include <cstdint>

#include "engine/cluster.h"

namespace gridfold {

// Thousandths of devices that tasks can still take, over all devices.
inline std::int64_t free_share(const NodeRoom& node) {
  std::int64_t sum = 0;
  for (const DeviceRoom& device : node.devices) {
    if (device.usable) sum += device.free_share;
  }
  return sum;
}

// Thousandths of devices that one task takes.
inline std::int64_t asked_share(const Request& request) {
  std::int64_t sum = 0;
  for (const DeviceNeed& need : request.devices)
    sum += static_cast<std::int64_t>(need.count) * need.share;
  return sum;
}

inline bool is_whole_free(const DeviceRoom& device) {
  return device.usable && device.table == 0 && device.holders == 0 && device.free_share == 1000;
}

// Quotient rounded up, for a positive divisor.
constexpr std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return value >= 0 ? (value + divisor - 1) / divisor : -(-value / divisor);
}

}  // namespace gridfold
