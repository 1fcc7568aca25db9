#include "engine/slot_need.h"

#include <algorithm>

#include "engine/device_fit.h"

namespace gridfold {
namespace {

// Of any so many free devices, one task surely finds its set: the adversary
// leaves free what helps least.
std::int32_t least_free(const DeviceNeed& need, const DeviceGroups& groups, DeviceMask all) {
  const std::vector<DeviceMask>* parts = nullptr;
  switch (need.place) {
    case DevicePlace::kAny: return need.count;
    case DevicePlace::kSingleNuma:
    case DevicePlace::kSpread: parts = &groups.numa; break;
    case DevicePlace::kLinked: parts = &groups.islands; break;
    case DevicePlace::kSameSwitch: parts = &groups.switches; break;
  }
  if (need.count <= 1) return need.count;
  std::vector<std::int32_t> sizes;
  DeviceMask placed = 0;
  for (const DeviceMask part : *parts) {
    if ((part & all) != 0) sizes.push_back(std::popcount(part & all));
    placed |= part & all;
  }
  const std::int32_t nowhere = std::popcount(all & ~placed);  // never of use
  if (need.place != DevicePlace::kSpread) {
    std::int32_t useless = nowhere;
    bool any = false;
    for (const std::int32_t size : sizes) {
      useless += std::min(size, need.count - 1);
      any |= size >= need.count;
    }
    return any ? useless + 1 : SlotNeed::kMostSlots;
  }
  if (sizes.empty()) return SlotNeed::kMostSlots;
  const auto ways = static_cast<std::int32_t>(sizes.size());
  const std::int32_t most = (need.count + ways - 1) / ways;  // of one part
  std::sort(sizes.rbegin(), sizes.rend());
  std::int32_t free = nowhere;
  std::int32_t found = 0;
  for (const std::int32_t size : sizes) {
    const std::int32_t useful = std::min(size, most);
    if (found + useful >= need.count) return free + size - useful + need.count - found;
    found += useful;
    free += size;
  }
  return SlotNeed::kMostSlots;
}

}  // namespace

NodeMake make_of(const NodeRoom& empty) {
  NodeMake make;
  for (const DeviceKind& kind : empty.devices.kinds()) {
    const auto known = std::find(make.kinds.begin(), make.kinds.end(), kind);
    auto index = static_cast<std::size_t>(known - make.kinds.begin());
    if (known == make.kinds.end() && index < kMaxDeviceKinds) make.kinds.push_back(kind);
    make.kind_of.push_back(index < kMaxDeviceKinds ? static_cast<std::uint8_t>(index)
                                                   : NodeMake::kUncounted);
  }
  return make;
}

FreeAmount capacity_of(const NodeMake& make, const NodeRoom& empty) {
  FreeAmount amount;
  amount.cpu = empty.cpu;
  amount.memory = empty.memory;
  for (std::size_t i = 0; i < empty.devices.size(); ++i) {
    if (empty.devices[i].usable && make.kind_of[i] != NodeMake::kUncounted)
      ++amount.devices[make.kind_of[i]];
  }
  return amount;
}

SlotNeed::SlotNeed(const Request& request, const NodeMake& make, const NodeRoom& empty)
    : cpu_(request.cpu), memory_(request.memory) {
  std::uint8_t used = 0;
  for (const DeviceNeed& need : request.devices) {
    if (need.count <= 0) continue;
    Group group;
    group.count = need.count;
    DeviceMask all = 0;
    for (std::size_t i = 0; i < empty.devices.size(); ++i) {
      DeviceRoom device = empty.devices[i];
      device.usable = true;
      if (make.kind_of[i] == NodeMake::kUncounted || !device_fits(device, need)) continue;
      group.kinds |= static_cast<std::uint8_t>(1u << make.kind_of[i]);
      all |= DeviceMask{1} << i;
    }
    group.least = least_free(need, groups_of(empty), all);
    group.all = std::popcount(all);
    group.of_all = sets_of(all, {need.count, need.place, all}, groups_of(empty));
    shares_kinds_ |= (used & group.kinds) != 0;
    used |= group.kinds;
    groups_.push_back(group);
  }
}

std::int32_t SlotNeed::free_of(const Group& group, const FreeAmount& free) const {
  std::int32_t sum = 0;
  for (std::uint8_t kinds = group.kinds; kinds != 0; kinds &= static_cast<std::uint8_t>(kinds - 1))
    sum +=
        std::max<std::int32_t>(free.devices[static_cast<std::size_t>(std::countr_zero(kinds))], 0);
  return sum;
}

std::int32_t SlotNeed::slots(const FreeAmount& free) const {
  std::int64_t most = kMostSlots;
  if (cpu_ > 0) most = std::min(most, free.cpu < cpu_ ? 0 : free.cpu / cpu_);
  if (memory_ > 0) most = std::min(most, free.memory < memory_ ? 0 : free.memory / memory_);
  if (most == 0) return 0;
  if (shares_kinds_) {
    // Tasks are taken one after the other, as taken() does.
    std::int32_t tasks = 0;
    FreeAmount left = free;
    while (tasks < most) {
      for (const Group& group : groups_) {
        if (free_of(group, left) < group.least) return tasks;
        std::int32_t wanted = group.count;
        while (wanted > 0) {
          std::size_t best = kMaxDeviceKinds;
          for (std::size_t k = 0; k < kMaxDeviceKinds; ++k) {
            if ((group.kinds >> k & 1) == 0) continue;
            if (best == kMaxDeviceKinds || left.devices[k] > left.devices[best]) best = k;
          }
          --left.devices[best];
          --wanted;
        }
      }
      ++tasks;
    }
    return tasks;
  }
  for (const Group& group : groups_) {
    const std::int32_t there = free_of(group, free);
    const std::int32_t surely = there == group.all     ? group.of_all
                                : there >= group.least ? 1 + (there - group.least) / group.count
                                                       : 0;
    most = std::min<std::int64_t>(most, surely);
  }
  return static_cast<std::int32_t>(most);
}

FreeAmount SlotNeed::taken(std::int32_t tasks, const FreeAmount& free) const {
  FreeAmount amount;
  amount.cpu = tasks * cpu_;
  amount.memory = tasks * memory_;
  for (std::int32_t task = 0; task < tasks; ++task) {
    for (const Group& group : groups_) {
      for (std::int32_t device = 0; device < group.count; ++device) {
        std::size_t best = kMaxDeviceKinds;
        std::int32_t most = INT32_MIN;
        for (std::size_t k = 0; k < kMaxDeviceKinds; ++k) {
          const std::int32_t left = free.devices[k] - amount.devices[k];
          if ((group.kinds >> k & 1) == 0 || left <= most) continue;
          most = left;
          best = k;
        }
        if (best != kMaxDeviceKinds) ++amount.devices[best];
      }
    }
  }
  return amount;
}

std::int64_t SlotNeed::left_over(std::int32_t tasks, const FreeAmount& free) const {
  if (groups_.empty()) return free.cpu - tasks * cpu_;
  std::int64_t left = 0;
  for (const Group& group : groups_)
    left += free_of(group, free) - std::int64_t{tasks} * group.count;
  return left;
}

}  // namespace gridfold
