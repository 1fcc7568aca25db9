#include "engine/domain_slots.h"

#include <algorithm>

namespace gridfold {
namespace {

// From `first` outwards to the grid, which ends the list.
DomainSlots::Rings outwards(const DomainTree& tree, std::span<const DomainId> first) {
  DomainSlots::Rings rings;
  std::vector<DomainId> ring(first.begin(), first.end());
  while (!ring.empty()) {
    std::vector<DomainId> wider;
    for (const DomainId domain : ring) {
      if (domain != DomainTree::root()) wider.push_back(tree.parent(domain));
    }
    std::sort(wider.begin(), wider.end());
    wider.erase(std::unique(wider.begin(), wider.end()), wider.end());
    rings.push_back(std::move(ring));
    ring = std::move(wider);
  }
  if (rings.empty()) rings.push_back({DomainTree::root()});
  return rings;
}

// By how many steps of domains lie beneath.
DomainSlots::Rings by_height(const DomainTree& tree) {
  std::vector<std::size_t> heights(tree.size(), 0);
  DomainSlots::Rings rings;
  for (std::uint32_t i = tree.size(); i-- > 0;) {
    const DomainId domain(i);
    if (tree.is_node(domain)) continue;
    rings.resize(std::max(rings.size(), heights[i] + 1));
    rings[heights[i]].push_back(domain);
    if (i == 0) break;
    std::size_t& above = heights[tree.parent(domain).value];
    above = std::max(above, heights[i] + 1);
  }
  for (auto& ring : rings) std::sort(ring.begin(), ring.end());
  return rings;
}

}  // namespace

const DomainTree& DomainSlots::tree() {
  if (tree_version_ == cluster_.topology_version()) return tree_;
  tree_version_ = cluster_.topology_version();
  std::vector<DomainTree::NodePath> paths;
  paths.reserve(cluster_.size());
  for (const NodeRecord& record : cluster_.records())
    paths.push_back({record.spec.name, record.spec.domains});
  tree_ = DomainTree::build_from(paths);
  rings_.clear();
  rows_.clear();
  entries_ = 0;
  return tree_;
}

const DomainSlots::Rings& DomainSlots::rings(const std::string& level) {
  tree();
  if (const auto known = rings_.find(level); known != rings_.end()) return known->second;
  Rings made = level.empty() ? by_height(tree_) : outwards(tree_, tree_.domains_at(level));
  return rings_.emplace(level, std::move(made)).first->second;
}

const DomainSlots::Row& DomainSlots::row(const Request& request) { return up_to_date(request); }

Choice DomainSlots::choice(const Request& request, NodeId node) {
  return choice_of(up_to_date(request), request, node);
}

std::int64_t DomainSlots::best_score(const Request& request, DomainId domain) {
  return best_of(up_to_date(request), request, domain);
}

void DomainSlots::nearest(const Request& request, const DomainShelf::Ring& ring, std::int64_t tasks,
                          std::size_t count, DomainOrder& order, DomainShelf::Near& near) {
  Row& row = up_to_date(request);
  if (!row.shelf.holds(ring, epoch_))
    row.shelf.fill(ring, epoch_, tree_, rings(ring.level).front(), row.slots);
  row.shelf.nearest(tasks, count, row.slots, order, near);
}

DomainSlots::Row& DomainSlots::up_to_date(const Request& request) {
  tree();
  if (request.id >= rows_.size()) rows_.resize(request.id + 1);
  Row& row = rows_[request.id];
  if (row.slots.empty() || row.position < cluster_.forgotten_changes()) {
    rebuild(row, request);
    return row;
  }
  if (row.epoch != epoch_) {
    row.epoch = epoch_;
    for (Row::Kept& kept : row.kept) kept.version = 0;
    std::fill(row.best_unknown.begin(), row.best_unknown.end(), std::uint8_t{1});
  }
  while (row.position < cluster_.last_change()) {
    const NodeId node = cluster_.changed(++row.position);
    if (!node.is_none()) recount(row, request, node);
  }
  return row;
}

void DomainSlots::rebuild(Row& row, const Request& request) {
  if (row.slots.empty()) {
    if (entries_ + tree_.size() > kMaxEntries) {
      for (Row& other : rows_) other = Row();
      entries_ = 0;
    }
    entries_ += tree_.size();
  }
  row.slots.assign(tree_.size(), 0);
  row.best.assign(tree_.size(), kNoScore);
  row.best_unknown.assign(tree_.size(), 1);
  row.kept.assign(cluster_.size(), {});
  row.feasible_nodes = 0;
  row.counted_state = 0;
  row.epoch = epoch_;
  row.position = cluster_.last_change();
  row.shelf = DomainShelf();
  for (std::uint32_t i = 0; i < cluster_.size(); ++i) recount(row, request, NodeId(i));
}

void DomainSlots::recount(Row& row, const Request& request, NodeId node) {
  DomainId domain = tree_.domain_of(node);
  const std::int64_t before = row.slots[domain.value];
  const std::int64_t now = cluster_.usable(node) ? slots_of(row, request, node) : 0;
  if (before == 0 && now == 0) return;
  row.feasible_nodes += static_cast<std::int32_t>(now > 0) - static_cast<std::int32_t>(before > 0);
  for (; !domain.is_none(); domain = tree_.parent(domain)) {
    row.slots[domain.value] += now - before;
    row.best_unknown[domain.value] = 1;
    row.shelf.take_off(domain);
  }
}

// Nodes that are taken or given back together are mostly in the same state:
// then the last count is the count.
std::int64_t DomainSlots::slots_of(Row& row, const Request& request, NodeId node) {
  const std::uint64_t state = cluster_.state_serial(node);
  if (row.counted_state != state) {
    row.counted = slots(cluster_.room(node), request);
    row.counted_state = state;
  }
  return row.counted;
}

Choice DomainSlots::choice_of(Row& row, const Request& request, NodeId node) {
  const NodeRoom room = cluster_.room(node);
  Row::Kept& kept = row.kept[node.value];
  if (kept.version == room.version && kept.version != 0) return kept.choice;
  kept = {room.version, policy_.choose(room, request)};
  return kept.choice;
}

std::int64_t DomainSlots::best_of(Row& row, const Request& request, DomainId domain) {
  if (row.best_unknown[domain.value] == 0) return row.best[domain.value];
  std::int64_t best = kNoScore;
  if (row.slots[domain.value] > 0) {
    if (tree_.is_node(domain)) {
      best = choice_of(row, request, tree_.nodes_beneath(domain).front()).score;
    } else {
      for (DomainId at(domain.value + 1); at < tree_.subtree_end(domain);
           at = tree_.subtree_end(at))
        best = std::max(best, best_of(row, request, at));
    }
  }
  row.best[domain.value] = best;
  row.best_unknown[domain.value] = 0;
  return best;
}

}  // namespace gridfold
