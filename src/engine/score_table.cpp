#include "engine/score_table.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/planted.h"
#include "engine/tie_rank.h"

namespace gridfold {
namespace {

constexpr std::size_t kRemembered = 256;  // a power of two
constexpr std::uint32_t kAsksToCool = 8192;

// Nodes that are looked at a few at a time, so that their books are fetched
// side by side: with many requests in use, waiting for memory is most of the
// work.
class Batch {
 public:
  bool is_full() const { return size_ == places_.size(); }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  void add(std::size_t place, NodeId node) {
    places_[size_] = place;
    nodes_[size_++] = node;
  }
  void fetch(const Cluster& cluster) const { cluster.prefetch(std::span(nodes_.data(), size_)); }
  const std::size_t* begin() const { return places_.data(); }
  const std::size_t* end() const { return places_.data() + size_; }

 private:
  std::array<std::size_t, 16> places_;
  std::array<NodeId, 16> nodes_;
  std::size_t size_ = 0;
};

}  // namespace

ScoreTable::ScoreTable(const Cluster& cluster, const PlacementPolicy& policy,
                       const PlacementOptions& options)
    : cluster_(cluster), policy_(policy), options_(options), line_(cluster, policy, options_) {
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
  return Best{line_.at(place).node, ask(*row, request, place).devices, row->scores.best_score(),
              row->feasible};
}

WhyHere ScoreTable::why(const Request& request, const Best& best) const {
  WhyHere why{DecidedBy::kOnlyOne, NodeId::none(), best.feasible_nodes, best.score, 0};
  if (best.feasible_nodes == 1) return why;
  const std::size_t place = line_.place(best.node);
  std::size_t next = 0;
  if (request.id < rows_.size() && rows_[request.id].is_built) {
    const BestTree& scores = rows_[request.id].scores;
    next = *scores.best_but(place);
    if (GRIDFOLD_PLANTED_BUG(runner_up_is_the_neighbour)) next = place == 0 ? 1 : place - 1;
    why.runner_up_score = scores.score(next);
  } else {
    next = place == 0 ? 1 : 0;
    for (std::size_t i = next; i < scanned_.size(); ++i) {
      if (i != place && scanned_[i] > scanned_[next]) next = i;
    }
    why.runner_up_score = scanned_[next];
  }
  why.runner_up = line_.at(next).node;
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
  line_.follow();
  scanned_.assign(line_.size(), BestTree::kAbsent);
  Best found;
  std::int64_t top = BestTree::kAbsent;
  for (std::size_t place = 0; place < scanned_.size(); ++place) {
    const NodeId node = line_.at(place).node;
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
  found.node = line_.at(winner).node;
  found.score = top;
  found.devices = policy_.choose(cluster_.room(found.node), request).devices;
  return found;
}

// --- Rows ---

ScoreTable::Row* ScoreTable::row_for(const Request& request) {
  if (options_.index == PlacementIndex::kScan) return nullptr;
  line_.follow();
  if (request.id >= rows_.size()) rows_.resize(request.id + 1);
  Row& row = rows_[request.id];
  ++row.asks;
  if (++asks_ == kAsksToCool) cool();
  if (!row.is_built && !make_room(row)) return nullptr;
  if (!row.is_built || row.membership != line_.membership() || row.epoch != epoch_ ||
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
  row.membership = line_.membership();
  row.epoch = epoch_;
  row.change = cluster_.last_change();
  row.remembered.assign(kRemembered, Remembered());
  row.slots.clear();
  row.feasible = 0;
  row.fitting.assign(line_.size() / 64 + 1, 0);
  row.scores.reset(line_.size(), options_.tie_break == TieBreak::kRandom ? BestTree::Ties::kCounted
                                                                         : BestTree::Ties::kFirst);
  const auto enter = [&](std::size_t place, std::int64_t score) {
    if (score == BestTree::kAbsent) return;
    row.scores.set_leaf(place, score);
    row.fitting[place / 64] |= std::uint64_t{1} << place % 64;
    ++row.feasible;
  };
  Batch batch;
  const auto ask_batch = [&] {
    batch.fetch(cluster_);
    for (const std::size_t place : batch) enter(place, ask(row, request, place).score);
    batch.clear();
  };
  for (std::size_t place = 0; place < line_.size(); ++place) {
    const NodeLine::Entry& entry = line_.at(place);
    if (!entry.bound.covers(request.least)) continue;
    const Remembered& known = row.place_of(entry.face);
    if (known.face == entry.face) {
      enter(place, known.score);
      continue;
    }
    batch.add(place, entry.node);
    if (batch.is_full()) ask_batch();
  }
  ask_batch();
  row.scores.rebuild();
  built_bytes_ += row.bytes();
}

// Most changes are to nodes on which the request fits neither before nor after:
// what tells so lies with the change and in the row's bits.
void ScoreTable::follow(Row& row, const Request& request) {
  Batch batch;
  while (row.change < cluster_.last_change()) {
    batch.clear();
    while (!batch.is_full() && row.change < cluster_.last_change()) {
      const std::uint64_t change = ++row.change;
      const NodeId node = cluster_.changed(change);
      if (node.is_none()) continue;
      const std::size_t place = line_.place(node);
      if (!cluster_.changed_to(change).covers(request.least)) {
        if (row.fits_at(place)) rescore(row, request, place, BestTree::kAbsent);
        continue;
      }
      row.scores.prefetch(place);
      batch.add(place, node);
    }
    if (batch.size() > 1) batch.fetch(cluster_);
    for (const std::size_t place : batch)
      rescore(row, request, place, ask(row, request, place).score);
  }
}

void ScoreTable::rescore(Row& row, const Request& request, std::size_t place, std::int64_t score) {
  const bool fits_now = score != BestTree::kAbsent;
  const bool did_fit = row.fits_at(place);
  if (!fits_now && !did_fit) return;
  row.scores.update(place, score);
  if (fits_now != did_fit) {
    row.fitting[place / 64] ^= std::uint64_t{1} << place % 64;
    row.feasible += fits_now ? 1 : -1;
  }
  if (row.slots.empty()) return;
  const std::int32_t count = fits_now ? slots(cluster_.room(line_.at(place).node), request) : 0;
  row.total_slots += count - row.slots[place];
  row.slots[place] = count;
}

void ScoreTable::count_slots(Row& row, const Request& request) {
  built_bytes_ -= row.bytes();
  row.slots.resize(line_.size());
  row.total_slots = 0;
  for (std::size_t place = 0; place < row.slots.size(); ++place) {
    const NodeId node = line_.at(place).node;
    row.slots[place] = cluster_.usable(node) ? slots(cluster_.room(node), request) : 0;
    row.total_slots += row.slots[place];
  }
  built_bytes_ += row.bytes();
}

// What the policy says of the node's face, asked once as long as it is
// remembered.
const ScoreTable::Remembered& ScoreTable::ask(Row& row, const Request& request, std::size_t place) {
  const NodeLine::Entry& entry = line_.at(place);
  Remembered& known = row.place_of(entry.face);
  if (known.face == entry.face) return known;
  const NodeRoom room = cluster_.room(entry.node);
  known = {entry.face, BestTree::kAbsent, 0};
  if (fits(room, request)) {
    const Choice choice = policy_.choose(room, request);
    known.score = choice.score;
    known.devices = choice.devices;
  }
  return known;
}

// --- Size ---

std::size_t ScoreTable::Row::bytes() const {
  return scores.bytes() + fitting.capacity() * sizeof(std::uint64_t) +
         remembered.capacity() * sizeof(Remembered) + slots.capacity() * sizeof(std::int32_t);
}

// Leaves and an eighth above them, counts where ties are drawn.
std::size_t ScoreTable::expected_row_bytes() const {
  const std::size_t nodes = line_.size();
  const std::size_t counts = options_.tie_break == TieBreak::kRandom ? nodes / 2 : 0;
  return nodes * 8 / 7 * sizeof(std::int64_t) + nodes / 8 + counts +
         kRemembered * sizeof(Remembered);
}

std::size_t ScoreTable::row_bytes() const {
  return built_bytes_ + rows_.capacity() * sizeof(Row) + line_.bytes();
}

}  // namespace gridfold
