#include "engine/score_table.h"

namespace gridfold {

ScoreTable::ScoreTable(const Cluster& cluster, const PlacementPolicy& policy, TieBreak tie_break)
    : cluster_(cluster), policy_(policy), tie_break_(tie_break) {}

std::optional<ScoreTable::Best> ScoreTable::best(const Request& request, RandomStream& random) {
  const Row& row = up_to_date(request);
  if (row.feasible == 0) return std::nullopt;
  std::uint32_t winner = 0;
  std::int64_t top = kInfeasible;
  std::uint64_t ties = 0;
  for (std::uint32_t i = 0; i < row.scores.size(); ++i) {
    const std::int64_t score = row.scores[i];
    if (score < top || score == kInfeasible) continue;
    if (score > top) {
      top = score;
      winner = i;
      ties = 1;
    } else {
      ++ties;
    }
  }
  if (ties > 1) {
    // Lowest name, or the k-th of the tied with k drawn once.
    std::uint64_t k = tie_break_ == TieBreak::kRandom ? random.below(ties) : 0;
    std::uint32_t best_rank = UINT32_MAX;
    for (std::uint32_t i = winner; i < row.scores.size(); ++i) {
      if (row.scores[i] != top) continue;
      if (tie_break_ == TieBreak::kRandom) {
        if (k-- == 0) {
          winner = i;
          break;
        }
      } else if (const std::uint32_t rank = cluster_.name_rank(NodeId(i)); rank < best_rank) {
        best_rank = rank;
        winner = i;
      }
    }
  }
  const NodeId node(winner);
  const Choice choice = policy_.choose(cluster_.room(node), request);
  return Best{node, choice.devices, top, row.feasible};
}

std::int64_t ScoreTable::total_slots(const Request& request) {
  return up_to_date(request).total_slots;
}

void ScoreTable::forget_scores() { ++epoch_; }

ScoreTable::Row& ScoreTable::up_to_date(const Request& request) {
  if (request.id >= rows_.size()) rows_.resize(request.id + 1);
  Row& row = rows_[request.id];
  if (row.scores.size() != cluster_.size() || row.epoch != epoch_ ||
      row.position < cluster_.log_begin()) {
    if (row.scores.empty() && entries_ + cluster_.size() > kMaxEntries) {
      for (Row& other : rows_) other = Row();
      entries_ = 0;
    }
    rebuild(row, request);
    return row;
  }
  for (std::uint64_t at = row.position; at < cluster_.log_end(); ++at)
    rescore(row, request, cluster_.log_entry(at));
  row.position = cluster_.log_end();
  return row;
}

void ScoreTable::rebuild(Row& row, const Request& request) {
  entries_ -= row.scores.size();
  entries_ += cluster_.size();
  row.scores.assign(cluster_.size(), kInfeasible);
  row.slots.assign(cluster_.size(), 0);
  row.total_slots = 0;
  row.feasible = 0;
  row.epoch = epoch_;
  row.position = cluster_.log_end();
  for (std::uint32_t i = 0; i < cluster_.size(); ++i) rescore(row, request, NodeId(i));
}

void ScoreTable::rescore(Row& row, const Request& request, NodeId node) {
  std::int64_t& score = row.scores[node.value];
  std::int32_t& slot_count = row.slots[node.value];
  if (score != kInfeasible) --row.feasible;
  row.total_slots -= slot_count;
  score = kInfeasible;
  slot_count = 0;
  if (!cluster_.usable(node)) return;
  const NodeRoom room = cluster_.room(node);
  slot_count = slots(room, request);
  if (slot_count == 0) return;
  row.total_slots += slot_count;
  score = policy_.choose(room, request).score;
  ++row.feasible;
}

}  // namespace gridfold
