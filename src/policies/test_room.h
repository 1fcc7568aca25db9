// Small nodes and requests for the tests of policies.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cluster.h"

namespace gridfold {

// A device with so much free: 1000 idle, 0 held whole, else held by slices.
inline DeviceRoom device_with(std::int32_t share, std::uint16_t model = 0) {
  DeviceRoom device;
  device.model = model;
  device.free_share = share;
  device.holders = share == 1000 ? 0 : 1;
  return device;
}

struct TestNode {
  std::int64_t cpu = 0;
  std::vector<DeviceRoom> devices;
  // What room() looks at.
  mutable std::vector<DeviceKind> kinds{};
  mutable std::vector<DeviceState> states{};

  // Valid until the next call.
  NodeRoom room() const {
    kinds.clear();
    states.clear();
    std::uint64_t usable = 0;
    for (const DeviceRoom& device : devices) {
      usable |= std::uint64_t{device.usable} << kinds.size();
      kinds.push_back({device.device_class, device.model, device.memory});
      states.push_back({device.free_memory, device.free_share, device.holders});
    }
    return {cpu, std::int64_t{1} << 40, {kinds, states, usable}, NodeId::none(), 0, nullptr};
  }
};

inline TestNode node_with(std::int64_t cpu, std::initializer_list<std::int32_t> shares) {
  TestNode node{cpu, {}};
  for (const std::int32_t share : shares) node.devices.push_back(device_with(share));
  return node;
}

// `count` devices of `share` thousandths each; count 0 asks for CPU only.
inline Request request_for(std::int64_t cpu, std::int32_t count = 0, std::int32_t share = 1000,
                           std::uint32_t id = 0) {
  Request request;
  request.id = id;
  request.cpu = cpu;
  if (count > 0) {
    DeviceNeed need;
    need.count = count;
    need.share = share;
    request.devices.push_back(need);
  }
  return request;
}

}  // namespace gridfold
