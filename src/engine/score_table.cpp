#include "engine/score_table.h"

#include <algorithm>
#include <array>
#include <span>

#include "engine/tie_rank.h"

namespace gridfold {
namespace {

constexpr std::size_t kRemembered = 256;  // a power of two
constexpr std::uint32_t kAsksToCool = 8192;

}  // namespace

ScoreTable::ScoreTable(const Cluster& cluster, const PlacementPolicy& policy,
                       const PlacementOptions& options)
    : cluster_(cluster), policy_(policy), options_(options) {
  if (policy.draws_among_equals()) options_.tie_break = TieBreak::kRandom;
}

std::optional<ScoreTable::Best> ScoreTable::best(const Request& request, RandomStream& random) {
  Row* const row = row_for(request);
  if (row == nullptr) return scan(request, random);
  if (row->feasible == 0) return std::nullopt;
  std::size_t place = 0;
  if (options_.tie_break == TieBreak::kRandom) {
    const std::uint64_t ties = row->scores.best_count();
    place = row->scores.nth_best(ties > 1 ? random.below(ties) : 0);
  } else {
    place = row->scores.first_best();
  }
  const NodeId node = nodes_in_order_[place];
  return Best{node, choice(*row, request, node).devices, row->scores.best_score(), row->feasible};
}

WhyHere ScoreTable::why(const Request& request, const Best& best) const {
  WhyHere why{DecidedBy::kOnlyOne, NodeId::none(), best.feasible_nodes, best.score, 0};
  if (best.feasible_nodes == 1) return why;
  const std::size_t place = places_[best.node.value];
  std::size_t next = 0;
  if (request.id < rows_.size() && rows_[request.id].is_built) {
    const BestTree& scores = rows_[request.id].scores;
    next = *scores.best_but(place);
    why.runner_up_score = scores.score(next);
  } else {
    next = place == 0 ? 1 : 0;
    for (std::size_t i = next; i < scanned_.size(); ++i) {
      if (i != place && scanned_[i] > scanned_[next]) next = i;
    }
    why.runner_up_score = scanned_[next];
  }
  why.runner_up = nodes_in_order_[next];
  why.by = why.score != why.runner_up_score ? DecidedBy::kScore : tie_rule(options_.tie_break);
  return why;
}

bool ScoreTable::has_slots(const Request& request, std::int64_t tasks) {
  if (tasks <= 0) return true;
  Row* const row = row_for(request);
  if (row != nullptr) {
    if (tasks == 1) return row->feasible > 0;
    if (row->slots.empty()) count_slots(*row, request);
    return row->total_slots >= tasks;
  }
  for (std::uint32_t i = 0; i < cluster_.size() && tasks > 0; ++i) {
    const NodeId node(i);
    if (cluster_.usable(node)) tasks -= slots(cluster_.room(node), request);
  }
  return tasks <= 0;
}

// --- The scan ---

// Every node anew: the scores in one flat array in the order of ties, then the
// first of the best, or one drawn among them.
std::optional<ScoreTable::Best> ScoreTable::scan(const Request& request, RandomStream& random) {
  if (membership_ != cluster_.membership()) order_nodes();
  scanned_.assign(nodes_in_order_.size(), BestTree::kAbsent);
  Best found;
  std::int64_t top = BestTree::kAbsent;
  for (std::size_t place = 0; place < scanned_.size(); ++place) {
    const NodeId node = nodes_in_order_[place];
    if (!cluster_.usable(node)) continue;
    const NodeRoom room = cluster_.room(node);
    if (!fits(room, request)) continue;
    ++found.feasible_nodes;
    scanned_[place] = policy_.choose(room, request).score;
    top = std::max(top, scanned_[place]);
  }
  if (found.feasible_nodes == 0) return std::nullopt;
  std::size_t winner = 0;
  const auto ties = static_cast<std::uint64_t>(std::count(scanned_.begin(), scanned_.end(), top));
  std::uint64_t k = options_.tie_break == TieBreak::kRandom && ties > 1 ? random.below(ties) : 0;
  while (scanned_[winner] != top || k-- > 0) ++winner;
  found.node = nodes_in_order_[winner];
  found.score = top;
  found.devices = policy_.choose(cluster_.room(found.node), request).devices;
  return found;
}

// --- Order of ties ---

// With random ties any fixed order does: which of the equals is drawn.
std::uint64_t ScoreTable::rank(NodeId node) const {
  if (options_.tie_break == TieBreak::kRandom) return node.value;
  return tie_rank(cluster_, options_.tie_break, options_.seed, node);
}

void ScoreTable::order_nodes() {
  membership_ = cluster_.membership();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked(cluster_.size());
  for (std::uint32_t i = 0; i < ranked.size(); ++i) ranked[i] = {rank(NodeId(i)), i};
  std::sort(ranked.begin(), ranked.end());
  nodes_in_order_.resize(ranked.size());
  places_.resize(ranked.size());
  for (std::uint32_t place = 0; place < ranked.size(); ++place) {
    nodes_in_order_[place] = NodeId(ranked[place].second);
    places_[ranked[place].second] = place;
  }
}

// --- Rows ---

ScoreTable::Row* ScoreTable::row_for(const Request& request) {
  if (options_.index == PlacementIndex::kScan) return nullptr;
  if (membership_ != cluster_.membership()) order_nodes();
  if (request.id >= rows_.size()) rows_.resize(request.id + 1);
  Row& row = rows_[request.id];
  ++row.asks;
  if (++asks_ == kAsksToCool) cool();
  if (!row.is_built && !make_room(row)) return nullptr;
  if (!row.is_built || row.membership != membership_ || row.epoch != epoch_ ||
      row.change < cluster_.forgotten_changes()) {
    rebuild(row, request);
    return &row;
  }
  follow(row, request);
  return &row;
}

// Whether a row for this request may be built: there is room, or rows that are
// asked for less than half as often make it.
bool ScoreTable::make_room(const Row& wanted) {
  const std::size_t needed = expected_row_bytes();
  if (needed > options_.max_row_bytes) return false;
  while (built_bytes_ + needed > options_.max_row_bytes) {
    Row* coldest = nullptr;
    for (Row& row : rows_) {
      if (row.is_built && (coldest == nullptr || row.asks < coldest->asks)) coldest = &row;
    }
    if (coldest == nullptr || coldest->asks > wanted.asks / 2) return false;
    drop(*coldest);
  }
  return true;
}

void ScoreTable::drop(Row& row) {
  built_bytes_ -= row.bytes();
  --built_;
  const std::uint32_t asks = row.asks;
  row = Row();
  row.asks = asks;
}

void ScoreTable::cool() {
  asks_ = 0;
  for (Row& row : rows_) row.asks /= 2;
}

void ScoreTable::rebuild(Row& row, const Request& request) {
  if (row.is_built) built_bytes_ -= row.bytes();
  built_ += !row.is_built;
  row.is_built = true;
  row.membership = membership_;
  row.epoch = epoch_;
  row.change = cluster_.last_change();
  row.remembered.assign(kRemembered, Remembered());
  row.slots.clear();
  row.least = bound_of(request);
  row.feasible = 0;
  row.fitting.assign(nodes_in_order_.size() / 64 + 1, 0);
  row.scores.reset(nodes_in_order_.size(), options_.tie_break == TieBreak::kRandom
                                               ? BestTree::Ties::kCounted
                                               : BestTree::Ties::kFirst);
  for (std::size_t place = 0; place < nodes_in_order_.size(); ++place) {
    const NodeId node = nodes_in_order_[place];
    if (!cluster_.usable(node) || !fits(cluster_.room(node), request)) continue;
    row.scores.set_leaf(place, choice(row, request, node).score);
    row.fitting[node.value / 64] |= std::uint64_t{1} << node.value % 64;
    ++row.feasible;
  }
  row.scores.rebuild();
  built_bytes_ += row.bytes();
}

// Most changes are to nodes on which the request fits neither before nor after:
// what tells so lies with the change and in the row's bits.
void ScoreTable::follow(Row& row, const Request& request) {
  // Of those that matter a few at a time, so that their books are fetched side
  // by side: with many requests in use, waiting for memory is most of the work.
  std::array<NodeId, 16> batch;
  while (row.change < cluster_.last_change()) {
    std::size_t count = 0;
    while (count < batch.size() && row.change < cluster_.last_change()) {
      const std::uint64_t change = ++row.change;
      const NodeId node = cluster_.changed(change);
      if (node.is_none()) continue;
      if (!cluster_.changed_to(change).covers(row.least)) {
        if (row.fits_on(node)) rescore(row, request, node, false);
        continue;
      }
      row.scores.prefetch(places_[node.value]);
      batch[count++] = node;
    }
    const std::span nodes(batch.data(), count);
    if (count > 1) cluster_.prefetch(nodes);
    for (const NodeId node : nodes) rescore(row, request, node, fits(cluster_.room(node), request));
  }
}

void ScoreTable::rescore(Row& row, const Request& request, NodeId node, bool fits_now) {
  const bool did_fit = row.fits_on(node);
  if (!fits_now && !did_fit) return;
  const std::size_t place = places_[node.value];
  row.scores.update(place, fits_now ? choice(row, request, node).score : BestTree::kAbsent);
  if (fits_now != did_fit) {
    row.fitting[node.value / 64] ^= std::uint64_t{1} << node.value % 64;
    row.feasible += fits_now ? 1 : -1;
  }
  if (row.slots.empty()) return;
  const std::int32_t count = fits_now ? slots(cluster_.room(node), request) : 0;
  row.total_slots += count - row.slots[place];
  row.slots[place] = count;
}

void ScoreTable::count_slots(Row& row, const Request& request) {
  built_bytes_ -= row.bytes();
  row.slots.resize(nodes_in_order_.size());
  row.total_slots = 0;
  for (std::size_t place = 0; place < row.slots.size(); ++place) {
    const NodeId node = nodes_in_order_[place];
    row.slots[place] = cluster_.usable(node) ? slots(cluster_.room(node), request) : 0;
    row.total_slots += row.slots[place];
  }
  built_bytes_ += row.bytes();
}

// What the policy says of the node's state, asked once as long as it is
// remembered. The request must fit.
Choice ScoreTable::choice(Row& row, const Request& request, NodeId node) {
  const std::uint64_t serial = cluster_.state_serial(node);
  const std::uint64_t node_key = policy_.node_key(node);
  Remembered& known = row.remembered[serial & (kRemembered - 1)];
  if (known.serial != serial || known.node_key != node_key) {
    const Choice fresh = policy_.choose(cluster_.room(node), request);
    known = {serial, node_key, fresh.score, fresh.devices};
  }
  return {known.score, known.devices};
}

// --- Size ---

std::size_t ScoreTable::Row::bytes() const {
  return scores.bytes() + fitting.capacity() * sizeof(std::uint64_t) +
         remembered.capacity() * sizeof(Remembered) + slots.capacity() * sizeof(std::int32_t);
}

// Leaves and an eighth above them, counts where ties are drawn.
std::size_t ScoreTable::expected_row_bytes() const {
  const std::size_t nodes = nodes_in_order_.size();
  const std::size_t counts = options_.tie_break == TieBreak::kRandom ? nodes / 2 : 0;
  return nodes * 8 / 7 * sizeof(std::int64_t) + nodes / 8 + counts +
         kRemembered * sizeof(Remembered);
}

std::size_t ScoreTable::row_bytes() const {
  return built_bytes_ + rows_.capacity() * sizeof(Row) +
         nodes_in_order_.capacity() * sizeof(NodeId) + places_.capacity() * sizeof(std::uint32_t);
}

}  // namespace gridfold
