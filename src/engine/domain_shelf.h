// The domains of one ring in the order in which a gang would take one of them:
// the least room first, then the better score, then the lower rank. So the
// smallest that suffices is found without looking at the others.
//
// A domain in which something has changed leaves the shelf and is put back,
// with its new room, before the shelf is next searched. Scores are worked out
// only where they decide.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "topology/domain_tree.h"
#include "topology/tree_packing.h"

namespace gridfold {

class DomainShelf {
 public:
  // The nearest ring of a level, of which those that lie in the level `inside`
  // (if that is not empty).
  struct Ring {
    std::string level;
    std::string inside;
    friend bool operator==(const Ring&, const Ring&) = default;
  };
  struct Near {
    std::vector<TreePacking::Home> homes;
    TreePacking::Others others;
  };

  DomainShelf() = default;
  DomainShelf(DomainShelf&&) = default;  // not copied: places_ point into entries_
  DomainShelf& operator=(DomainShelf&&) = default;

  // `epoch`: of the policy's scores.
  bool holds(const Ring& ring, std::uint64_t epoch) const {
    return is_filled_ && ring_ == ring && epoch_ == epoch;
  }
  // `room`, here and below: by domain.
  void fill(const Ring& ring, std::uint64_t epoch, const DomainTree& tree,
            std::span<const DomainId> domains, std::span<const std::int64_t> room);

  // Room or score may have changed.
  void take_off(DomainId domain) {
    if (!is_filled_ || stands_[domain.value] == 0) return;
    stands_[domain.value] = 0;
    off_.push_back(domain);
  }

  // Up to `count` of the domains with the least room that holds all the units, in
  // order; how many hold them, and the first of those with more room.
  void nearest(std::int64_t units, std::size_t count, std::span<const std::int64_t> room,
               DomainOrder& order, Near& near);

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
  Entries::iterator best_from(std::int64_t room, DomainOrder& order);

  bool is_filled_ = false;
  Ring ring_;
  std::uint64_t epoch_ = 0;
  Entries entries_;
  std::map<std::int64_t, std::int32_t> with_room_;  // how many have it; more than none
  std::vector<DomainId> domains_;                   // those that have entries, in order of id
  std::vector<Entries::iterator> places_;           // beside them
  std::vector<std::uint8_t> stands_;                // by domain: its entry is up to date
  std::vector<DomainId> off_;                       // whose entries are not
};

}  // namespace gridfold
