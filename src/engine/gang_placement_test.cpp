// GangPlacer on random small clusters: what it plans can be booked, keeps its
// topology and is as large as it can be; what it refuses does not fit.
#include "engine/gang_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace gridfold {
namespace {

// Fuller nodes first.
class Fullest final : public PlacementPolicy {
 public:
  std::string_view name() const override { return "fullest"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {-node.cpu, first_fit_devices(node, request)};
  }
};

class Grid {
 public:
  explicit Grid(GangCost* cost = nullptr)
      : slots(cluster, policy), placer(cluster, slots, TieBreak::kLowestName, 0, cost) {}

  void add(const std::string& name, std::vector<DomainStep> domains, int gpus, int npus = 0) {
    NodeRecord record;
    record.spec.name = name;
    record.spec.cpu = MilliCores(64'000);
    record.spec.memory = Bytes(std::int64_t{1} << 40);
    for (int i = 0; i < gpus; ++i) record.spec.devices.push_back({"gpu", "G", Bytes(80ll << 30)});
    for (int i = 0; i < npus; ++i) record.spec.devices.push_back({"npu", "N", Bytes(32ll << 30)});
    record.spec.domains = std::move(domains);
    record.up = true;
    cluster.put(std::move(record));
  }
  const Request& request(int gpus, int npus = 0) {
    TaskRequest task;
    task.cpu = MilliCores(1000);
    task.memory = Bytes(1 << 30);
    if (gpus > 0) task.devices.push_back({"gpu", gpus});
    if (npus > 0) task.devices.push_back({"npu", npus});
    return cluster.compile(task);
  }
  const GangPlan* plan(std::vector<GangPart> of, const TopologyWish& wish) {
    parts = std::move(of);
    return placer.plan({parts, &wish}, random);
  }
  std::string domain_at(NodeId node, const std::string& level) {
    const DomainTree& tree = slots.tree();
    for (DomainId at = tree.domain_of(node); !at.is_none(); at = tree.parent(at)) {
      if (tree.level_name(at) == level) return tree.path(at);
    }
    return "";
  }

  Cluster cluster;
  Fullest policy;
  DomainSlots slots;
  GangPlacer placer;
  RandomStream random{0, "gang.test"};
  std::vector<GangPart> parts;
};

// Books the plan; false when a seat does not fit where it is said to.
bool can_be_booked(Grid& grid, const GangPlan& plan) {
  bool fits = true;
  std::vector<std::pair<NodeId, TaskId>> taken;
  std::uint32_t task = 0;
  for (std::size_t p = 0; p < grid.parts.size() && fits; ++p) {
    for (const GangSeat& seat : plan.seats_of(p)) {
      const Request& request = *grid.parts[p].request;
      fits = Cluster::fits_exactly(grid.cluster.room(seat.node), request, seat.allocation());
      if (!fits) break;
      taken.emplace_back(seat.node, TaskId{JobId(1000), task++});
      grid.cluster.take(seat.allocation(), taken.back().second, request);
    }
  }
  for (auto it = taken.rbegin(); it != taken.rend(); ++it)
    grid.cluster.give_back(it->first, it->second);
  return fits;
}

void draw_nodes(RandomStream& random, Grid& grid) {
  const std::int64_t nodes = random.between(2, 12);
  for (std::int64_t n = 0; n < nodes; ++n) {
    std::vector<DomainStep> domains;
    if (!random.chance(1, 10)) domains.emplace_back("zone", std::to_string(random.below(2)));
    if (!random.chance(1, 10)) domains.emplace_back("rack", std::to_string(random.below(3)));
    grid.add("n" + std::to_string(n), domains, static_cast<int>(random.between(0, 4)),
             static_cast<int>(random.between(0, 2)));
  }
  // Some of it is in use.
  const Request& one = grid.request(1);
  for (std::uint32_t n = 0; n < grid.cluster.size(); ++n) {
    if (!random.chance(1, 3) || !fits(grid.cluster.room(NodeId(n)), one)) continue;
    grid.cluster.take({NodeId(n), first_fit_devices(grid.cluster.room(NodeId(n)), one)},
                      {JobId(1), n}, one);
  }
}

TopologyWish draw_wish(RandomStream& random) {
  TopologyWish wish;
  if (random.chance(1, 2)) wish.require = random.chance(1, 4) ? "node" : "zone";
  if (wish.require == "node") return wish;
  switch (random.below(4)) {
    case 0: wish.prefer = random.chance(1, 3) ? "node" : "rack"; break;
    case 1: wish.spread = random.chance(1, 3) ? "node" : "rack"; break;
    case 2: wish.segments = Segments{2, random.chance(1, 3) ? "node" : "rack"}; break;
    default: break;
  }
  return wish;
}

// The most tasks that fit as the wish allows, by counting.
std::int64_t most(Grid& grid, const Request& request, const TopologyWish& wish) {
  const std::string part_level = wish.segments ? wish.segments->within : wish.spread;
  std::map<std::string, std::map<std::string, std::int64_t>> rooms;
  for (std::uint32_t n = 0; n < grid.cluster.size(); ++n) {
    const std::string home =
        wish.require.empty() ? "grid" : grid.domain_at(NodeId(n), wish.require);
    const std::string part = part_level.empty() ? "all" : grid.domain_at(NodeId(n), part_level);
    if (home.empty() || part.empty()) continue;
    rooms[home][part] += slots(grid.cluster.room(NodeId(n)), request);
  }
  std::int64_t best = 0;
  for (const auto& [home, parts] : rooms) {
    std::int64_t held = 0;
    for (const auto& [part, room] : parts)
      held += wish.segments ? room / wish.segments->size * wish.segments->size : room;
    best = std::max(best, held);
  }
  return best;
}

void expect_kept(Grid& grid, const TopologyWish& wish, const GangPlan& plan) {
  if (!wish.require.empty()) {
    std::set<std::string> used;
    for (const GangSeat& seat : plan.seats) used.insert(grid.domain_at(seat.node, wish.require));
    EXPECT_EQ(used.size(), 1u);
    EXPECT_EQ(used.count(""), 0u);
  }
  if (!wish.segments) return;
  for (std::size_t i = 0; i < plan.seats.size(); ++i) {
    const std::size_t first = i - i % static_cast<std::size_t>(wish.segments->size);
    EXPECT_EQ(grid.domain_at(plan.seats[i].node, wish.segments->within),
              grid.domain_at(plan.seats[first].node, wish.segments->within));
  }
}

TEST(GangPlacer, PlacesAsManyAsFitAndKeepsTheTopology) {
  int placed = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "gang");
    Grid grid;
    draw_nodes(random, grid);
    const TopologyWish wish = draw_wish(random);
    const Request& request = grid.request(static_cast<int>(random.between(0, 2)));
    const std::int64_t size = wish.segments ? 2 : 1;
    GangPart part{&request, random.between(1, 8) * size, 0};
    part.min = random.between(1, part.tasks / size) * size;
    const std::int64_t fits = std::min(most(grid, request, wish), part.tasks);
    const GangPlan* plan = grid.plan({part}, wish);
    ASSERT_EQ(plan != nullptr, fits >= part.min) << fits << " of " << part.min;
    if (plan == nullptr) continue;
    ++placed;
    EXPECT_EQ(static_cast<std::int64_t>(plan->seats.size()), fits);
    EXPECT_TRUE(can_be_booked(grid, *plan));
    expect_kept(grid, wish, *plan);
    for (std::size_t i = 1; i < plan->seats.size(); ++i) {
      const DomainTree& tree = grid.slots.tree();
      EXPECT_LE(tree.domain_of(plan->seats[i - 1].node), tree.domain_of(plan->seats[i].node));
    }
  }
  EXPECT_GT(placed, 300);
}

// Counts of requests with several device groups are only bounds.
TEST(GangPlacer, SeveralDeviceGroupsAreNeverOverbooked) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "gang");
    Grid grid;
    draw_nodes(random, grid);
    const TopologyWish wish = draw_wish(random);
    const std::int64_t size = wish.segments ? 2 : 1;
    const std::int64_t tasks = random.between(1, 4) * size;
    const GangPlan* plan = grid.plan({{&grid.request(1, 1), tasks, tasks}}, wish);
    if (plan == nullptr) continue;
    EXPECT_EQ(static_cast<std::int64_t>(plan->seats.size()), tasks);
    EXPECT_TRUE(can_be_booked(grid, *plan));
    expect_kept(grid, wish, *plan);
  }
}

TEST(GangPlacer, RolesOfDifferentRequestsStayTogether) {
  int placed = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "gang");
    Grid grid;
    draw_nodes(random, grid);
    const TopologyWish wish = draw_wish(random);
    std::int64_t first = random.between(1, 4);
    std::int64_t second = random.between(1, 4);
    if (wish.segments) second += (first + second) % 2;
    const GangPlan* plan =
        grid.plan({{&grid.request(2), first, first}, {&grid.request(1), second, second}}, wish);
    if (plan == nullptr) continue;
    ++placed;
    EXPECT_EQ(static_cast<std::int64_t>(plan->seats_of(0).size()), first);
    EXPECT_EQ(static_cast<std::int64_t>(plan->seats_of(1).size()), second);
    EXPECT_TRUE(can_be_booked(grid, *plan));
    expect_kept(grid, wish, *plan);
  }
  EXPECT_GT(placed, 200);
}

class ByName final : public DomainOrder {
 public:
  ByName(DomainSlots& slots, const Request& request) : slots_(slots), request_(request) {}
  std::int64_t score(DomainId domain) override { return slots_.best_score(request_, domain); }
  std::uint64_t rank(DomainId domain) override { return domain.value; }

 private:
  DomainSlots& slots_;
  const Request& request_;
};

// The racks with the least room that suffices, by score and name, as they would
// be found by looking at all of them.
void expect_nearest(Grid& grid, const Request& request, const std::vector<std::int64_t>& room,
                    const std::vector<std::int64_t>& best, RandomStream& random) {
  const auto tasks = static_cast<std::int64_t>(1 + random.below(13));
  const DomainShelf::Ring ring{random.chance(1, 3) ? "" : "rack",
                               random.chance(1, 3) ? "rack" : ""};
  const std::size_t count = 1 + random.below(3);
  std::vector<DomainId> expected;
  for (const DomainId rack : grid.slots.tree().domains_at("rack")) {
    if (room[rack.value] >= tasks) expected.push_back(rack);
  }
  std::stable_sort(expected.begin(), expected.end(), [&](DomainId a, DomainId b) {
    return std::pair(room[a.value], -best[a.value]) < std::pair(room[b.value], -best[b.value]);
  });
  const auto worse = std::find_if(expected.begin(), expected.end(), [&](DomainId rack) {
    return room[rack.value] > room[expected.front().value];
  });
  ByName order(grid.slots, request);
  DomainShelf::Near near;
  grid.slots.nearest(request, ring, tasks, count, order, near);
  ASSERT_EQ(near.others.holding, static_cast<std::int32_t>(expected.size()));
  ASSERT_EQ(near.others.next.has_value(), worse != expected.end());
  if (worse != expected.end()) {
    ASSERT_EQ(near.others.next->domain, *worse);
  }
  expected.erase(worse, expected.end());
  expected.resize(std::min(expected.size(), count));
  std::vector<DomainId> found;
  for (const TreePacking::Home& home : near.homes) {
    ASSERT_EQ(home.left, room[home.domain.value] - tasks);
    found.push_back(home.domain);
  }
  ASSERT_EQ(found, expected);
}

// The counts follow the books, whatever changes in between.
TEST(DomainSlots, FollowTheBooks) {
  RandomStream random(1, "slots");
  Grid grid;
  for (int n = 0; n < 12; ++n)
    grid.add("n" + std::to_string(n), {{"rack", std::to_string(n / 3)}}, 4);
  const Request& request = grid.request(1);
  std::vector<std::pair<NodeId, TaskId>> held;
  for (std::uint32_t step = 0; step < 2000; ++step) {
    const NodeId node(static_cast<std::uint32_t>(random.below(grid.cluster.size())));
    if (random.chance(1, 20)) {
      NodeRecord record = grid.cluster.record(node);
      record.drained = !record.drained;
      grid.cluster.set_status(record);
    } else if (random.chance(1, 2) && !held.empty()) {
      const std::size_t i = random.below(held.size());
      grid.cluster.give_back(held[i].first, held[i].second);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (fits(grid.cluster.room(node), request)) {
      const TaskId task{JobId(1), step};
      grid.cluster.take({node, first_fit_devices(grid.cluster.room(node), request)}, task, request);
      held.emplace_back(node, task);
    }
    if (step == 1000) grid.add("late", {{"rack", "0"}}, 4);
    if (!random.chance(1, 5)) continue;
    const auto& row = grid.slots.row(request);
    const DomainTree& tree = grid.slots.tree();
    std::vector<std::int64_t> counted(tree.size(), 0);
    std::vector<std::int64_t> best(tree.size(), DomainSlots::kNoScore);
    std::int32_t feasible = 0;
    for (std::uint32_t n = 0; n < grid.cluster.size(); ++n) {
      const NodeRoom room = grid.cluster.room(NodeId(n));
      const std::int64_t here = grid.cluster.usable(NodeId(n)) ? slots(room, request) : 0;
      feasible += here > 0;
      for (DomainId at = tree.domain_of(NodeId(n)); !at.is_none(); at = tree.parent(at)) {
        counted[at.value] += here;
        if (here > 0)
          best[at.value] = std::max(best[at.value], grid.policy.choose(room, request).score);
      }
    }
    ASSERT_EQ(row.slots, counted) << step;
    ASSERT_EQ(row.feasible_nodes, feasible);
    expect_nearest(grid, request, counted, best, random);
    for (std::uint32_t d = 0; d < tree.size(); ++d)
      ASSERT_EQ(grid.slots.best_score(request, DomainId(d)), best[d]) << step << " " << d;
  }
}

// Racks that are equal by their counts are told apart by the expected cost.
TEST(GangPlacer, CostDecidesBetweenEquals) {
  class FarIsCheap final : public GangCost {
   public:
    std::optional<StepTime> cost(const Gang&, std::span<const GangSeat> seats) override {
      return StepTime{.step = Duration{-static_cast<std::int64_t>(seats.front().node.value)}};
    }
  };
  FarIsCheap cost;
  Grid plain;
  Grid weighed(&cost);
  for (Grid* grid : {&plain, &weighed}) {
    for (int n = 0; n < 6; ++n)
      grid->add("n" + std::to_string(n), {{"rack", std::to_string(n / 2)}}, 4);
  }
  const TopologyWish wish;
  EXPECT_EQ(plain.plan({{&plain.request(4), 2, 2}}, wish)->seats.front().node, NodeId(0));
  EXPECT_EQ(weighed.plan({{&weighed.request(4), 2, 2}}, wish)->seats.front().node, NodeId(4));
}

}  // namespace
}  // namespace gridfold
