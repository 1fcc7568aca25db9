// Scores of every node for the requests in use, kept up to date by need: a
// placement dirties one node, and a request re-scores only the nodes that
// changed since it was last asked for. A plain row of all nodes stays behind
// it, so the answer is always that of the full scan.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "engine/cluster.h"
#include "engine/engine.h"
#include "engine/placement.h"

namespace gridfold {

class ScoreTable {
 public:
  // `seed` is that of TieBreak::kSeededOrder.
  ScoreTable(const Cluster& cluster, const PlacementPolicy& policy, TieBreak tie_break,
             std::uint64_t seed);

  struct Best {
    NodeId node;
    std::uint64_t devices = 0;
    std::int64_t score = 0;
    std::int32_t feasible_nodes = 0;
  };
  // The best node for one more task of the request, if any fits. Draws from
  // `random` only to break ties.
  std::optional<Best> best(const Request& request, RandomStream& random);

  // So many tasks of the request fit now on all nodes (see slots()).
  std::int64_t total_slots(const Request& request);

  // The policy has learned something: every score is computed anew when asked.
  void forget_scores();

 private:
  static constexpr std::int64_t kInfeasible = INT64_MIN;
  // All rows together; past it they are dropped and built again on demand.
  static constexpr std::size_t kMaxEntries = std::size_t{16} << 20;

  struct Row {
    std::vector<std::int64_t> scores;  // by node
    std::vector<std::int32_t> slots;
    std::int64_t total_slots = 0;
    std::int32_t feasible = 0;
    std::uint64_t position = 0;    // the last change of the cluster that is in it
    std::uint64_t membership = 0;  // of the cluster when the row was made
    std::uint64_t epoch = 0;
  };

  // Among equals the lowest rank wins.
  std::uint64_t rank(NodeId node) const;
  Row& up_to_date(const Request& request);
  void rebuild(Row& row, const Request& request);
  void rescore(Row& row, const Request& request, NodeId node);

  const Cluster& cluster_;
  const PlacementPolicy& policy_;
  TieBreak tie_break_;
  std::uint64_t seed_;
  std::vector<Row> rows_;  // by request id; empty: not built
  std::size_t entries_ = 0;
  std::uint64_t epoch_ = 1;
};

}  // namespace gridfold
