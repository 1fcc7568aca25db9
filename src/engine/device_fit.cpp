#include "engine/device_fit.h"

#include <cassert>
#include <limits>

#include "base/planted.h"

namespace gridfold {
namespace {

// The device on which the partition costs least of what is left.
DeviceMask choose_partition_device(const NodeRoom& node, const DeviceNeed& need, DeviceMask open) {
  DeviceMask best = 0;
  std::int64_t best_lost = 0;
  for (; open != 0; open &= open - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(open));
    const DeviceRoom device = node.devices[i];
    const PartitionTable& table = *node.layout->tables[i];
    const StartChoice choice = choose_start(table, need.kinds[device.table], device.free_slots);
    if (best != 0 && choice.lost >= best_lost) continue;
    best = open & -open;
    best_lost = choice.lost;
  }
  return best;
}

// The fullest of them: least share left, then least memory.
DeviceMask fullest(const NodeRoom& node, const DeviceOrder& devices) {
  std::size_t best = devices.front();
  for (const std::size_t i : devices) {
    const DeviceRoom device = node.devices[i];
    const DeviceRoom before = node.devices[best];
    if (device.free_share < before.free_share ||
        (device.free_share == before.free_share && device.free_memory < before.free_memory))
      best = i;
  }
  return DeviceMask{1} << best;
}

StartChoice partition_choice(const NodeRoom& node, const Request& request, DeviceMask devices) {
  for (const DeviceNeed& need : request.devices) {
    if (need.partition == 0) continue;
    for (DeviceMask left = devices; left != 0; left &= left - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(left));
      const DeviceRoom device = node.devices[i];
      if (!device_fits(device, need)) continue;
      return choose_start(*node.layout->tables[i], need.kinds[device.table], device.free_slots);
    }
    assert(false && "the devices were not chosen for this request");
  }
  return {};
}

}  // namespace

DeviceMask open_devices(const NodeRoom& node, const DeviceNeed& need) {
  DeviceMask open = 0;
  for (std::size_t i = 0; i < node.devices.size(); ++i)
    open |= DeviceMask{device_fits(node.devices[i], need)} << i;
  return open;
}

SetRequest set_request(const NodeRoom& node, const DeviceNeed& need) {
  SetRequest request{need.count, need.place, 0};
  if (GRIDFOLD_PLANTED_BUG(numa_wish_ignored)) request.place = DevicePlace::kAny;
  if (need.place != DevicePlace::kSpread) return request;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const DeviceRoom device = node.devices[i];
    const bool would_do = device.device_class == need.device_class && device.table == 0 &&
                          need.accepts(device.model) &&
                          (need.memory == 0 || device.memory >= need.memory);
    request.all |= DeviceMask{would_do} << i;
  }
  return request;
}

const DeviceGroups& groups_of(const NodeRoom& node) {
  static const DeviceGroups kNothing;
  return node.layout == nullptr ? kNothing : node.layout->groups;
}

std::int32_t most_of(const NodeRoom& node, const DeviceNeed& need) {
  return most_of(open_devices(node, need), set_request(node, need), groups_of(node));
}

std::int64_t slots_of(const NodeRoom& node, const DeviceNeed& need) {
  if (need.is_whole())
    return sets_of(open_devices(node, need), set_request(node, need), groups_of(node));
  std::int64_t units = 0;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const DeviceRoom device = node.devices[i];
    if (!device_fits(device, need)) continue;
    std::int64_t n = std::numeric_limits<std::int32_t>::max();
    if (need.partition != 0) n = partitions_of(need.kinds[device.table], device.free_slots);
    if (need.share > 0) n = std::min<std::int64_t>(n, device.free_share / need.share);
    if (need.memory > 0) n = std::min(n, device.free_memory / need.memory);
    units += n;
  }
  return units / std::max(need.count, 1);
}

DeviceMask choose_devices(const NodeRoom& node, const DeviceNeed& need, DeviceMask taken) {
  const DeviceMask open = open_devices(node, need) & ~taken;
  if (need.is_whole()) return choose_set(open, set_request(node, need), groups_of(node));
  if (need.partition != 0) return choose_partition_device(node, need, open);
  DeviceMask chosen = 0;
  for (std::int32_t unit = 0; unit < need.count; ++unit)
    chosen |= fullest(node, order_of_devices(node, need, taken | chosen));
  return chosen;
}

DeviceOrder order_of_devices(const NodeRoom& node, const DeviceNeed& need, DeviceMask taken) {
  const DeviceMask open = open_devices(node, need) & ~taken;
  const DeviceGroups& groups = groups_of(node);
  if (!groups.known()) return order_of_taking(open, groups);
  DeviceMask idle = 0;
  for (std::size_t i = 0; i < node.devices.size(); ++i)
    idle |= DeviceMask{node.devices[i].holders == 0} << i;
  DeviceOrder order = order_of_taking(open & ~idle, {});
  order.append(order_of_taking(open & idle, groups));
  return order;
}

std::int32_t choose_start(const NodeRoom& node, const Request& request, DeviceMask devices) {
  return partition_choice(node, request, devices).start;
}

std::int64_t partition_loss(const NodeRoom& node, const Request& request, DeviceMask devices) {
  if (node.layout == nullptr) return 0;  // nothing is split
  return partition_choice(node, request, devices).lost;
}

}  // namespace gridfold
