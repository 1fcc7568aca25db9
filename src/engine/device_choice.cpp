#include "engine/device_choice.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>

#include "base/planted.h"

namespace gridfold {
namespace {

using Groups = std::vector<DeviceMask>;

Groups groups_by(std::span<const DeviceSpec> devices, std::int32_t DeviceSpec::*number) {
  std::map<std::int32_t, DeviceMask> by_number;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].*number >= 0) by_number[devices[i].*number] |= DeviceMask{1} << i;
  }
  Groups groups;
  for (const auto& [id, mask] : by_number) groups.push_back(mask);
  return groups;
}

DeviceMask union_of(const Groups& groups) {
  DeviceMask all = 0;
  for (const DeviceMask group : groups) all |= group;
  return all;
}

// The kind of group that must hold the whole set; null: none.
const Groups* confining(DevicePlace place, const DeviceGroups& groups) {
  switch (place) {
    case DevicePlace::kSingleNuma: return &groups.numa;
    case DevicePlace::kLinked: return &groups.islands;
    case DevicePlace::kSameSwitch: return &groups.switches;
    case DevicePlace::kAny:
    case DevicePlace::kSpread: break;
  }
  return nullptr;
}

// The most that one NUMA node may give to a task that wants to be spread.
std::int32_t even_part(const SetRequest& request, const DeviceGroups& groups) {
  const auto nodes = std::count_if(groups.numa.begin(), groups.numa.end(),
                                   [&](DeviceMask group) { return (group & request.all) != 0; });
  return nodes == 0 ? 0 : static_cast<std::int32_t>((request.count + nodes - 1) / nodes);
}

// How much the NUMA nodes can give when none gives more than `part`.
std::int32_t spread_room(DeviceMask idle, std::int64_t part, const DeviceGroups& groups) {
  std::int64_t sum = 0;
  for (const DeviceMask group : groups.numa)
    sum += std::min<std::int64_t>(std::popcount(idle & group), part);
  return static_cast<std::int32_t>(sum);
}

DeviceMask lowest(DeviceMask of, std::int32_t count) {
  DeviceMask taken = 0;
  for (; count > 0; --count, of &= of - 1) taken |= of & -of;
  return taken;
}

class Chooser {
 public:
  Chooser(DeviceMask idle, const DeviceGroups& groups) : idle_(idle), groups_(groups) {}

  // The set of `count` of the candidates that touches fewest groups of the
  // first kind, then of the next, and leaves most together.
  DeviceMask pick(DeviceMask candidates, std::int32_t count,
                  std::span<const Groups* const> kinds) const {
    if (count == 0) return 0;
    if (kinds.empty() || std::popcount(candidates) == count) return lowest(candidates, count);
    DeviceMask best = 0;
    DeviceMask largest = 0;
    const auto consider = [&](DeviceMask part) {
      if (std::popcount(part) > std::popcount(largest)) largest = part;
      if (std::popcount(part) < count) return;
      const DeviceMask set = pick(part, count, kinds.subspan(1));
      if (best == 0 || left_by(set) > left_by(best)) best = set;
    };
    for (const DeviceMask group : *kinds.front()) consider(candidates & group);
    consider(candidates & ~union_of(*kinds.front()));
    if (best != 0) return best;
    // None holds them all: the largest whole, and the rest elsewhere.
    return largest | pick(candidates & ~largest, count - std::popcount(largest), kinds);
  }

  // How much together the idle devices stay without the set.
  std::int64_t left_by(DeviceMask set) const {
    std::int64_t sum = 0;
    for (const Groups* kind : {&groups_.numa, &groups_.switches, &groups_.islands}) {
      for (const DeviceMask group : *kind) {
        const std::int64_t left = std::popcount(idle_ & ~set & group);
        sum += left * left;
      }
    }
    return sum;
  }

  // Of each NUMA node its part, the fullest giving first, so that the next such
  // task finds its parts as well.
  DeviceMask pick_spread(const SetRequest& request) const {
    std::array<std::int32_t, kMaxDevicesPerNode> given{};
    const std::size_t nodes = groups_.numa.size();
    const std::int32_t part = even_part(request, groups_);
    for (std::int32_t k = 0; k < request.count; ++k) {
      std::size_t from = nodes;
      std::int32_t most = 0;
      for (std::size_t n = 0; n < nodes; ++n) {
        const std::int32_t left = std::popcount(idle_ & groups_.numa[n]) - given[n];
        if (given[n] < part && left > most) {
          from = n;
          most = left;
        }
      }
      assert(from < nodes);
      ++given[from];
    }
    const std::array<const Groups*, 2> kinds = {&groups_.islands, &groups_.switches};
    DeviceMask set = 0;
    for (std::size_t n = 0; n < nodes; ++n) set |= pick(idle_ & groups_.numa[n], given[n], kinds);
    return set;
  }

 private:
  DeviceMask idle_;
  const DeviceGroups& groups_;
};

}  // namespace

DeviceGroups groups_of(std::span<const DeviceSpec> devices) {
  return {groups_by(devices, &DeviceSpec::numa), groups_by(devices, &DeviceSpec::pcie_switch),
          groups_by(devices, &DeviceSpec::island)};
}

bool is_legal_set(DeviceMask set, const SetRequest& request, const DeviceGroups& groups) {
  if (std::popcount(set) <= 1 || request.place == DevicePlace::kAny) return true;
  if (const Groups* kind = confining(request.place, groups)) {
    return std::any_of(kind->begin(), kind->end(),
                       [&](DeviceMask group) { return (set & ~group) == 0; });
  }
  return spread_room(set, even_part(request, groups), groups) == std::popcount(set);
}

std::int32_t most_of(DeviceMask idle, const SetRequest& request, const DeviceGroups& groups) {
  if (request.place == DevicePlace::kAny || request.count == 1) return std::popcount(idle);
  std::int32_t most = std::min(std::popcount(idle), 1);
  if (const Groups* kind = confining(request.place, groups)) {
    for (const DeviceMask group : *kind) most = std::max(most, std::popcount(idle & group));
    return most;
  }
  return std::max(most, spread_room(idle, even_part(request, groups), groups));
}

std::int32_t sets_of(DeviceMask idle, const SetRequest& request, const DeviceGroups& groups) {
  const std::int32_t count = std::max(request.count, 1);
  if (request.place == DevicePlace::kAny || count == 1) return std::popcount(idle) / count;
  std::int32_t sets = 0;
  if (const Groups* kind = confining(request.place, groups)) {
    for (const DeviceMask group : *kind) sets += std::popcount(idle & group) / count;
    return sets;
  }
  // Dealt out in turn, k times the part suffices for k tasks: each gets no more
  // of a NUMA node than its k-th of what that gives, rounded up.
  const std::int64_t part = even_part(request, groups);
  while (spread_room(idle, part * (sets + 1), groups) >= std::int64_t{count} * (sets + 1)) ++sets;
  return sets;
}

DeviceMask choose_set(DeviceMask idle, const SetRequest& request, const DeviceGroups& groups) {
  const Chooser chooser(idle, groups);
  if (request.count > 1 && request.place == DevicePlace::kSpread)
    return chooser.pick_spread(request);
  std::array<const Groups*, 3> kinds = {&groups.islands, &groups.numa, &groups.switches};
  DeviceMask candidates = idle;
  if (const Groups* confined = confining(request.place, groups)) {
    // To the front, the others behind it in their order.
    const auto at = std::find(kinds.begin(), kinds.end(), confined);
    std::rotate(kinds.begin(), at, at + 1);
    if (request.count > 1) candidates &= union_of(*confined);
  }
  return chooser.pick(candidates, request.count, kinds);
}

DeviceOrder order_of_taking(DeviceMask idle, const DeviceGroups& groups) {
  if (!groups.known()) {
    DeviceOrder by_number;
    for (DeviceMask rest = idle; rest != 0; rest &= rest - 1)
      by_number.append(static_cast<std::uint8_t>(std::countr_zero(rest)));
    return by_number;
  }
  const Chooser chooser(idle, groups);
  std::array<std::int64_t, kMaxDevicesPerNode> left{};
  std::array<std::uint8_t, kMaxDevicesPerNode> devices{};
  std::size_t count = 0;
  for (DeviceMask rest = idle; rest != 0; rest &= rest - 1) {
    devices[count] = static_cast<std::uint8_t>(std::countr_zero(rest));
    left[devices[count++]] = chooser.left_by(rest & -rest);
  }
  std::sort(devices.begin(), devices.begin() + count, [&](std::uint8_t a, std::uint8_t b) {
    return left[a] != left[b] ? left[a] > left[b] : a < b;
  });
  DeviceOrder order;
  for (std::size_t i = 0; i < count; ++i) order.append(devices[i]);
  return order;
}

PartitionKind PartitionTable::kind_named(std::uint16_t name) const {
  const auto it = std::find_if(kinds.begin(), kinds.end(),
                               [&](const PartitionKind& kind) { return kind.name == name; });
  return it == kinds.end() ? PartitionKind{} : *it;
}

SlotMask legal_starts(const PartitionKind& kind, SlotMask free) {
  SlotMask legal = 0;
  const bool anywhere = GRIDFOLD_PLANTED_BUG(any_start_is_legal) && kind.length <= 8;
  for (SlotMask left = anywhere ? 0xFFu >> (kind.length - 1) : kind.starts; left != 0;
       left &= left - 1) {
    const SlotMask slots = slots_at(kind, std::countr_zero(left));
    if ((slots & ~free) == 0) legal |= left & -left;
  }
  return legal;
}

// Intervals of one length: the one that ends first is always part of a largest
// set of disjoint ones.
std::int32_t partitions_of(const PartitionKind& kind, SlotMask free) {
  std::int32_t count = 0;
  while (const SlotMask legal = legal_starts(kind, free)) {
    free &= ~slots_at(kind, std::countr_zero(legal));
    ++count;
  }
  return count;
}

std::int64_t usefulness(const PartitionTable& table, SlotMask free) {
  std::int64_t sum = 0;
  for (const PartitionKind& kind : table.kinds)
    sum += std::int64_t{kind.slices} * partitions_of(kind, free);
  return sum;
}

std::int32_t longest_run(const PartitionKind& kind, SlotMask free) {
  std::int32_t most = 0;
  for (SlotMask left = kind.starts; left != 0; left &= left - 1) {
    const auto run = static_cast<std::int32_t>(std::countr_one(free >> std::countr_zero(left)));
    most = std::max(most, std::min(run, kind.length));
  }
  return most;
}

StartChoice choose_start(const PartitionTable& table, const PartitionKind& kind, SlotMask free) {
  StartChoice best;
  std::int32_t best_alike = -1;
  const std::int64_t before = usefulness(table, free);
  for (SlotMask left = legal_starts(kind, free); left != 0; left &= left - 1) {
    const std::int32_t start = std::countr_zero(left);
    const SlotMask after = free & ~slots_at(kind, start);
    const std::int32_t alike = partitions_of(kind, after);
    const std::int64_t lost = before - usefulness(table, after);
    if (alike < best_alike || (alike == best_alike && lost >= best.lost)) continue;
    best = {start, lost};
    best_alike = alike;
  }
  return best;
}

}  // namespace gridfold
