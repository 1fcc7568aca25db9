#include "accounting/device_books.h"

#include <algorithm>

namespace gridfold {
namespace {

// In Amounts::off; -1: the device can be had.
std::int8_t off_index(const NodeRecord& node, std::size_t device) {
  const auto index = [](Part part) {
    return static_cast<std::int8_t>(static_cast<int>(part) - static_cast<int>(Part::kDrained));
  };
  if (!node.up) return index(Part::kNodeDown);
  if ((node.dirty_devices >> device & 1) != 0) return index(Part::kQuarantined);
  if (!node.spec.devices[device].fault.empty()) return index(Part::kFaulty);
  if (node.drained) return index(Part::kDrained);
  return -1;
}

// What one of `length` slots in a row is of a device with these profiles.
std::int32_t partition_share(const std::string& name, const DeviceSpec& device) {
  std::int32_t slots = 0;
  std::int32_t length = 0;
  for (const PartitionProfile& profile : device.partitions) {
    for (const std::int32_t start : profile.starts) slots = std::max(slots, start + profile.length);
    if (profile.name == name) length = profile.length;
  }
  return slots == 0 ? kWholeDevice.value : kWholeDevice.value * length / slots;
}

bool takes(const DeviceRequest& group, const DeviceSpec& device) {
  return group.device_class == device.device_class &&
         (group.models.empty() ||
          std::find(group.models.begin(), group.models.end(), device.model) != group.models.end());
}

}  // namespace

ClassIndex DeviceBooks::class_index(const std::string& device_class) {
  const auto found = std::find(classes_.begin(), classes_.end(), device_class);
  if (found != classes_.end()) return static_cast<ClassIndex>(found - classes_.begin());
  classes_.push_back(device_class);
  amounts_.emplace_back();
  return static_cast<ClassIndex>(classes_.size() - 1);
}

void DeviceBooks::count(const Device& device, int sign) {
  Amounts& amounts = amounts_[device.device_class];
  const std::int64_t rest = kWholeDevice.value - device.held;
  amounts.supplied += sign * kWholeDevice.value;
  amounts.held += sign * device.held;
  (device.off < 0 ? amounts.free : amounts.off[static_cast<std::size_t>(device.off)]) +=
      sign * rest;
}

void DeviceBooks::set_node(const NodeRecord& record) {
  if (record.id.value >= nodes_.size()) nodes_.resize(record.id.value + 1);
  Node& node = nodes_[record.id.value];
  for (const Device& device : node.devices) count(device, -1);
  node.spec = record.spec;
  // A device that is gone counts for as long as a task holds it.
  std::size_t size = node.spec.devices.size();
  for (std::size_t i = size; i < node.devices.size(); ++i) {
    if (node.devices[i].held > 0) size = i + 1;
  }
  node.devices.resize(size);
  for (std::size_t i = 0; i < node.spec.devices.size(); ++i) {
    node.devices[i].device_class = class_index(node.spec.devices[i].device_class);
    node.devices[i].off = off_index(record, i);
  }
  for (const Device& device : node.devices) count(device, +1);
}

std::int32_t DeviceBooks::wish(const DeviceRequest& group, const DeviceSpec& device) const {
  if (!group.partition.empty()) return partition_share(group.partition, device);
  if (group.share.value > 0) return static_cast<std::int32_t>(group.share.value);
  if (!device.memory.is_known() || device.memory.value().value <= 0)
    return static_cast<std::int32_t>(kWholeDevice.value);
  const auto share =
      static_cast<__int128>(group.memory.value) * kWholeDevice.value / device.memory.value().value;
  return static_cast<std::int32_t>(std::clamp<__int128>(share, 1, kWholeDevice.value));
}

DeviceBooks::Taken DeviceBooks::take(const Allocation& at, const TaskRequest& request) {
  Taken taken;
  if (at.devices == 0 || at.node.value >= nodes_.size()) return taken;
  Node& node = nodes_[at.node.value];
  std::vector<std::int32_t> left;
  for (const DeviceRequest& group : request.devices) left.push_back(group.count);
  for (std::size_t i = 0; i < node.spec.devices.size(); ++i) {
    if ((at.devices >> i & 1) == 0) continue;
    std::int32_t amount = static_cast<std::int32_t>(kWholeDevice.value);
    for (std::size_t g = 0; g < left.size(); ++g) {
      if (left[g] == 0 || !takes(request.devices[g], node.spec.devices[i])) continue;
      --left[g];
      amount = wish(request.devices[g], node.spec.devices[i]);
      break;
    }
    Device& device = node.devices[i];
    amount = std::min(amount, static_cast<std::int32_t>(kWholeDevice.value) - device.held);
    count(device, -1);
    device.held += amount;
    count(device, +1);
    taken.emplace_back(static_cast<std::uint8_t>(i), amount);
  }
  return taken;
}

void DeviceBooks::give_back(NodeId id, const Taken& taken) {
  for (const auto& [index, amount] : taken) {
    Device& device = nodes_[id.value].devices[index];
    count(device, -1);
    device.held -= amount;
    count(device, +1);
  }
}

std::vector<ClassAmount> DeviceBooks::by_class(NodeId id, const Taken& taken) const {
  std::vector<ClassAmount> amounts;
  for (const auto& [index, amount] : taken) {
    const ClassIndex device_class = nodes_[id.value].devices[index].device_class;
    const auto same = std::find_if(amounts.begin(), amounts.end(), [&](const ClassAmount& a) {
      return a.device_class == device_class;
    });
    if (same == amounts.end()) {
      amounts.push_back({device_class, amount});
    } else {
      same->thousandths += amount;
    }
  }
  return amounts;
}

std::vector<ClassAmount> demand_of(const JobSpec& spec, DeviceBooks& books) {
  std::vector<ClassAmount> demand;
  for (const Role& role : spec.roles) {
    for (const DeviceRequest& group : role.each.devices) {
      // A part of unknown size counts as one thousandth at least: it is demand.
      const std::int64_t each = std::max<std::int64_t>(group.share.value, 1);
      demand.push_back({books.class_index(group.device_class), role.count * group.count * each});
    }
  }
  return demand;
}

}  // namespace gridfold
