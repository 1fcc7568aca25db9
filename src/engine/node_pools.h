// Which nodes a backend can boot, and when something is due of each: a boot that
// has taken too long, a node that has had no work for long enough, a pool that
// may try again after a boot has failed.
//
//   pools.plan(list);                  // their nodes are in the cluster already
//   pools.note(node, now);             // its record or what it holds has changed
//   for (NodeId node : pools.take_due(now)) …
//
// Derived state: the records tell who is on, off or booting. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "engine/cluster.h"
#include "model/node_pool.h"

namespace gridfold {

class NodePools {
 public:
  // The cluster outlives it. After a failed boot a pool waits so long at most.
  NodePools(const Cluster& cluster, Duration longest_wait)
      : cluster_(cluster), longest_wait_(longest_wait) {}

  void plan(std::vector<NodePool> pools);
  const std::vector<NodePool>& planned() const { return pools_; }
  bool empty() const { return pools_.empty(); }
  // Null: it belongs to none, or to one that is no more.
  const NodePool* pool_of(NodeId node) const;
  // In the order of their numbers.
  std::span<const NodeId> nodes(const NodePool& pool) const;

  // Whether it is off and may be booted now.
  bool may_boot(NodeId node, Instant now) const;
  // When the pool may boot again; in the past: now. The wait doubles with each
  // failure of the node that has failed most often since the last boot that went
  // well.
  Instant retry_at(const NodePool& pool) const;
  // So many are on or will be.
  std::int32_t on(const NodePool& pool) const;

  // To be told of each change of a node's record,
  void note(NodeId node, Instant now);
  // and when it has less to do.
  void left(NodeId node, Instant now);
  // Nodes that are no more.
  void forget_from(std::size_t count);
  // Looked at again then.
  void watch(NodeId node, Instant due);
  Instant next() const { return due_.empty() ? Instant::never() : due_.begin()->first; }
  // Those that are due by now; they are not watched any more.
  std::vector<NodeId> take_due(Instant now);
  bool is_idle(NodeId node) const;
  // Whether anything was noted since it was asked last.
  bool take_changed() { return std::exchange(changed_, false); }

 private:
  const Cluster& cluster_;
  Duration longest_wait_;
  std::vector<NodePool> pools_;
  std::map<std::string, std::vector<NodeId>> nodes_;  // by pool
  std::vector<Instant> due_of_;                       // by node
  std::set<std::pair<Instant, NodeId>> due_;
  bool changed_ = false;
};

}  // namespace gridfold
