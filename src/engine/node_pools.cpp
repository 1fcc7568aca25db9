#include "engine/node_pools.h"

#include <algorithm>

namespace gridfold {
namespace {

constexpr Duration kFirstWait = Duration::seconds(30);

}  // namespace

void NodePools::plan(std::vector<NodePool> pools) {
  pools_ = std::move(pools);
  nodes_.clear();
  for (const NodePool& pool : pools_) {
    for (std::int32_t i = 1; i <= pool.most; ++i) {
      if (const auto node = cluster_.find(pool.node(i).name)) nodes_[pool.name].push_back(*node);
    }
  }
  changed_ = true;
}

const NodePool* NodePools::pool_of(NodeId node) const {
  const std::string& name = cluster_.record(node).pool;
  if (name.empty()) return nullptr;
  const auto pool = std::find_if(pools_.begin(), pools_.end(),
                                 [&](const NodePool& one) { return one.name == name; });
  return pool == pools_.end() ? nullptr : &*pool;
}

std::span<const NodeId> NodePools::nodes(const NodePool& pool) const {
  const auto found = nodes_.find(pool.name);
  if (found == nodes_.end()) return {};
  return found->second;
}

bool NodePools::may_boot(NodeId node, Instant now) const {
  const NodeRecord& record = cluster_.record(node);
  if (record.power != NodePower::kOff || record.drained) return false;
  const NodePool* pool = pool_of(node);
  return pool != nullptr && retry_at(*pool) <= now;
}

Instant NodePools::retry_at(const NodePool& pool) const {
  Instant failed{};
  Instant went_well{};
  std::int32_t failures = 0;
  for (const NodeId node : nodes(pool)) {
    const NodeRecord& record = cluster_.record(node);
    if (record.power == NodePower::kOn) went_well = std::max(went_well, record.power_since);
  }
  for (const NodeId node : nodes(pool)) {
    const NodeRecord& record = cluster_.record(node);
    if (record.boot_failures == 0 || record.power_since < went_well) continue;
    if (record.power == NodePower::kBooting) continue;  // it is tried again
    failed = std::max(failed, record.power_since);
    failures = std::max(failures, record.boot_failures);
  }
  if (failures == 0) return Instant{};
  Duration wait = kFirstWait;
  for (std::int32_t i = 1; i < failures && wait < longest_wait_; ++i) wait = wait + wait;
  return failed + std::min(wait, longest_wait_);
}

std::int32_t NodePools::on(const NodePool& pool) const {
  const auto members = nodes(pool);
  return static_cast<std::int32_t>(std::count_if(members.begin(), members.end(), [&](NodeId node) {
    const NodePower power = cluster_.record(node).power;
    return power == NodePower::kOn || power == NodePower::kBooting;
  }));
}

bool NodePools::is_idle(NodeId node) const {
  return cluster_.holdings(node).empty() && cluster_.claims(node).empty();
}

void NodePools::note(NodeId node, Instant now) {
  const NodePool* pool = pool_of(node);
  if (pool == nullptr) return;
  changed_ = true;
  const NodeRecord& record = cluster_.record(node);
  switch (record.power) {
    case NodePower::kOn: return left(node, now);
    case NodePower::kBooting: return watch(node, record.power_since + pool->boot_timeout);
    case NodePower::kOff:
      return watch(node, record.boot_failures > 0 ? retry_at(*pool) : Instant::never());
    case NodePower::kReleasing: return watch(node, Instant::never());
  }
}

void NodePools::left(NodeId node, Instant now) {
  const NodePool* pool = pool_of(node);
  const NodeRecord& record = cluster_.record(node);
  if (pool == nullptr || record.power != NodePower::kOn) return;
  watch(node, record.up && is_idle(node) ? now + pool->idle_timeout : Instant::never());
}

void NodePools::forget_from(std::size_t count) {
  for (std::size_t n = count; n < due_of_.size(); ++n)
    watch(NodeId(static_cast<std::uint32_t>(n)), Instant::never());
  for (auto& [pool, members] : nodes_)
    std::erase_if(members, [&](NodeId node) { return node.value >= count; });
}

void NodePools::watch(NodeId node, Instant due) {
  if (node.value >= due_of_.size()) due_of_.resize(node.value + std::size_t{1}, Instant::never());
  Instant& mine = due_of_[node.value];
  if (!mine.is_never()) due_.erase({mine, node});
  mine = due;
  if (!due.is_never()) due_.insert({due, node});
}

std::vector<NodeId> NodePools::take_due(Instant now) {
  std::vector<NodeId> nodes;
  while (next() <= now) {
    nodes.push_back(due_.begin()->second);
    watch(nodes.back(), Instant::never());
  }
  return nodes;
}

}  // namespace gridfold
