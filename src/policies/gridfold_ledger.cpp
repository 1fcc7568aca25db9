#include "policies/gridfold_ledger.h"

#include <algorithm>

#include "policies/room.h"

namespace gridfold {

void IdleLedger::refresh(const Cluster& cluster) {
  bool known = membership_ == cluster.membership() && seen_ >= cluster.forgotten_changes();
  while (known && seen_ < cluster.last_change()) {
    const NodeId node = cluster.changed(++seen_);
    known = node.is_none() || read(cluster, node);
  }
  if (!known) read_all(cluster);
  seen_ = cluster.last_change();
  membership_ = cluster.membership();
}

void IdleLedger::read_all(const Cluster& cluster) {
  measure(cluster);
  nodes_.assign(cluster.size(), {});
  models_.clear();
  by_rank_.assign(cluster.size(), NodeId::none());
  idle_share_ = 0;
  for (std::uint32_t i = 0; i < cluster.size(); ++i)
    by_rank_[cluster.name_rank(NodeId(i))] = NodeId(i);
  by_whole_.resize(static_cast<std::size_t>(most_devices_) + 1);
  for (DescendingSet& set : by_whole_) set.resize(cluster.size());
  for (std::uint32_t i = 0; i < cluster.size(); ++i) read(cluster, NodeId(i));
}

// What the nodes would be without tasks.
void IdleLedger::measure(const Cluster& cluster) {
  most_devices_ = 0;
  most_cpu_ = 0;
  capacity_share_ = 0;
  extent_ = {};
  for (std::uint32_t i = 0; i < cluster.size(); ++i) {
    std::int32_t devices = 0;
    for (const DeviceRoom& device : cluster.capacity(NodeId(i)).devices)
      devices += device.device_class == device_class_ && device.table == 0;
    if (devices == 0) continue;
    const std::int64_t cpu = cluster.record(NodeId(i)).spec.cpu.value;
    const bool more_devices = devices > most_devices_;
    if (more_devices) nodes_of_most_devices_ = 0;
    if (more_devices || (devices == most_devices_ && cpu > most_cpu_)) {
      most_devices_ = devices;
      most_cpu_ = cpu;
      largest_nodes_ = 0;
    }
    nodes_of_most_devices_ += devices == most_devices_;
    largest_nodes_ += devices == most_devices_ && cpu == most_cpu_;
    capacity_share_ += std::int64_t{devices} * 1000;
    extent_.share = std::max(extent_.share, std::int64_t{devices} * 1000);
    extent_.cpu = std::max(extent_.cpu, cpu);
  }
}

// False when the node has outgrown what read_all() has seen.
bool IdleLedger::read(const Cluster& cluster, NodeId id) {
  Node now;
  const bool usable = cluster.usable(id);
  for (const DeviceRoom& device : cluster.room(id).devices) {
    if (device.device_class != device_class_ || device.table != 0) continue;
    if (now.devices++ == 0) now.model = device.model;
    if (!usable || !device.usable) continue;
    now.share += device.free_share;
    now.whole += is_whole_free(device);
  }
  if (now.devices > most_devices_) return false;
  Node& known = nodes_[id.value];
  idle_share_ += now.share - known.share;
  count(known, -1);
  count(now, +1);
  if (now.whole != known.whole) {
    const std::uint32_t rank = cluster.name_rank(id);
    if (known.whole > 0) by_whole_[static_cast<std::size_t>(known.whole)].erase(rank);
    if (now.whole > 0) by_whole_[static_cast<std::size_t>(now.whole)].insert(rank);
  }
  known = now;
  return true;
}

void IdleLedger::count(const Node& node, int sign) {
  if (node.devices == 0) return;
  if (node.model >= models_.size()) models_.resize(node.model + 1u);
  models_[node.model].idle_share += sign * node.share;
  models_[node.model].capacity_share += sign * std::int64_t{node.devices} * 1000;
}

}  // namespace gridfold
