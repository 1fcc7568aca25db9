#include "policies/gridfold.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/score_table.h"

namespace gridfold {
namespace {

TaskRequest task(std::int64_t cores, std::int32_t devices = 0, std::int64_t share = 1000,
                 std::vector<std::string> models = {}) {
  TaskRequest request;
  request.cpu = MilliCores(cores * 1000);
  if (devices > 0)
    request.devices.push_back({"gpu", devices, DeviceShare(share), Bytes(), std::move(models)});
  return request;
}

// A cluster under the policy; nodes are n0, n1, …
class Grid {
 public:
  explicit Grid(Gridfold& policy) : policy_(policy) {}

  NodeId add(int devices, std::int64_t cores, const std::string& model = "G") {
    NodeRecord record;
    record.up = true;
    record.spec.name = "n" + std::to_string(cluster.size());
    record.spec.cpu = MilliCores(cores * 1000);
    record.spec.memory = Bytes(std::int64_t{1} << 40);
    for (int i = 0; i < devices; ++i) {
      DeviceSpec device;
      device.device_class = "gpu";
      device.model = model;
      record.spec.devices.push_back(device);
    }
    return cluster.put(record);
  }
  void prepare() {
    policy_.prepare(cluster);
    scores.emplace(cluster, policy_, PlacementOptions{});
  }
  void arrive(const TaskRequest& request, int times = 1) {
    for (int i = 0; i < times; ++i) {
      const bool learned = policy_.observe(cluster.compile(request));
      if (settle(policy_) || learned) scores->forget_scores();
    }
  }
  std::optional<ScoreTable::Best> place(const TaskRequest& request) {
    const Request& compiled = cluster.compile(request);
    arrive(request);
    const auto best = scores->best(compiled, random_);
    if (best) cluster.take({best->node, best->devices}, TaskId{JobId(++tasks), 0}, compiled);
    return best;
  }
  void hold(NodeId node, const TaskRequest& request, std::uint64_t devices) {
    cluster.take({node, devices}, TaskId{JobId(++tasks), 0}, cluster.compile(request));
  }

  Cluster cluster;
  std::optional<ScoreTable> scores;
  std::uint64_t tasks = 0;

 private:
  Gridfold& policy_;
  RandomStream random_{0, "test"};
};

TEST(GridfoldTest, PairsSlicesThatFillADevice) {
  Gridfold policy({});
  Grid grid(policy);
  const NodeId node = grid.add(2, 64);
  grid.prepare();
  grid.arrive(task(1, 1, 470), 40);
  grid.arrive(task(1, 1, 650), 20);
  grid.arrive(task(1, 1, 320), 24);
  // 530 free beside 470, 350 free beside 650.
  grid.hold(node, task(1, 1, 470), 0b01);
  grid.hold(node, task(1, 1, 650), 0b10);
  EXPECT_EQ(policy.choose(grid.cluster.room(node), grid.cluster.compile(task(1, 1, 470))).devices,
            0b01u);
  // FGD and best fit agree on 320 beside 650, but that 530 is spoilt by 320 only
  // the prices know.
  EXPECT_EQ(policy.choose(grid.cluster.room(node), grid.cluster.compile(task(1, 1, 320))).devices,
            0b10u);
}

TEST(GridfoldTest, TasksWithoutDevicesGoWhereCpuIsToSpare) {
  Gridfold policy({});
  Grid grid(policy);
  grid.add(4, 16);  // just what its devices need
  const NodeId ample = grid.add(4, 64);
  for (int i = 0; i < 5; ++i) grid.add(4, 64);  // some of the last are kept for others
  grid.prepare();
  grid.arrive(task(4, 1), 64);
  EXPECT_EQ(grid.place(task(4))->node, ample);
}

TEST(GridfoldTest, KeepsBlocksForTasksOfManyDevices) {
  Gridfold policy({});
  Grid grid(policy);
  for (int i = 0; i < 4; ++i) grid.add(8, 64);
  grid.prepare();
  for (int i = 0; i < 8; ++i) {
    grid.arrive(task(32, 8));
    grid.arrive(task(1, 1));
  }
  // One node is opened; the others stay whole as long as it has room.
  const NodeId opened = grid.place(task(1, 1))->node;
  for (int i = 0; i < 7; ++i) EXPECT_EQ(grid.place(task(1, 1))->node, opened);
  // Nobody who fits is refused.
  for (int i = 0; i < 24; ++i) EXPECT_TRUE(grid.place(task(1, 1)));
  EXPECT_FALSE(grid.place(task(1, 1)));
}

TEST(GridfoldTest, LeavesScarceModelsToTasksTiedToThem) {
  Gridfold policy({});
  Grid grid(policy);
  for (int i = 0; i < 4; ++i) grid.add(1, 64, "R");  // n0 to n3
  for (int i = 0; i < 12; ++i) grid.add(1, 64, "G");
  grid.prepare();
  for (int i = 0; i < 100; ++i) {
    grid.arrive(task(1, 1, 1000, {"R"}));
    grid.arrive(task(1, 1));
  }
  for (int i = 0; i < 12; ++i) EXPECT_GE(grid.place(task(1, 1))->node, NodeId(4));
  EXPECT_EQ(grid.place(task(1, 1))->node, NodeId(0));
  EXPECT_EQ(grid.place(task(1, 1, 1000, {"R"}))->node, NodeId(1));
}

TEST(GridfoldTest, GuardsUntouchedLargestNodesBeforeAnythingIsKnown) {
  Gridfold policy({});
  Grid grid(policy);
  grid.add(8, 64);
  const NodeId small = grid.add(2, 64);
  grid.add(8, 64);
  grid.prepare();
  EXPECT_EQ(grid.place(task(1, 1))->node, small);
  EXPECT_EQ(grid.place(task(1, 1))->node, small);
}

TEST(GridfoldTest, DevicesOutOfUseAndForeignClassesAreWorthNothing) {
  Gridfold policy({});
  Grid grid(policy);
  const NodeId node = grid.add(2, 64);
  NodeRecord record = grid.cluster.record(node);
  record.spec.devices.push_back({"npu", "N"});
  grid.cluster.put(record);
  record = grid.cluster.record(node);
  record.dirty_devices = 0b01;
  grid.cluster.set_status(record);
  grid.prepare();
  grid.arrive(task(1, 1, 500), 32);
  EXPECT_EQ(policy.choose(grid.cluster.room(node), grid.cluster.compile(task(1, 1, 500))).devices,
            0b10u);
  TaskRequest both = task(1, 1, 500);
  both.devices.push_back({"npu", 1});
  EXPECT_EQ(policy.choose(grid.cluster.room(node), grid.cluster.compile(both)).devices, 0b110u);
}

TEST(GridfoldTest, SlicesByMemoryOnlyOpenADevice) {
  Gridfold policy({});
  Grid grid(policy);
  const NodeId node = grid.add(0, 64);
  NodeRecord record = grid.cluster.record(node);
  DeviceSpec device{"gpu", "G"};
  device.memory = Bytes(1000);
  record.spec.devices = {device, device};
  grid.cluster.put(record);
  grid.prepare();
  TaskRequest by_memory = task(1);
  by_memory.devices.push_back({"gpu", 1, DeviceShare(0), Bytes(400)});
  grid.arrive(task(1, 1), 32);
  const std::uint64_t first = grid.place(by_memory)->devices;
  EXPECT_EQ(grid.place(by_memory)->devices, first);  // the other stays whole
  EXPECT_EQ(grid.place(task(1, 1))->devices, 0b11u ^ first);
}

TEST(GridfoldTest, MultiGpuTasksRespectWhatIsKeptForLargerOnes) {
  BlockReservation kept;
  Gridfold policy({});
  Grid grid(policy);
  for (int i = 0; i < 3; ++i) grid.add(8, 64);
  grid.prepare();
  LearnedMix mix(4096);
  for (int i = 0; i < 4; ++i) mix.add(grid.cluster.compile(task(60, 8)));
  IdleLedger ledger(0);
  ledger.refresh(grid.cluster);
  kept.update(grid.cluster, ledger, mix, mix);
  // The last node first for one as large as the largest.
  EXPECT_TRUE(kept.eats_into(NodeId(2), 1, 7, 63000));
  EXPECT_TRUE(kept.eats_into(NodeId(2), 4, 4, 32000));
  EXPECT_TRUE(kept.eats_into(NodeId(2), 0, 8, 63000));  // its CPU as well
  EXPECT_FALSE(kept.eats_into(NodeId(2), 0, 8, 64000));
  EXPECT_FALSE(kept.eats_into(NodeId(2), 8, 0, 0));
  EXPECT_TRUE(kept.keeps(NodeId(2)));
  EXPECT_FALSE(kept.keeps(NodeId::none()));
}

TEST(GridfoldTest, AMixThatTurnsIsFollowedBeforeItIsLearned) {
  Gridfold policy({});
  Grid grid(policy);
  for (int i = 0; i < 40; ++i) grid.add(8, 64);
  grid.prepare();
  IdleLedger ledger(0);
  ledger.refresh(grid.cluster);
  LearnedMix mix(4096);
  LearnedMix recent(64);
  const auto arrive = [&](const TaskRequest& each, int count) {
    for (int i = 0; i < count; ++i) {
      mix.add(grid.cluster.compile(each));
      recent.add(grid.cluster.compile(each));
    }
  };
  const auto kept = [&](const LearnedMix& last) {
    BlockReservation reservation;
    reservation.update(grid.cluster, ledger, mix, last);
    int nodes = 0;
    for (std::uint32_t i = 0; i < grid.cluster.size(); ++i)
      nodes += reservation.key_of(NodeId(i)) != 0;
    return nodes;
  };
  arrive(task(1, 1), 2000);
  EXPECT_EQ(kept(recent), kept(mix));
  arrive(task(60, 8), 16);
  EXPECT_GT(kept(recent), kept(mix));
}

TEST(GridfoldTest, ReadsItsSettings) {
  EXPECT_TRUE(read_gridfold_options({.settings = {{"gridfold.window", "1000"}}}));
  EXPECT_FALSE(read_gridfold_options({.settings = {{"gridfold.window", "3"}}}));
  EXPECT_FALSE(read_gridfold_options({.settings = {{"gridfold.windows", "100"}}}));
}

TaskRequest any_task() {
  static const std::vector<std::vector<std::string>> kModels = {{}, {}, {"G"}, {"H", "G"}};
  const std::int64_t cores = *rc::gen::inRange(0, 9);
  switch (*rc::gen::inRange(0, 4)) {
    case 0: return task(cores);
    case 1: return task(cores, 1, 10 * *rc::gen::inRange(1, 100), *rc::gen::elementOf(kModels));
    case 2: return task(cores, 1, 1000, *rc::gen::elementOf(kModels));
    default: return task(cores, *rc::gen::inRange(2, 9));
  }
}

// Whatever was kept of earlier calls, a choice is the same as one made of the
// room alone, and asking does not change it; a task is refused only if it fits
// nowhere, and what is chosen can be taken.
RC_GTEST_PROP(GridfoldProperty, ChoicesArePureAndRefusalsJust, ()) {
  Gridfold policy({});
  Grid grid(policy);
  const int nodes = *rc::gen::inRange(1, 8);
  for (int i = 0; i < nodes; ++i)
    grid.add(*rc::gen::inRange(0, 9), *rc::gen::inRange(4, 65),
             *rc::gen::element<std::string>("G", "H"));
  grid.prepare();
  std::vector<std::pair<NodeId, TaskId>> held;
  std::vector<const Request*> requests;
  const int steps = *rc::gen::inRange(1, 150);
  for (int step = 0; step < steps; ++step) {
    if (!held.empty() && *rc::gen::inRange(0, 3) == 0) {
      const auto i =
          static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(held.size())));
      grid.cluster.give_back(held[i].first, held[i].second);
      if (policy.departed(*requests[i])) grid.scores->forget_scores();
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
      requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const TaskRequest asked = any_task();
    const Request& request = grid.cluster.compile(asked);
    grid.arrive(asked);
    // As from a full scan: every node touched, so that nothing kept is used.
    std::vector<Choice> kept(grid.cluster.size());
    for (std::uint32_t i = 0; i < grid.cluster.size(); ++i) {
      if (fits(grid.cluster.room(NodeId(i)), request))
        kept[i] = policy.choose(grid.cluster.room(NodeId(i)), request);
    }
    const auto best = grid.scores->best(request, *std::make_unique<RandomStream>(0, "t"));
    for (std::uint32_t i = 0; i < grid.cluster.size(); ++i) {
      if (!fits(grid.cluster.room(NodeId(i)), request)) continue;
      RC_ASSERT(best.has_value());
      RC_ASSERT(kept[i].score <= best->score);
      grid.cluster.touch(NodeId(i));
      const Choice anew = policy.choose(grid.cluster.room(NodeId(i)), request);
      RC_ASSERT(anew.score == kept[i].score);
      RC_ASSERT(anew.devices == kept[i].devices);
      RC_ASSERT(
          Cluster::fits_exactly(grid.cluster.room(NodeId(i)), request, {NodeId(i), anew.devices}));
    }
    if (!best) continue;
    const TaskId id{JobId(++grid.tasks), 0};
    grid.cluster.take({best->node, best->devices}, id, request);
    held.emplace_back(best->node, id);
    requests.push_back(&request);
  }
}

}  // namespace
}  // namespace gridfold
