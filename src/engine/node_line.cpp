#include "engine/node_line.h"

#include <algorithm>
#include <utility>

#include "engine/tie_rank.h"

namespace gridfold {

void NodeLine::follow() {
  if (membership_ != cluster_.membership()) {
    order();
    return read_all();
  }
  if (change_ < cluster_.forgotten_changes()) return read_all();
  while (change_ < cluster_.last_change()) {
    const NodeId node = cluster_.changed(++change_);
    if (node.is_none()) continue;
    Entry& entry = entries_[place(node)];
    entry.bound = cluster_.changed_to(change_);
    entry.face = {cluster_.state_serial(node), policy_.node_key(node)};
  }
  if (keys_are_known_) return;
  keys_are_known_ = true;
  for (Entry& entry : entries_) entry.face.key = policy_.node_key(entry.node);
}

void NodeLine::read_all() {
  change_ = cluster_.last_change();
  keys_are_known_ = true;
  for (Entry& entry : entries_) {
    const NodeId node = entry.node;
    entry.bound = cluster_.usable(node) ? bound_of(cluster_.room(node)) : RoomBound();
    entry.face = {cluster_.state_serial(node), policy_.node_key(node)};
  }
}

// With random ties any fixed order does: which of the equals is drawn.
std::uint64_t NodeLine::rank(NodeId node) const {
  if (options_.tie_break == TieBreak::kRandom) return node.value;
  return tie_rank(cluster_, options_.tie_break, options_.seed, node);
}

void NodeLine::order() {
  membership_ = cluster_.membership();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked(cluster_.size());
  for (std::uint32_t i = 0; i < ranked.size(); ++i) ranked[i] = {rank(NodeId(i)), i};
  std::sort(ranked.begin(), ranked.end());
  entries_.resize(ranked.size());
  places_.resize(ranked.size());
  for (std::uint32_t at = 0; at < ranked.size(); ++at) {
    entries_[at].node = NodeId(ranked[at].second);
    places_[ranked[at].second] = at;
  }
}

std::size_t NodeLine::bytes() const {
  return entries_.capacity() * sizeof(Entry) + places_.capacity() * sizeof(std::uint32_t);
}

}  // namespace gridfold
