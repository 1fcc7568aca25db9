#include "engine/domain_shelf.h"

#include <algorithm>
#include <utility>

namespace gridfold {

void DomainShelf::fill(std::string_view level, std::uint64_t epoch, const DomainTree& tree,
                       std::span<const DomainId> ring, std::span<const std::int64_t> room) {
  is_filled_ = true;
  level_ = level;
  epoch_ = epoch;
  entries_.clear();
  places_.clear();
  off_.clear();
  ring_.assign(ring.begin(), ring.end());
  stands_.assign(tree.size(), 0);
  for (const DomainId domain : ring_) {
    stands_[domain.value] = 1;
    places_.push_back(entries_.insert({room[domain.value], kUnknown, 0, domain}).first);
  }
}

// Moves the entry without a new allocation.
void DomainShelf::move(Entries::iterator from, const Entry& to) {
  const auto at = std::lower_bound(ring_.begin(), ring_.end(), to.domain) - ring_.begin();
  auto node = entries_.extract(from);
  node.value() = to;
  places_[static_cast<std::size_t>(at)] = entries_.insert(std::move(node)).position;
}

void DomainShelf::put_back(std::span<const std::int64_t> room) {
  for (const DomainId domain : off_) {
    const auto at = std::lower_bound(ring_.begin(), ring_.end(), domain) - ring_.begin();
    move(places_[static_cast<std::size_t>(at)], {room[domain.value], kUnknown, 0, domain});
    stands_[domain.value] = 1;
  }
  off_.clear();
}

void DomainShelf::nearest(std::int64_t units, std::string_view inside, std::size_t count,
                          std::span<const std::int64_t> room, const TreePacking& packing,
                          DomainOrder& order, std::vector<DomainId>& found) {
  put_back(room);
  found.clear();
  std::int64_t least = units;  // then: of the best, and no other
  auto at = entries_.lower_bound({least});
  while (at != entries_.end() && found.size() < count) {
    if (!found.empty() && at->room > least) return;
    if (!inside.empty() && !packing.lies_in(at->domain, inside)) {
      ++at;
      continue;
    }
    if (at->score == kUnknown) {
      const DomainId domain = at->domain;
      const std::int64_t of_room = at->room;
      const auto next = std::next(at);
      move(at, {of_room, order.score(domain), order.rank(domain), domain});
      // The known ones come after all unknown ones, so nothing was passed over.
      at = next != entries_.end() && next->room == of_room && next->score == kUnknown
               ? next
               : entries_.lower_bound({of_room});
      continue;
    }
    least = at->room;
    found.push_back(at->domain);
    ++at;
  }
}

}  // namespace gridfold
