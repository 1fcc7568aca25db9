// How a number of alike units is divided over the domains of a tree: tasks, or
// segments of tasks, of which so many fit beneath each domain.
//
//   TreePacking packing(tree, order);
//   packing.count(room, "");
//   for (const auto& at : packing.homes(ring, inside, 12)) …    // best first
//   packing.pack(at.domain, 12, shares);
//
// A pure count: it knows neither nodes' rooms nor policies. Among divisions of
// equal count the order decides.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/domain_tree.h"

namespace gridfold {

// Which of several equally good domains is taken: the one of the higher score,
// then of the lower rank. Ranks differ.
class DomainOrder {
 public:
  virtual ~DomainOrder() = default;
  virtual std::int64_t score(DomainId domain) = 0;
  virtual std::uint64_t rank(DomainId domain) = 0;
};

class TreePacking {
 public:
  struct Share {
    DomainId domain;
    std::int64_t units = 0;
    // Only onto the nodes that lie in the domain and in no domain of it.
    bool own_nodes_only = false;
  };
  struct Home {
    DomainId domain;
    std::int64_t measure = 0;  // domains one level down, or units in the fullest
    std::int64_t left = 0;     // room for so many more
    std::int64_t score = 0;
    std::uint64_t rank = 0;
  };

  TreePacking(const DomainTree& tree, DomainOrder& order) : tree_(tree), order_(order) {}

  // `room`, by domain: so many units fit beneath it. A unit is not divided
  // further than to the domains of `unit_level`; without one, to domains that
  // hold nodes only. The room outlives the packing.
  void count(std::span<const std::int64_t> room, std::string_view unit_level);
  std::int64_t room(DomainId domain) const { return room_[domain.value]; }

  // Counts the domains one level down over which the units lie at least.
  enum class Look : std::uint8_t { kOnlyHere, kBeneathToo };
  // Those of the ring that hold all the units and lie in `inside` (a level, or
  // empty), of them the best: fewest domains one level down (where asked for),
  // then least room left over. All that are equal in that, in order.
  std::span<const Home> homes(std::span<const DomainId> ring, std::string_view inside,
                              std::int64_t units, Look look);
  // How many of the ring hold the units and lie inside, the best ones included,
  // and the best of those that are worse by these counts (the first in the tree).
  struct Others {
    std::int32_t holding = 0;
    std::optional<Home> next;
  };
  const Others& others() const { return others_; }
  // All that hold the units, the best first, and no more than `most`; others()
  // tells of those behind the ones that are equal to the best by the counts.
  std::span<const Home> ranked_homes(std::span<const DomainId> ring, std::string_view inside,
                                     std::int64_t units, Look look, std::size_t most);
  // The same where the units are to be spread over the domains of a level
  // beneath: the least units in the fullest comes first.
  std::span<const Home> spread_homes(std::span<const DomainId> ring, std::string_view inside,
                                     std::string_view level, std::int64_t units);

  // Appends the shares of `units` <= room(domain): in one domain of the next
  // level where one holds them (the one with the least room left over), else in
  // the fewest, the largest first and the rest where the least is left over.
  void pack(DomainId domain, std::int64_t units, std::vector<Share>& shares);
  // Appends an even split over the domains of the level beneath `domain`: no
  // other puts fewer units into the fullest. Their room suffices together.
  void spread(DomainId domain, std::string_view level, std::int64_t units,
              std::vector<Share>& shares);

  std::int64_t fewest_beneath(DomainId domain, std::int64_t units);
  // Zero when they do not fit.
  std::int64_t least_in_fullest(DomainId domain, std::string_view level, std::int64_t units) const;
  std::int64_t room_at(DomainId domain, std::string_view level) const;

  std::span<const DomainId> beneath(DomainId domain, std::string_view level) const;
  bool lies_in(DomainId domain, std::string_view level) const;

 private:
  struct Piece {
    DomainId domain;
    std::int64_t room = 0;
    std::int64_t score = 0;
    std::uint64_t rank = 0;
    bool own_nodes_only = false;
  };

  bool is_last(DomainId domain) const;
  void gather(DomainId domain);
  void consider(const Home& home);
  void order_homes();

  const DomainTree& tree_;
  DomainOrder& order_;
  std::span<const std::int64_t> room_;
  std::string unit_level_;
  std::vector<Home> homes_;
  Others others_;              // beside homes_
  std::vector<Piece> pieces_;  // a stack: each domain in work has its own on top
};

}  // namespace gridfold
