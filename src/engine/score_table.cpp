#include "engine/score_table.h"

namespace gridfold {

ScoreTable::ScoreTable(const Cluster& cluster, const PlacementPolicy& policy, TieBreak tie_break,
                       std::uint64_t seed)
    : cluster_(cluster),
      policy_(policy),
      tie_break_(policy.draws_among_equals() ? TieBreak::kRandom : tie_break),
      seed_(seed) {}

std::uint64_t ScoreTable::rank(NodeId node) const {
  if (tie_break_ == TieBreak::kLowestName) return cluster_.name_rank(node);
  // One step of splitmix64 on the node's number.
  std::uint64_t z = seed_ + (node.value + std::uint64_t{1}) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

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
    // Lowest rank, or the k-th of the tied with k drawn once.
    std::uint64_t k = tie_break_ == TieBreak::kRandom ? random.below(ties) : 0;
    std::uint64_t best_rank = UINT64_MAX;
    for (std::uint32_t i = winner; i < row.scores.size(); ++i) {
      if (row.scores[i] != top) continue;
      if (tie_break_ == TieBreak::kRandom) {
        if (k-- == 0) {
          winner = i;
          break;
        }
      } else if (const std::uint64_t here = rank(NodeId(i)); here < best_rank) {
        best_rank = here;
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
  if (row.scores.empty() || row.membership != cluster_.membership() || row.epoch != epoch_ ||
      row.position < cluster_.forgotten_changes()) {
    if (row.scores.empty() && entries_ + cluster_.size() > kMaxEntries) {
      for (Row& other : rows_) other = Row();
      entries_ = 0;
    }
    rebuild(row, request);
    return row;
  }
  while (row.position < cluster_.last_change()) {
    const NodeId node = cluster_.changed(++row.position);
    if (!node.is_none()) rescore(row, request, node);
  }
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
  row.position = cluster_.last_change();
  row.membership = cluster_.membership();
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
