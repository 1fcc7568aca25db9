// Where the tasks of a gang go together: which domains of the tree, and which
// nodes in them. Pure over the books: a plan is made whole, or there is none.
//
//   const GangPart worker{&request, 16, 16};
//   const GangPlan* plan = placer.plan({{&worker, 1}, &wish}, random);
//   if (plan != nullptr) for (const GangSeat& seat : plan->seats_of(0)) …
//
// The rules, in order of weight:
// 1. As many tasks as the roles ask for and fit, at least their minimum.
// 2. All in one domain of the required level.
// 3. The smallest domain that holds them: of the preferred level, else one step
//    wider, and so on (without a wish from the smallest domains on). Of several,
//    first the one in which they lie in the fewest domains one level down, then
//    the one with the least room left over, then by expected cost where one is
//    given, by the best node's score, by name.
// 4. In that domain: in one domain of the next level where one holds them (again
//    the one with the least room left over), else in the fewest: the largest are
//    taken whole, and the rest goes where the least room is left over. The same
//    in each of these. In a domain of nodes only, by the policy's score.
// `spread` replaces 4 by an even split over the domains of its level: no other
// puts fewer tasks into the fullest. Segments are placed by 3 and 4 as tasks
// are, with room for whole segments counted in the domains of their level.
//
// Tasks are numbered along the tree: neighbours in rank are neighbours in it.
//
// Gangs of alike tasks get the best by these rules. Where roles ask for
// different things the domains are tried one after the other, a bounded number
// of them (gang_roles.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "engine/domain_slots.h"
#include "engine/engine.h"
#include "engine/node_seating.h"
#include "topology/tree_packing.h"

namespace gridfold {

// One role: at least `min` of `tasks` alike tasks.
struct GangPart {
  const Request* request = nullptr;
  std::int64_t tasks = 0;
  std::int64_t min = 0;
};

struct Gang {
  std::span<const GangPart> parts;
  const TopologyWish* wish = nullptr;
};

// Why the gang lies in this domain, see WhyDomain; in ids of the tree.
struct HomeChoice {
  DomainId domain = DomainTree::root();
  DomainId runner_up = DomainId::none();
  DecidedBy by = DecidedBy::kOnlyOne;
  std::int32_t feasible_domains = 1;
  std::int64_t value = 0;
  std::int64_t runner_up_value = 0;
};

struct GangPlan {
  std::vector<GangSeat> seats;    // part after part, each in order of rank
  std::vector<std::size_t> ends;  // by part: the end of its seats
  HomeChoice home;

  std::span<const GangSeat> seats_of(std::size_t part) const {
    const std::size_t first = part == 0 ? 0 : ends[part - 1];
    return std::span(seats).subspan(first, ends[part] - first);
  }
};

// What placing the gang on these seats would cost it, in any unit: less is
// better. Decides between places that are equally good by counts of domains.
class GangCost {
 public:
  virtual ~GangCost() = default;
  virtual std::int64_t cost(const Gang& gang, std::span<const GangSeat> seats) const = 0;
};

class GangPlacer {
 public:
  // `seed` is that of TieBreak::kSeededOrder. `cost` may be null; else it
  // outlives the placer.
  GangPlacer(const Cluster& cluster, DomainSlots& slots, TieBreak tie_break, std::uint64_t seed,
             const GangCost* cost = nullptr);

  // Null when the gang does not fit, valid until the next call. Draws from
  // `random` only where ties are broken at random.
  const GangPlan* plan(const Gang& gang, RandomStream& random);

 private:
  using Room = std::span<const std::int64_t>;  // by domain

  const GangPlan* plan_alike(const Gang& gang, const Request& request);
  bool plan_number(const Gang& gang, const Request& request, std::int64_t tasks);
  bool find_near(const TopologyWish& wish, const Request& request, std::int64_t tasks);
  bool plan_in(const Gang& gang, const Request& request, std::int64_t tasks,
               std::span<const TreePacking::Home> homes, const TreePacking::Others& others,
               DecidedBy measure);
  bool fill_first(const Gang& gang, const Request& request, std::int64_t tasks,
                  const HomeChoice& first);
  bool fill_cheapest(const Gang& gang, const Request& request, std::int64_t tasks,
                     const HomeChoice& first);
  bool fill(const TopologyWish& wish, const Request& request, DomainId home, std::int64_t tasks);
  std::int64_t most_tasks(const TopologyWish& wish);
  void count_segments(const TopologyWish& wish);
  bool correct();
  HomeChoice weighed(std::span<const TreePacking::Home> homes, const TreePacking::Others& others,
                     DecidedBy measure) const;
  void sort_along_tree(std::vector<GangSeat>& seats) const;
  void number_seats(const Gang& gang, std::int64_t tasks);

  using Tasks = std::vector<std::int64_t>;  // by part
  const GangPlan* plan_roles(const Gang& gang);
  bool try_roles(const Gang& gang, const Tasks& tasks);
  bool may_hold(const Gang& gang, const Tasks& tasks, DomainId home);
  bool roles_in(const Gang& gang, const Tasks& tasks, DomainId home);
  bool roles_packed(const Gang& gang, const Tasks& tasks, DomainId home, const Tasks& order);
  bool roles_spread(const Gang& gang, const Tasks& tasks, DomainId home, const Tasks& order);
  bool roles_in_segments(const Gang& gang, const Tasks& tasks, DomainId home);
  bool spread_at_most(const Gang& gang, const Tasks& tasks, DomainId home, const Tasks& order,
                      std::int64_t most);
  bool segment_in(const Gang& gang, const Tasks& tasks, DomainId domain);
  void room_beneath(const Request& request, DomainId home);
  bool seat_part(const Gang& gang, std::size_t part, const TreePacking::Share& share);
  void begin_roles(const Gang& gang);

  // Ties of domains, for one request.
  class Order final : public DomainOrder {
   public:
    explicit Order(GangPlacer& placer) : placer_(placer) {}
    std::int64_t score(DomainId domain) override;
    std::uint64_t rank(DomainId domain) override;
    const Request* request = nullptr;

   private:
    GangPlacer& placer_;
  };

  const Cluster& cluster_;
  DomainSlots& slots_;
  TieBreak tie_break_;
  std::uint64_t seed_;
  const GangCost* cost_;

  // Of the plan being made; kept for their memory.
  const DomainTree* tree_ = nullptr;
  Order order_;
  std::uint64_t salt_ = 0;
  NodeSeating seating_;
  Room room_;                               // tasks
  std::vector<std::int64_t> corrected_;     // instead, once a count proved too high
  std::vector<std::int64_t> segment_room_;  // segments
  std::vector<TreePacking::Share> segment_shares_;
  std::vector<TreePacking::Share> shares_;
  DomainShelf::Near near_;
  std::vector<DomainId> equals_;  // homes, equally good by counts, in order
  std::vector<std::vector<GangSeat>> part_seats_;
  GangPlan plan_;
  GangPlan best_plan_;
};

}  // namespace gridfold
