#include "engine/domain_shelf.h"

#include <algorithm>
#include <utility>

namespace gridfold {
namespace {

bool lies_in(const DomainTree& tree, DomainId domain, const std::string& level) {
  for (; !domain.is_none(); domain = tree.parent(domain)) {
    if (tree.level_name(domain) == level) return true;
  }
  return false;
}

}  // namespace

void DomainShelf::fill(const Ring& ring, std::uint64_t epoch, const DomainTree& tree,
                       std::span<const DomainId> domains, std::span<const std::int64_t> room) {
  *this = DomainShelf();
  is_filled_ = true;
  ring_ = ring;
  epoch_ = epoch;
  stands_.assign(tree.size(), 0);
  for (const DomainId domain : domains) {
    if (!ring.inside.empty() && !lies_in(tree, domain, ring.inside)) continue;
    stands_[domain.value] = 1;
    domains_.push_back(domain);
    places_.push_back(entries_.insert({room[domain.value], kUnknown, 0, domain}).first);
    ++with_room_[room[domain.value]];
  }
}

// Without a new allocation.
void DomainShelf::move(Entries::iterator from, const Entry& to) {
  if (from->room != to.room) {
    const auto counted = with_room_.find(from->room);
    if (--counted->second == 0) with_room_.erase(counted);
    ++with_room_[to.room];
  }
  const auto at = std::lower_bound(domains_.begin(), domains_.end(), to.domain) - domains_.begin();
  auto entry = entries_.extract(from);
  entry.value() = to;
  places_[static_cast<std::size_t>(at)] = entries_.insert(std::move(entry)).position;
}

void DomainShelf::put_back(std::span<const std::int64_t> room) {
  for (const DomainId domain : off_) {
    const auto at = std::lower_bound(domains_.begin(), domains_.end(), domain) - domains_.begin();
    move(places_[static_cast<std::size_t>(at)], {room[domain.value], kUnknown, 0, domain});
    stands_[domain.value] = 1;
  }
  off_.clear();
}

// The first with at least this room, once the scores of all with as much as it
// has are known.
DomainShelf::Entries::iterator DomainShelf::best_from(std::int64_t room, DomainOrder& order) {
  auto best = entries_.lower_bound({room});
  while (best != entries_.end() && best->score == kUnknown) {
    const Entry known{best->room, order.score(best->domain), order.rank(best->domain),
                      best->domain};
    move(best, known);
    best = entries_.lower_bound({known.room});
  }
  return best;
}

void DomainShelf::nearest(std::int64_t units, std::size_t count, std::span<const std::int64_t> room,
                          DomainOrder& order, Near& near) {
  put_back(room);
  near.homes.clear();
  near.others = {};
  const auto best = best_from(units, order);
  if (best == entries_.end()) return;
  for (auto at = best; at != entries_.end() && at->room == best->room && near.homes.size() < count;
       ++at)
    near.homes.push_back({at->domain, 1, at->room - units, at->score, at->rank});
  for (auto at = with_room_.lower_bound(units); at != with_room_.end(); ++at)
    near.others.holding += at->second;
  const auto next = best_from(best->room + 1, order);
  if (next != entries_.end()) near.others.next = {next->domain, 1, next->room - units};
}

}  // namespace gridfold
