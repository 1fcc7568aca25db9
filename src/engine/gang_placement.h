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
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "engine/domain_slots.h"
#include "engine/engine.h"
#include "engine/node_seating.h"
#include "model/job_traffic.h"
#include "topology/step_time.h"
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
  const JobTraffic* traffic = nullptr;  // what its ranks exchange, where that is told
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
  // Where places were weighed: what these cost, and the fastest of the others.
  std::optional<StepTime> expected;
  std::optional<StepTime> otherwise;

  std::span<const GangSeat> seats_of(std::size_t part) const {
    const std::size_t first = part == 0 ? 0 : ends[part - 1];
    return std::span(seats).subspan(first, ends[part] - first);
  }
};

// How long one step of the gang takes on given seats. Weighs places against each
// other (gang_weighing.cpp says by what rule); what it says of one gang holds
// until books or nodes change.
class GangCost {
 public:
  virtual ~GangCost() = default;
  // Whether it can say anything of this gang.
  virtual bool weighs(const Gang& gang) {
    static_cast<void>(gang);
    return true;
  }
  // Empty: not known for these seats, which are sorted along the tree.
  virtual std::optional<StepTime> cost(const Gang& gang, std::span<const GangSeat> seats) = 0;
  // The same if nobody else sent anything.
  virtual std::optional<StepTime> undisturbed(const Gang& gang, std::span<const GangSeat> seats) {
    return cost(gang, seats);
  }
  // Whether others send over the domain's way up.
  virtual bool is_loaded(DomainId domain) {
    static_cast<void>(domain);
    return false;
  }
  // Domains of one kind are joined alike.
  virtual std::uint32_t kind_of(DomainId domain) {
    static_cast<void>(domain);
    return 0;
  }
  // Brings seats of alike tasks into the order of ranks in which the step is
  // fastest, as far as that was found, and gives its time.
  virtual std::optional<StepTime> order_ranks(const Gang& gang, std::span<GangSeat> seats) {
    return cost(gang, seats);
  }
};

class GangPlacer {
 public:
  // `seed` is that of TieBreak::kSeededOrder. `cost` may be null; else it
  // outlives the placer.
  GangPlacer(const Cluster& cluster, DomainSlots& slots, TieBreak tie_break, std::uint64_t seed,
             GangCost* cost = nullptr);

  // Null when the gang does not fit, valid until the next call. Draws from
  // `random` only where ties are broken at random.
  const GangPlan* plan(const Gang& gang, RandomStream& random);

 private:
  using Room = std::span<const std::int64_t>;  // by domain

  const GangPlan* plan_alike(const Gang& gang, const Request& request);
  bool plan_number(const Gang& gang, const Request& request, std::int64_t tasks);
  bool find_near(const Gang& gang, const Request& request, std::int64_t tasks);
  bool fill_first(const Gang& gang, const Request& request, std::int64_t tasks,
                  const HomeChoice& first);
  void list_rings(const TopologyWish& wish);
  // How the seats in a domain are chosen.
  enum class Fill : std::uint8_t {
    kByScore,      // rule 4
    kFewestNodes,  // likewise, but down to the nodes: the fewest of them
    kQuiet,        // like rule 4, past domains over whose way up others send
  };
  bool fill(const TopologyWish& wish, const Request& request, DomainId home, std::int64_t tasks,
            Fill how = Fill::kByScore);
  std::int64_t most_tasks(const TopologyWish& wish);
  void count_segments(const TopologyWish& wish);
  bool correct();
  HomeChoice weighed(std::span<const TreePacking::Home> homes, const TreePacking::Others& others,
                     DecidedBy measure) const;
  void sort_along_tree(std::vector<GangSeat>& seats) const;
  void number_seats(const Gang& gang, std::int64_t tasks);

  // --- gang_weighing.cpp ---
  struct Weighed {
    DomainId home;
    std::size_t ring = 0;
    std::int64_t measure = 0;
    std::int64_t left = 0;
    Fill how = Fill::kByScore;
    std::optional<StepTime> cost;
  };
  bool plan_weighed(const Gang& gang, const Request& request, std::int64_t tasks);
  void weigh_ring(const Gang& gang, const Request& request, std::int64_t tasks, std::size_t ring,
                  std::span<const TreePacking::Home> homes);
  void weigh(const Gang& gang, const Request& request, std::int64_t tasks, Weighed draft);
  void pick_homes(std::span<const TreePacking::Home> homes);
  bool may_share_nodes(std::int64_t tasks) const;
  bool is_slowed_by_others(const Gang& gang);
  std::size_t first_by_packing() const;
  std::size_t choose_weighed() const;
  std::optional<StepTime> fastest_but(std::size_t chosen) const;
  HomeChoice why_weighed(std::size_t chosen, HomeChoice by_packing) const;
  bool quieten(DomainId home, std::int64_t tasks);
  std::size_t most_weighed(const Gang& gang) const;

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
  GangCost* cost_;

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
  std::vector<std::span<const DomainId>> rings_;
  std::vector<std::vector<GangSeat>> part_seats_;
  GangPlan plan_;

  // Of the places being weighed.
  std::vector<TreePacking::Home> picked_;
  std::vector<Weighed> drafts_;
  std::vector<std::vector<GangSeat>> weighed_seats_;  // those of drafts_ come first
  std::vector<std::int64_t> quiet_room_;              // tasks, by domain beneath one home
  std::vector<NodeId> quiet_nodes_;
};

}  // namespace gridfold
