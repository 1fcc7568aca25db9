#include "topology/tree_packing.h"

#include <algorithm>
#include <cassert>

namespace gridfold {

void TreePacking::count(std::span<const std::int64_t> room, std::string_view unit_level) {
  room_ = room;
  unit_level_ = unit_level;
}

bool TreePacking::is_last(DomainId domain) const {
  if (tree_.is_node(domain)) return true;
  if (!unit_level_.empty()) return tree_.level_name(domain) == unit_level_;
  // Only nodes beneath: the domain, and a leaf for each.
  return tree_.subtree_end(domain).value - domain.value == tree_.nodes_beneath(domain).size() + 1;
}

bool TreePacking::lies_in(DomainId domain, std::string_view level) const {
  for (; !domain.is_none(); domain = tree_.parent(domain)) {
    if (tree_.level_name(domain) == level) return true;
  }
  return false;
}

// Of one level, so in order of id those beneath a domain stand together.
std::span<const DomainId> TreePacking::beneath(DomainId domain, std::string_view level) const {
  const auto all = tree_.domains_at(level);
  const auto first = std::lower_bound(all.begin(), all.end(), domain);
  const auto last = std::lower_bound(first, all.end(), tree_.subtree_end(domain));
  return all.subspan(static_cast<std::size_t>(first - all.begin()),
                     static_cast<std::size_t>(last - first));
}

// Pushes the domains one level down that have room.
void TreePacking::gather(DomainId domain) {
  std::int64_t own = 0;
  for (DomainId at(domain.value + 1); at < tree_.subtree_end(domain); at = tree_.subtree_end(at)) {
    if (room_[at.value] <= 0) continue;
    if (!tree_.is_node(at) || unit_level_ == kNodeLevel) {
      pieces_.push_back({at, room_[at.value], 0, 0, false});
    } else if (unit_level_.empty()) {
      own += room_[at.value];
    }
  }
  if (own > 0) pieces_.push_back({domain, own, 0, 0, true});
}

std::int64_t TreePacking::fewest_beneath(DomainId domain, std::int64_t units) {
  if (is_last(domain)) return 1;
  const std::size_t base = pieces_.size();
  gather(domain);
  const auto begin = pieces_.begin() + static_cast<std::ptrdiff_t>(base);
  std::sort(begin, pieces_.end(), [](const Piece& a, const Piece& b) { return a.room > b.room; });
  std::int64_t pieces = 0;
  for (auto at = begin; at != pieces_.end() && units > 0; ++at, ++pieces) units -= at->room;
  pieces_.resize(base);
  return pieces;
}

std::int64_t TreePacking::room_at(DomainId domain, std::string_view level) const {
  std::int64_t room = 0;
  for (const DomainId at : beneath(domain, level)) room += room_[at.value];
  return room;
}

std::int64_t TreePacking::least_in_fullest(DomainId domain, std::string_view level,
                                           std::int64_t units) const {
  if (room_at(domain, level) < units) return 0;
  std::int64_t low = 1;
  std::int64_t high = units;
  while (low < high) {
    const std::int64_t most = low + (high - low) / 2;
    std::int64_t held = 0;
    for (const DomainId at : beneath(domain, level)) held += std::min(room_[at.value], most);
    held >= units ? high = most : low = most + 1;
  }
  return low;
}

std::span<const TreePacking::Home> TreePacking::homes(std::span<const DomainId> ring,
                                                      std::string_view inside, std::int64_t units,
                                                      Look look) {
  homes_.clear();
  others_ = {};
  const bool only_here = look == Look::kOnlyHere;
  std::int64_t next_left = INT64_MAX;  // where only this counts: neither best nor next from here on
  std::int32_t worse = 0;
  for (const DomainId domain : ring) {
    const std::int64_t left = room_[domain.value] - units;
    if (left < 0 || (!inside.empty() && !lies_in(domain, inside))) continue;
    if (left >= next_left) {
      ++worse;
      continue;
    }
    consider({domain, only_here ? 1 : fewest_beneath(domain, units), left});
    if (only_here && others_.next) next_left = others_.next->left;
  }
  others_.holding += worse;
  order_homes();
  return homes_;
}

std::span<const TreePacking::Home> TreePacking::ranked_homes(std::span<const DomainId> ring,
                                                             std::string_view inside,
                                                             std::int64_t units, Look look,
                                                             std::size_t most) {
  homes_.clear();
  others_ = {};
  for (const DomainId domain : ring) {
    const std::int64_t left = room_[domain.value] - units;
    if (left < 0 || (!inside.empty() && !lies_in(domain, inside))) continue;
    homes_.push_back({domain, look == Look::kOnlyHere ? 1 : fewest_beneath(domain, units), left});
  }
  const auto by_count = [](const Home& a, const Home& b) {
    return std::pair(a.measure, a.left) < std::pair(b.measure, b.left);
  };
  others_.holding = static_cast<std::int32_t>(homes_.size());
  if (homes_.size() > most) {
    // Only those that are as good as the last one wanted need a score.
    const auto last = homes_.begin() + static_cast<std::ptrdiff_t>(most) - 1;
    std::nth_element(homes_.begin(), last, homes_.end(), by_count);
    const Home bound = *last;
    std::erase_if(homes_, [&](const Home& home) { return by_count(bound, home); });
  }
  for (Home& home : homes_) {
    home.score = order_.score(home.domain);
    home.rank = order_.rank(home.domain);
  }
  std::sort(homes_.begin(), homes_.end(), [&](const Home& a, const Home& b) {
    if (by_count(a, b) || by_count(b, a)) return by_count(a, b);
    return a.score != b.score ? a.score > b.score : a.rank < b.rank;
  });
  const auto worse = std::find_if(homes_.begin(), homes_.end(),
                                  [&](const Home& home) { return by_count(homes_.front(), home); });
  if (worse != homes_.end()) others_.next = *worse;
  if (homes_.size() > most) homes_.resize(most);
  return homes_;
}

std::span<const TreePacking::Home> TreePacking::spread_homes(std::span<const DomainId> ring,
                                                             std::string_view inside,
                                                             std::string_view level,
                                                             std::int64_t units) {
  homes_.clear();
  others_ = {};
  for (const DomainId domain : ring) {
    if (room_[domain.value] < units || (!inside.empty() && !lies_in(domain, inside))) continue;
    const std::int64_t fullest = least_in_fullest(domain, level, units);
    if (fullest > 0) consider({domain, fullest, room_[domain.value] - units});
  }
  order_homes();
  return homes_;
}

// Keeps it if none is better, and the best of the rest.
void TreePacking::consider(const Home& home) {
  const auto counts = [](const Home& at) { return std::pair(at.measure, at.left); };
  ++others_.holding;
  if (!homes_.empty() && counts(home) > counts(homes_.front())) {
    if (!others_.next || counts(home) < counts(*others_.next)) others_.next = home;
    return;
  }
  if (!homes_.empty() && counts(home) < counts(homes_.front())) {
    others_.next = homes_.front();
    homes_.clear();
  }
  homes_.push_back(home);
}

void TreePacking::order_homes() {
  if (homes_.size() < 2) return;
  for (Home& home : homes_) {
    home.score = order_.score(home.domain);
    home.rank = order_.rank(home.domain);
  }
  std::sort(homes_.begin(), homes_.end(), [](const Home& a, const Home& b) {
    return a.score != b.score ? a.score > b.score : a.rank < b.rank;
  });
}

void TreePacking::pack(DomainId domain, std::int64_t units, std::vector<Share>& shares) {
  assert(units <= room_[domain.value]);
  if (units <= 0) return;
  if (is_last(domain)) {
    shares.push_back({domain, units, false});
    return;
  }
  const std::size_t base = pieces_.size();
  gather(domain);
  for (std::size_t i = base; i < pieces_.size(); ++i) {
    pieces_[i].score = order_.score(pieces_[i].domain);
    pieces_[i].rank = order_.rank(pieces_[i].domain);
  }
  std::sort(pieces_.begin() + static_cast<std::ptrdiff_t>(base), pieces_.end(),
            [](const Piece& a, const Piece& b) {
              if (a.room != b.room) return a.room > b.room;
              return a.score != b.score ? a.score > b.score : a.rank < b.rank;
            });
  for (std::size_t at = base; units > 0; ++at) {
    assert(at < pieces_.size());
    std::size_t chosen = at;
    if (pieces_[at].room >= units) {
      // The last that suffices has the least left over; of equals the first.
      std::size_t end = at + 1;
      while (end < pieces_.size() && pieces_[end].room >= units) ++end;
      chosen = end - 1;
      while (chosen > at && pieces_[chosen - 1].room == pieces_[end - 1].room) --chosen;
    }
    const Piece piece = pieces_[chosen];
    const std::int64_t share = std::min(units, piece.room);
    if (piece.own_nodes_only) {
      shares.push_back({piece.domain, share, true});
    } else {
      pack(piece.domain, share, shares);
    }
    units -= share;
  }
  pieces_.resize(base);
}

void TreePacking::spread(DomainId domain, std::string_view level, std::int64_t units,
                         std::vector<Share>& shares) {
  const std::int64_t most = least_in_fullest(domain, level, units);
  assert(most > 0);
  const std::size_t base = pieces_.size();
  std::int64_t held = 0;
  for (const DomainId at : beneath(domain, level)) {
    const std::int64_t room = std::min(room_[at.value], most);
    if (room <= 0) continue;
    held += room;
    pieces_.push_back({at, room, order_.score(at), order_.rank(at), false});
  }
  // Of the fullest, so many may have one less: the last in the order.
  std::vector<Piece*> fullest;
  for (std::size_t i = base; i < pieces_.size(); ++i) {
    if (pieces_[i].room == most) fullest.push_back(&pieces_[i]);
  }
  std::sort(fullest.begin(), fullest.end(), [](const Piece* a, const Piece* b) {
    return a->score != b->score ? a->score < b->score : a->rank > b->rank;
  });
  for (std::size_t i = 0; held > units; ++i, --held) --fullest[i]->room;
  for (std::size_t i = base; i < pieces_.size(); ++i) {
    if (pieces_[i].room > 0) shares.push_back({pieces_[i].domain, pieces_[i].room, false});
  }
  pieces_.resize(base);
}

}  // namespace gridfold
