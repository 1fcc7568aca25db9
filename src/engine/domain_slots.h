// How many tasks of a request fit beneath each domain of the cluster's tree,
// kept up by need as the score rows are: a change of one node costs its depth.
// Beside the counts lie the policy's choices for the nodes that were asked
// about, valid while a node's room stays as it was.
//
//   const DomainSlots::Row& row = slots.row(request);
//   row.slots[rack.value]                     // tasks that fit in the rack now
//   slots.best_score(request, rack)           // of its best node
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/cluster.h"
#include "engine/domain_shelf.h"
#include "engine/placement.h"
#include "topology/domain_tree.h"

namespace gridfold {

class DomainSlots {
 public:
  static constexpr std::int64_t kNoScore = INT64_MIN;

  DomainSlots(const Cluster& cluster, const PlacementPolicy& policy)
      : cluster_(cluster), policy_(policy) {}

  // Of the nodes as they are now. A change of nodes or of their paths makes a
  // new tree and forgets all rows.
  const DomainTree& tree();

  // Where a gang may be placed as a whole, nearest first: the domains of the
  // level, then those that hold them, and so on to the grid. Without a level:
  // the domains that hold nodes only, then those one step wider.
  using Rings = std::vector<std::vector<DomainId>>;
  const Rings& rings(const std::string& level);

  struct Row {
    std::vector<std::int64_t> slots;  // by domain; see slots() in cluster.h
    std::int32_t feasible_nodes = 0;

   private:
    friend class DomainSlots;
    struct Kept {
      std::uint64_t version = 0;  // of the node's room; 0: nothing is kept
      Choice choice;
    };
    std::vector<Kept> kept;                  // by node
    std::vector<std::int64_t> best;          // by domain: score of its best node
    std::vector<std::uint8_t> best_unknown;  // by domain; then also for all above
    std::uint64_t position = 0;              // the last change of the cluster that is in it
    std::uint64_t epoch = 0;
    // The state (its serial, from 1) of the node that was counted last.
    std::uint64_t counted_state = 0;
    std::int64_t counted = 0;
    // The nearest ring that was asked for last.
    DomainShelf shelf;
  };
  const Row& row(const Request& request);

  // The policy's for one task on the node, which must have room for it.
  Choice choice(const Request& request, NodeId node);
  // The best score of a node beneath that has room; kNoScore when none has.
  std::int64_t best_score(const Request& request, DomainId domain);

  // What TreePacking::homes() gives of the nearest ring with Look::kOnlyHere, up to
  // `count` homes of them, without going through the ring. For orders that stay
  // the same from call to call.
  void nearest(const Request& request, const DomainShelf::Ring& ring, std::int64_t tasks,
               std::size_t count, DomainOrder& order, DomainShelf::Near& near);

  const PlacementPolicy& policy() const { return policy_; }
  // The policy has learned something.
  void forget_scores() { ++epoch_; }

 private:
  // All rows together; past it they are dropped and built again on demand.
  static constexpr std::size_t kMaxEntries = std::size_t{16} << 20;

  Row& up_to_date(const Request& request);
  void rebuild(Row& row, const Request& request);
  void recount(Row& row, const Request& request, NodeId node);
  std::int64_t slots_of(Row& row, const Request& request, NodeId node);
  std::int64_t best_of(Row& row, const Request& request, DomainId domain);
  Choice choice_of(Row& row, const Request& request, NodeId node);

  const Cluster& cluster_;
  const PlacementPolicy& policy_;
  DomainTree tree_;
  std::uint64_t tree_version_ = UINT64_MAX;  // none built yet
  std::map<std::string, Rings, std::less<>> rings_;
  std::vector<Row> rows_;  // by request id; empty: not built
  std::size_t entries_ = 0;
  std::uint64_t epoch_ = 1;
};

}  // namespace gridfold
