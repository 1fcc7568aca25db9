// The domains of one ring in the order in which a gang would take one of them:
// the least room first, then the better score, then the lower rank. So the
// smallest that suffices is found without looking at the others.
//
// A domain in which something has changed leaves the shelf and is put back,
// with its new room, before the shelf is next searched. Scores are worked out
// where they decide only.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/domain_tree.h"
#include "topology/tree_packing.h"

namespace gridfold {

class DomainShelf {
 public:
  DomainShelf() = default;
  DomainShelf(DomainShelf&&) = default;  // not copied: places_ point into entries_
  DomainShelf& operator=(DomainShelf&&) = default;

  // Which ring stands here: that of this level, in this state of the scores.
  bool holds(std::string_view level, std::uint64_t epoch) const {
    return is_filled_ && level_ == level && epoch_ == epoch;
  }
  void fill(std::string_view level, std::uint64_t epoch, const DomainTree& tree,
            std::span<const DomainId> ring, std::span<const std::int64_t> room);

  // Room or score may have changed.
  void take_off(DomainId domain) {
    if (!is_filled_ || stands_[domain.value] == 0) return;
    stands_[domain.value] = 0;
    off_.push_back(domain);
  }

  // Up to `count` of the domains that hold all the units and lie in the level
  // `inside` (if not empty): the best, and those with as much room, in order.
  void nearest(std::int64_t units, std::string_view inside, std::size_t count,
               std::span<const std::int64_t> room, const TreePacking& packing, DomainOrder& order,
               std::vector<DomainId>& found);

 private:
  static constexpr std::int64_t kUnknown = INT64_MAX;  // a score; comes first
  struct Entry {
    std::int64_t room = 0;
    std::int64_t score = kUnknown;
    std::uint64_t rank = 0;
    DomainId domain;
    friend bool operator<(const Entry& a, const Entry& b) {
      if (a.room != b.room) return a.room < b.room;
      if (a.score != b.score) return a.score > b.score;
      return a.rank != b.rank ? a.rank < b.rank : a.domain < b.domain;
    }
  };
  using Entries = std::set<Entry>;

  void put_back(std::span<const std::int64_t> room);
  void move(Entries::iterator from, const Entry& to);

  bool is_filled_ = false;
  std::string level_;
  std::uint64_t epoch_ = 0;
  Entries entries_;
  std::vector<Entries::iterator> places_;  // by domain of the ring, in order of id
  std::vector<DomainId> ring_;             // likewise
  std::vector<std::uint8_t> stands_;       // by domain: it is of the ring, and nothing has changed
  std::vector<DomainId> off_;              // of the ring; something has changed
};

}  // namespace gridfold
