#include "topology/device_paths.h"

#include <algorithm>

#include "topology/pci_address.h"

namespace gridfold {
namespace {

// What two parts make together is known when both are.
template <class T, class Join>
Known<T> join(const Known<T>& a, const Known<T>& b, Join joined) {
  if (!a.is_known() || !b.is_known()) return Unknown{};
  return joined(a.value(), b.value());
}

// The path is kUnknown until the first link is added.
void add_link(DevicePath& path, const MachineLink& link) {
  if (path.kind == PathKind::kUnknown) {
    path = {PathKind::kNvlink, link.count, link.bandwidth};
    return;
  }
  const auto sum = [](auto a, auto b) { return a + b; };
  path.links = join(path.links, link.count, sum);
  path.bandwidth = join(path.bandwidth, link.bandwidth, sum);
}

}  // namespace

DevicePaths::DevicePaths(const MachineTopology& topology)
    : topology_(topology),
      on_fabric_(topology.devices.size()),
      to_fabric_(topology.devices.size()) {
  const auto is_switch = [&](std::int32_t device) {
    return topology.devices[static_cast<std::size_t>(device)].kind == MachineDeviceKind::kNvSwitch;
  };
  for (const auto& link : topology.links) {
    if (link.b < 0) continue;
    add_link(direct_[std::minmax(link.a, link.b)], link);
    if (is_switch(link.a) == is_switch(link.b)) continue;
    const auto device = static_cast<std::size_t>(is_switch(link.a) ? link.b : link.a);
    on_fabric_[device] = true;
    add_link(to_fabric_[device], link);
  }
}

DevicePath DevicePaths::between(std::size_t a, std::size_t b) const {
  if (a == b) return {PathKind::kSelf, {}, {}};
  if (!topology_.told_paths.empty()) return topology_.told_paths[a * topology_.devices.size() + b];
  const DevicePath linked = by_link(a, b);
  if (linked.kind != PathKind::kUnknown) return linked;
  return by_pcie(topology_.devices[a], topology_.devices[b]);
}

DevicePath DevicePaths::by_link(std::size_t a, std::size_t b) const {
  const auto found =
      direct_.find(std::minmax(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
  if (found != direct_.end()) return found->second;
  if (!on_fabric_[a] || !on_fabric_[b]) return {};
  // Through the switches as fast as the end with fewer links.
  const auto least = [](auto x, auto y) { return std::min(x, y); };
  return {PathKind::kNvlink, join(to_fabric_[a].links, to_fabric_[b].links, least),
          join(to_fabric_[a].bandwidth, to_fabric_[b].bandwidth, least)};
}

DevicePath DevicePaths::by_pcie(const MachineDevice& a, const MachineDevice& b) const {
  const auto known_and_equal = [](const auto& x, const auto& y) { return x.is_known() && x == y; };
  const auto as = [](PathKind kind) { return DevicePath{kind, {}, {}}; };
  if (!a.pci_address.empty() && !b.pci_address.empty() &&
      pci_slot(a.pci_address) == pci_slot(b.pci_address))
    return as(PathKind::kPix);  // two functions of one device
  if (a.pcie_switch.is_known() && b.pcie_switch.is_known()) {
    if (a.pcie_switch == b.pcie_switch) return as(PathKind::kPix);
    if (share_a_switch(a.pcie_switch.value(), b.pcie_switch.value())) return as(PathKind::kPxb);
  }
  if (known_and_equal(a.host_bridge, b.host_bridge)) return as(PathKind::kPhb);
  if (known_and_equal(a.numa, b.numa)) return as(PathKind::kNode);
  if (a.numa.is_known() && b.numa.is_known()) return as(PathKind::kSys);
  return {};
}

bool DevicePaths::share_a_switch(std::int32_t a, std::int32_t b) const {
  const auto top = [&](std::int32_t at) {
    while (topology_.switches[static_cast<std::size_t>(at)].parent >= 0)
      at = topology_.switches[static_cast<std::size_t>(at)].parent;
    return at;
  };
  return top(a) == top(b);
}

}  // namespace gridfold
