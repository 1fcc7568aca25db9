// Devices are known by their place in the node: a running task holds "device 3".
// So a device that fails to show up must not shift those behind it.
#pragma once

#include <span>
#include <vector>

#include "model/node.h"

namespace gridfold {

// `found` in the order of `before`: a device told before, by its uid, keeps its
// place; one that is not found any more stays there with `fault` set; new ones
// follow in their own order.
std::vector<DeviceSpec> keep_device_order(std::span<const DeviceSpec> before,
                                          std::span<const DeviceSpec> found);

}  // namespace gridfold
