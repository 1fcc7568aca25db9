#include "topology/placement_search.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "topology/test_fabric.h"

namespace gridfold {
namespace {

JobTraffic data_parallel(std::int32_t ranks, std::int64_t mebibytes) {
  JobTraffic job;
  job.data = ranks;
  job.compute = Duration::milliseconds(5);
  job.exchanges = {{Collective::kAllReduce, RankAxis::kData, Bytes(mebibytes << 20)}};
  return job;
}

std::optional<PlacementPlan> search(const Machine& machine, const std::vector<std::uint64_t>& free,
                                    const GangRequest& request,
                                    PlacementSearchOptions options = {}) {
  ExpectedTime expected(*machine.traffic);
  PlacementSearch at(expected, options);
  return *at.find(free, request);
}

std::set<std::uint32_t> nodes_of(const PlacementPlan& plan) {
  std::set<std::uint32_t> nodes;
  for (const TaskPlace& task : plan.tasks) nodes.insert(task.node.value);
  return nodes;
}

TEST(RankMap, TensorGroupsStayInOneNode) {
  const Machine machine = racks_of(2, 2, eight_linked(), 400);
  ExpectedTime expected(*machine.traffic);
  RankMapper mapper(expected);
  JobTraffic job;
  job.tensor = 4;
  job.pipeline = 2;
  job.data = 2;
  job.exchanges = {{Collective::kAllReduce, RankAxis::kTensor, Bytes(64 << 20), 40},
                   {Collective::kAllReduce, RankAxis::kData, Bytes(64 << 20)}};
  // Two devices a task, told in an order that mixes the nodes.
  std::vector<TaskPlace> tasks;
  for (const std::uint64_t devices : {0x3, 0xC, 0x30, 0xC0}) {
    tasks.push_back({NodeId(3), devices});
    tasks.push_back({NodeId(0), devices});
  }
  mapper.map(job, tasks, 100);
  for (std::size_t i = 0; i < tasks.size(); i += 2) EXPECT_EQ(tasks[i].node, tasks[i + 1].node);
}

TEST(RankMap, GroupsThatFillANodeComeBeforeWhatIsLeftOver) {
  const Machine machine = racks_of(1, 3, eight_linked(), 100);
  ExpectedTime expected(*machine.traffic);
  RankMapper mapper(expected);
  JobTraffic job;
  job.tensor = 4;
  job.data = 3;
  job.exchanges = {{Collective::kAllReduce, RankAxis::kTensor, Bytes(64 << 20), 40}};
  std::vector<TaskPlace> tasks;  // 3, 4 and 5 devices on three nodes
  for (std::uint32_t node = 0; node < 3; ++node) {
    for (std::uint32_t d = 0; d < 3 + node; ++d) {
      tasks.push_back({NodeId(node), std::uint64_t{1} << d});
    }
  }
  mapper.map(job, tasks, 100);
  int split = 0;
  for (std::size_t group = 0; group < 3; ++group) {
    const auto first = tasks.begin() + static_cast<std::ptrdiff_t>(4 * group);
    split += std::all_of(first, first + 4,
                         [&](const TaskPlace& task) { return task.node == first->node; })
                 ? 0
                 : 1;
  }
  EXPECT_EQ(split, 1);
}

TEST(RankMap, TheOrderInWhichTasksAreToldDoesNotMatter) {
  const Machine machine = racks_of(2, 2, four_on_pcie(), 100);
  ExpectedTime expected(*machine.traffic);
  RankMapper mapper(expected);
  JobTraffic job;
  job.pipeline = 4;
  job.data = 2;
  job.exchanges = {{Collective::kSendReceive, RankAxis::kPipeline, Bytes(8 << 20), 8},
                   {Collective::kAllReduce, RankAxis::kData, Bytes(256 << 20)}};
  std::vector<TaskPlace> tasks;
  for (std::uint32_t node = 0; node < 4; ++node) {
    tasks.push_back({NodeId(node), 1});
    tasks.push_back({NodeId(node), 4});
  }
  std::vector<TaskPlace> reversed(tasks.rbegin(), tasks.rend());
  const RankMap one = mapper.map(job, tasks, 200);
  const RankMap other = mapper.map(job, reversed, 200);
  EXPECT_EQ(tasks, reversed);
  EXPECT_EQ(one.expected.step, other.expected.step);
  EXPECT_LE(one.evaluations, 200);
}

TEST(PlacementSearch, TakesTheNarrowestDomainThatHoldsTheGang) {
  const Machine machine = racks_of(3, 4, eight_linked(), 200);
  std::vector<std::uint64_t> free(12, 0xFF);
  free[0] = free[1] = free[2] = 0;  // rack-0 has one node, rack-1 four, rack-2 two
  free[8] = free[11] = 0;
  const auto plan = search(machine, free, {2, 8, data_parallel(16, 512)});
  ASSERT_TRUE(plan);
  EXPECT_EQ(nodes_of(*plan), (std::set<std::uint32_t>{9, 10}));  // best fit: rack-2
}

TEST(PlacementSearch, GoesRoundABusyWayUp) {
  Machine machine = racks_of(4, 2, eight_linked(), 800);
  machine.traffic->add({machine.rack("rack-0"), -1, gigabits(700), 4});
  machine.traffic->add({machine.rack("rack-1"), -1, gigabits(700), 4});
  const std::vector<std::uint64_t> free(8, 0xFF);
  const auto plan = search(machine, free, {4, 8, data_parallel(32, 1'024)});
  ASSERT_TRUE(plan);
  EXPECT_EQ(nodes_of(*plan), (std::set<std::uint32_t>{4, 5, 6, 7}));
}

TEST(PlacementSearch, PutsASmallGangOnOneIsland) {
  NodeWiring layout = eight_linked();
  for (std::size_t i = 0; i < 8; ++i) layout.devices[i].island = static_cast<std::int32_t>(i / 4);
  const Machine machine = racks_of(1, 2, layout, 800);
  const auto plan = search(machine, {0b0111'1011, 0}, {3, 1, data_parallel(3, 256)});
  ASSERT_TRUE(plan);
  std::uint64_t devices = 0;
  for (const TaskPlace& task : plan->tasks) devices |= task.devices;
  EXPECT_TRUE((devices & 0x0F) == 0 || (devices & 0xF0) == 0) << devices;
}

TEST(PlacementSearch, IsEmptyWhenTheGangDoesNotFit) {
  const Machine machine = racks_of(1, 2, eight_linked(), 800);
  // 10 devices free, but no node has 8 of them.
  EXPECT_FALSE(search(machine, {0x1F, 0x1F}, {1, 8, data_parallel(8, 1)}));
  EXPECT_FALSE(search(machine, {0xFF, 0x7F}, {2, 8, data_parallel(16, 1)}));
  EXPECT_TRUE(search(machine, {0xFF, 0xFF}, {2, 8, data_parallel(16, 1)}));
}

TEST(PlacementSearch, NamesTheFieldThatIsWrong) {
  const Machine machine = racks_of(1, 2, eight_linked(), 800);
  ExpectedTime expected(*machine.traffic);
  PlacementSearch at(expected);
  const auto field = [&](std::vector<std::uint64_t> free, const GangRequest& request) {
    const auto plan = at.find(free, request);
    return plan ? std::string("accepted") : plan.error().field;
  };
  EXPECT_EQ(field({1, 1}, {2, 1, data_parallel(2, 1)}), "accepted");
  EXPECT_EQ(field({1, 1}, {2, 1, data_parallel(3, 1)}), "traffic");
  EXPECT_EQ(field({1, 1}, {0, 1, data_parallel(1, 1)}), "tasks");
  EXPECT_EQ(field({1}, {1, 1, data_parallel(1, 1)}), "free");
  EXPECT_EQ(field({1, 0x100}, {1, 1, data_parallel(1, 1)}), "free[1]");
  EXPECT_EQ(field({1, 1}, {2, 1, data_parallel(-2, 1)}), "data");
}

RC_GTEST_PROP(PlacementSearchProperty, PlansTakeFreeDevicesOnceAndNoMoreWorkThanAllowed, ()) {
  const Machine machine = racks_of(3, 2, four_on_pcie(), 100);
  std::vector<std::uint64_t> free;
  int slots = 0;
  const auto each = *rc::gen::inRange(1, 4);
  for (int node = 0; node < 6; ++node) {
    free.push_back(*rc::gen::inRange<std::uint64_t>(0, 16));
    slots += std::popcount(free.back()) / each;
  }
  const auto tasks = *rc::gen::inRange(1, 8);
  const PlacementSearchOptions options{.max_evaluations = 200};
  const auto plan = search(machine, free, {tasks, each, data_parallel(tasks * each, 64)}, options);
  RC_ASSERT(plan.has_value() == (tasks <= slots));
  if (!plan) return;
  RC_ASSERT(plan->evaluations <= options.max_evaluations + 9);  // the last filling's orders
  RC_ASSERT(plan->tasks.size() == static_cast<std::size_t>(tasks));
  for (const TaskPlace& task : plan->tasks) {
    RC_ASSERT(std::popcount(task.devices) == each);
    RC_ASSERT((free[task.node.value] & task.devices) == task.devices);
    free[task.node.value] &= ~task.devices;
  }
  const auto again = search(
      machine,
      [&] {
        auto whole = free;
        for (const TaskPlace& task : plan->tasks) whole[task.node.value] |= task.devices;
        return whole;
      }(),
      {tasks, each, data_parallel(tasks * each, 64)}, options);
  RC_ASSERT(again->tasks == plan->tasks);
}

// The best of all ways of giving two devices each to two tasks, by the same model.
Duration best_of_all(const Machine& machine, std::span<const std::uint64_t> free,
                     const JobTraffic& job) {
  std::vector<TaskPlace> pairs;
  for (std::uint32_t node = 0; node < free.size(); ++node) {
    for (std::uint64_t devices = 0; devices < 16; ++devices) {
      if (std::popcount(devices) == 2 && (free[node] & devices) == devices) {
        pairs.push_back({NodeId(node), devices});
      }
    }
  }
  ExpectedTime expected(*machine.traffic);
  Duration best = Duration::hours(1);
  std::vector<Place> places;
  for (const TaskPlace& a : pairs) {
    for (const TaskPlace& b : pairs) {
      if (a.node == b.node && (a.devices & b.devices) != 0) continue;
      places_of(*machine.fabric, std::vector{a, b}, places);
      best = std::min(best, expected.step(job, places).step);
    }
  }
  return best;
}

TEST(PlacementSearch, FindsTheBestOfAllWaysForSmallGangs) {
  Machine machine = racks_of(2, 2, four_on_pcie(), 100);
  machine.traffic->add({machine.tree->domain_of(NodeId(1)), 0, gigabits(60)});
  RandomStream random(1, "small gangs");
  for (int i = 0; i < 50; ++i) {
    std::vector<std::uint64_t> free;
    for (int node = 0; node < 4; ++node) free.push_back(3 + random.below(13));
    JobTraffic job;
    job.tensor = 2;
    job.data = 2;
    job.exchanges = {{Collective::kAllReduce, RankAxis::kTensor, Bytes(random.between(1, 1 << 26)), 4},
                     {Collective::kAllReduce, RankAxis::kData, Bytes(random.between(1, 1 << 28))}};
    const auto plan = search(machine, free, {2, 2, job}, {.max_evaluations = 1'000});
    ASSERT_TRUE(plan);
    const Duration best = best_of_all(machine, free, job);
    EXPECT_EQ(plan->expected.step, best) << "instance " << i;
  }
}

}  // namespace
}  // namespace gridfold
