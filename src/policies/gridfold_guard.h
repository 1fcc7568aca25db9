// A hedge against a mix that turns: while much of the cluster is idle, small
// tasks open an untouched largest node only when that pays. Nobody may have
// asked for a whole node so far; those who will cannot be placed on a cluster
// where every node holds a little, and no plan can mend that once they come.
#pragma once

#include <cstdint>

#include "engine/cluster.h"
#include "policies/gridfold_ledger.h"

namespace gridfold {

class LargeNodeGuard {
 public:
  // True when it is raised, lowered, or guards other nodes than before.
  bool update(const IdleLedger& ledger);

  bool is_raised() const { return raised_; }

  // Whether the node is one of those whose price is higher, once they are untouched.
  bool is_rarest(const Cluster& cluster, NodeId node) const {
    return raised_ && rare_cpu_ && cluster.record(node).spec.cpu.value >= most_cpu_;
  }

  // In units of score, for a task of at most one device on this node.
  // `untouched`: of the node's devices, those that are idle.
  std::int64_t price(const Cluster& cluster, NodeId node, std::int32_t untouched) const {
    if (!raised_ || node.is_none() || untouched < most_devices_) return 0;
    return is_rarest(cluster, node) ? kPriceOfRarest : kPrice;
  }

 private:
  static constexpr std::int64_t kPrice = 1;
  // Largest in CPU as well, and few of the largest nodes are.
  static constexpr std::int64_t kPriceOfRarest = 3;

  bool raised_ = false;
  std::int32_t most_devices_ = 0;
  std::int64_t most_cpu_ = 0;
  bool rare_cpu_ = false;
};

}  // namespace gridfold
