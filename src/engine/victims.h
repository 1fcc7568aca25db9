// Whom to stop so that a job finds room: the set of least lost work, together
// with the domain in which the job then fits. Pure over the books; preemption,
// reclaim and consolidation differ only in whom they offer as candidates.
//
//   VictimSearch search(cluster, domains);
//   const auto found = search.find({parts, &wish, &pool, leaving_nodes});
//   if (found) for (const std::uint32_t victim : found->victims) …
//
// A candidate leaves whole, and all of its room counts: a gang on four nodes
// frees four nodes. Tasks beyond a gang's minimum are candidates of their own,
// of which only so many may go.
//
// For each domain that may hold the job as a whole (of the required level, else
// the grid; for one task: each node):
// - up to kExact candidates: branch and bound, which proves its set the best;
// - more: greedily the bundle of candidates on a node (for segments: in a domain
//   of theirs) that costs least for each place it frees, then whoever is not
//   needed is spared, the costliest first, then single victims are exchanged for
//   cheaper ones as long as that helps.
// No set that is found has a victim without whom the job would fit, and where
// stopping all candidates makes room, a set is found. The work is bounded by
// steps (a step: one candidate put in or taken out), never by time.
//
// Exact for gangs of alike tasks with one group of devices. Roles that ask for
// different things are seated greedily in two orders; so are several groups of
// devices counted by the bound that slots() gives.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/gang_placement.h"
#include "engine/victim_books.h"

namespace gridfold {

struct VictimQuestion {
  std::span<const GangPart> parts;  // of each role its minimum is needed
  const TopologyWish* wish = nullptr;
  const VictimPool* pool = nullptr;
  // Nodes on which something leaves already; its room counts as free.
  std::span<const NodeId> leaving;
  std::int64_t max_steps = 200'000;
  // What else must hold for a set (by number in the pool, sorted); empty: nothing.
  std::function<bool(std::span<const std::uint32_t>)> accepts;
};

struct VictimAnswer {
  std::vector<std::uint32_t> victims;  // by number in the pool, sorted
  std::int64_t lost = 0;
  DomainId home;  // where the job fits once they have left
  std::int64_t steps = 0;
  bool proven = false;  // no other set loses less
};

class VictimSearch {
 public:
  static constexpr std::size_t kExact = 12;    // candidates of a domain
  static constexpr std::size_t kBounded = 24;  // up to so many branch and bound is tried as well

  VictimSearch(const Cluster& cluster, DomainSlots& slots) : cluster_(cluster), slots_(slots) {}

  // Empty when the job does not fit though all candidates leave.
  std::optional<VictimAnswer> find(const VictimQuestion& question);

 private:
  struct Set {
    std::vector<std::uint32_t> victims;
    std::int64_t lost = 0;
    bool better_than(const Set& other) const {
      return lost != other.lost ? lost < other.lost : victims.size() < other.victims.size();
    }
  };
  struct Bundle {
    std::vector<std::uint32_t> victims;
    std::int64_t lost = 0;
    std::int64_t gain = 0;     // of the places that are missing; 0: there is none
    std::int64_t missing = 0;  // when it was made
    bool cheaper_than(const Bundle& other) const;
  };

  std::vector<DomainId> homes();
  void search_home(DomainId home);
  bool within_limits(std::span<const std::uint32_t> victims) const;
  void offer(DomainId home, Set set);

  // --- branch and bound ---
  void solve_exactly(DomainId home);
  void branch(DomainId home, std::size_t at, Set& chosen);

  // --- greedily ---
  void solve_greedily(DomainId home);
  void index_regions();
  bool complete(Set& set, std::int64_t below);
  std::optional<std::size_t> cheapest_region();
  void forget_bundles_with(std::uint32_t candidate);
  Bundle bundle_of(std::size_t region);
  void prune(Set& set);
  bool exchange(Set& set);
  void add_to(Set& set, std::uint32_t candidate);
  void choose(std::uint32_t candidate);  // it goes
  void spare(std::uint32_t candidate);   // it stays after all

  bool may_go(std::uint32_t candidate) const;
  std::int64_t lost_by(std::uint32_t candidate) const {
    return question_->pool->candidates[candidate].lost;
  }
  // A first set is always looked for, unless it needs approval.
  bool is_spent() const { return steps_ >= question_->max_steps && (best_ || question_->accepts); }

  const Cluster& cluster_;
  DomainSlots& slots_;
  VictimBooks books_{cluster_, slots_};

  // Of the question being answered.
  const VictimQuestion* question_ = nullptr;
  std::vector<std::uint32_t> order_;    // candidates of the home, the costliest first
  std::vector<std::int32_t> of_group_;  // how many of each group are chosen
  std::vector<bool> chosen_;            // by candidate
  std::vector<Bundle> bundles_;         // by region of the home
  std::vector<bool> stale_;             // likewise: to be made anew
  // Regions of each candidate: of c those from region_ends_[c - 1] on.
  std::vector<std::uint32_t> region_lists_, region_ends_;
  std::int64_t steps_ = 0;
  bool proven_ = false;
  std::optional<Set> best_;
  DomainId best_home_;
};

}  // namespace gridfold
