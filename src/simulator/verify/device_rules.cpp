#include "simulator/verify/device_rules.h"

#include <algorithm>
#include <map>

namespace gridfold::verify {
namespace {

// Which number must be the same (or, for a spread, differ).
std::int32_t number_of(const DeviceSpec& device, DevicePlace place) {
  switch (place) {
    case DevicePlace::kLinked: return device.island;
    case DevicePlace::kSameSwitch: return device.pcie_switch;
    default: return device.numa;
  }
}

// Devices of the set by that number; the unknown ones under -1.
std::map<std::int32_t, std::int64_t> counted(const NodeSpec& node, std::uint64_t set,
                                             DevicePlace place) {
  std::map<std::int32_t, std::int64_t> by_number;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    if (set >> i & 1) ++by_number[number_of(node.devices[i], place)];
  }
  return by_number;
}

// The most that one NUMA node may give to a task that is spread.
std::int64_t even_part(const NodeSpec& node, const DeviceRequest& group) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < node.devices.size(); ++i)
    all |= std::uint64_t{suits(group, node.devices[i])} << i;
  auto by_numa = counted(node, all, DevicePlace::kSpread);
  by_numa.erase(-1);
  const auto nodes = static_cast<std::int64_t>(by_numa.size());
  return nodes == 0 ? 0 : (group.count + nodes - 1) / nodes;
}

}  // namespace

bool suits(const DeviceRequest& group, const DeviceSpec& device) {
  if (device.device_class != group.device_class) return false;
  const auto& models = group.models;
  if (!models.empty() && std::find(models.begin(), models.end(), device.model) == models.end())
    return false;
  if (!group.partition.empty()) return profile_named(device, group.partition) != nullptr;
  if (!device.partitions.empty()) return false;
  return !group.is_whole() || group.memory.value == 0 ||
         (device.memory.is_known() && device.memory.value() >= group.memory);
}

bool lies_as_wished(const NodeSpec& node, const DeviceRequest& group, std::uint64_t set) {
  if (group.place == DevicePlace::kAny || group.count == 1) return true;
  const auto by_number = counted(node, set, group.place);
  if (by_number.contains(-1)) return false;
  if (group.place != DevicePlace::kSpread) return by_number.size() <= 1;
  const std::int64_t most = even_part(node, group);
  return std::all_of(by_number.begin(), by_number.end(),
                     [&](const auto& of) { return of.second <= most; });
}

std::int64_t most_for_one(const NodeSpec& node, const DeviceRequest& group, std::uint64_t idle) {
  std::int64_t together = 0;
  std::int64_t spread = 0;
  std::int64_t all = 0;
  for (const auto& [number, count] : counted(node, idle, group.place)) {
    all += count;
    if (number < 0) continue;
    together = std::max(together, count);
    spread += std::min(count, even_part(node, group));
  }
  if (group.place == DevicePlace::kAny || group.count == 1) return all;
  const std::int64_t most = group.place == DevicePlace::kSpread ? spread : together;
  return std::max<std::int64_t>(most, all > 0);
}

std::int64_t tasks_at_once(const NodeSpec& node, const DeviceRequest& group, std::uint64_t idle) {
  std::int64_t all = 0;
  std::int64_t together = 0;
  auto by_number = counted(node, idle, group.place);
  for (const auto& [number, count] : by_number) {
    all += count;
    if (number >= 0) together += count / group.count;
  }
  if (group.place == DevicePlace::kAny || group.count == 1) return all / group.count;
  if (group.place != DevicePlace::kSpread) return together;
  // Each NUMA node gives at most its part to each of the tasks.
  by_number.erase(-1);
  const std::int64_t part = even_part(node, group);
  std::int64_t tasks = all / group.count;
  for (; tasks > 0; --tasks) {
    std::int64_t given = 0;
    for (const auto& [number, count] : by_number) given += std::min(count, part * tasks);
    if (given >= tasks * group.count) break;
  }
  return tasks;
}

const PartitionProfile* profile_named(const DeviceSpec& device, std::string_view name) {
  for (const PartitionProfile& profile : device.partitions) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

bool may_begin(const PartitionProfile& profile, std::int32_t start) {
  return std::find(profile.starts.begin(), profile.starts.end(), start) != profile.starts.end();
}

std::uint32_t slots_taken(const PartitionProfile& profile, std::int32_t start) {
  std::uint32_t slots = 0;
  for (std::int32_t slot = start; slot < start + profile.length; ++slot)
    slots |= std::uint32_t{1} << slot;
  return slots;
}

std::int64_t partitions_at_once(const PartitionProfile& profile, std::uint32_t free) {
  std::int64_t most = 0;
  for (const std::int32_t start : profile.starts) {
    const std::uint32_t slots = slots_taken(profile, start);
    if ((slots & ~free) != 0) continue;
    // What lies behind it; what lies before was tried with an earlier start.
    const std::uint32_t behind = free & ~(slots | (slots - 1));
    most = std::max(most, 1 + partitions_at_once(profile, behind));
  }
  return most;
}

std::int64_t longest_run(const PartitionProfile& profile, std::uint32_t free) {
  std::int64_t most = 0;
  for (const std::int32_t start : profile.starts) {
    std::int64_t run = 0;
    while (run < profile.length && (free >> (start + run) & 1) != 0) ++run;
    most = std::max(most, run);
  }
  return most;
}

}  // namespace gridfold::verify
