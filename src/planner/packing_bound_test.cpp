#include "planner/packing_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"

namespace gridfold {
namespace {

constexpr double kNear = 1e-6;

PackingNodeType nodes(std::int64_t count, std::int64_t cores, std::int32_t devices,
                      std::string model = "a") {
  return {MilliCores(cores * 1000), devices, std::move(model), count};
}
PackingClass slice(std::int64_t thousandths, std::int64_t tasks, std::int64_t millicores = 0) {
  return {MilliCores(millicores), 1, DeviceShare(thousandths), {}, tasks};
}
PackingClass whole(std::int32_t devices, std::int64_t tasks, std::int64_t millicores = 0) {
  return {MilliCores(millicores), devices, kWholeDevice, {}, tasks};
}

PackingBounds bounds_of(PackingProblem problem) {
  auto bounds = PackingBounds::make(std::move(problem));
  EXPECT_TRUE(bounds) << (bounds ? "" : bounds.error().describe());
  return std::move(*bounds);
}
std::string error_of(const Result<PackingBounds>& bounds) {
  return bounds ? "accepted" : bounds.error().describe();
}

// Two slices of 0.6 do not share a device, however many there are.
TEST(PackingBound, SlicesThatDoNotPairLeaveTheirRest) {
  auto bounds = bounds_of({{nodes(1, 8, 1), nodes(1, 8, 1)}, {slice(600, 5)}});
  const auto arrived = bounds.arrived(1.5);
  ASSERT_TRUE(arrived);
  EXPECT_NEAR(arrived->configuration_ratio, 0.6, kNear);
  EXPECT_NEAR(arrived->fluid_ratio, 1, kNear);
  EXPECT_NEAR(arrived->ratio(), 0.6, kNear);
  EXPECT_NEAR(bounds.lossless()->configuration_ratio, 0.6, kNear);
}

// 0.7 + 0.3 fill a device; there are half as many of the small ones.
TEST(PackingBound, PairsAreAsManyAsTheRarerPartner) {
  auto bounds = bounds_of({{nodes(10, 8, 1)}, {slice(700, 10), slice(300, 5)}});
  EXPECT_NEAR(bounds.arrived(0.85)->ratio(), 0.85, kNear);
  EXPECT_NEAR(bounds.arrived(1.7)->ratio(), 1, kNear);
  // One device more than the workload's 10 large ones fill is not there.
  EXPECT_NEAR(bounds.lossless()->configuration_ratio, 0.85, kNear);
}

TEST(PackingBound, CpuBindsWithinTheNodeAndInThePool) {
  auto bounds = bounds_of({{nodes(4, 6, 2)}, {whole(1, 8, 4000)}});
  const auto bound = bounds.arrived(1);
  EXPECT_NEAR(bound->configuration_ratio, 0.5, kNear);  // one task a node
  EXPECT_NEAR(bound->fluid_ratio, 0.75, kNear);         // 24 cores hold six
}

// CPU needs below half a core are rounded away; the fluid bound counts them.
TEST(PackingBound, TheFluidBoundIsLowerWhereSmallCpuNeedsBind) {
  auto bounds = bounds_of({{nodes(1, 1, 8)}, {whole(1, 8, 400)}});
  const auto bound = bounds.arrived(1);
  EXPECT_NEAR(bound->configuration_ratio, 1, kNear);
  EXPECT_NEAR(bound->fluid_ratio, 2.5 / 8, kNear);
  EXPECT_NEAR(bound->ratio(), 2.5 / 8, kNear);
}

// Eight one-device tasks arrive with as many cores asked for beside them.
TEST(PackingBound, LosslessCountsTasksWithoutDevices) {
  PackingClass processors{MilliCores(4000), 0, kWholeDevice, {}, 8};
  auto bounds = bounds_of({{nodes(2, 16, 4)}, {whole(1, 8, 1000), processors}});
  // Of 32 cores, each device asked for brings 1 + 4.
  EXPECT_NEAR(bounds.lossless()->fluid_ratio, 32.0 / 5 / 8, kNear);
  EXPECT_NEAR(bounds.arrived(1)->ratio(), 1, kNear);  // those may be refused
}

TEST(PackingBound, ModelsAreKept) {
  PackingClass picky = whole(1, 4);
  picky.models = {"b", "b", "c"};
  auto bounds = bounds_of({{nodes(3, 8, 1, "a"), nodes(1, 8, 1, "b")}, {picky}});
  EXPECT_NEAR(bounds.arrived(1)->configuration_ratio, 0.25, kNear);
  EXPECT_NEAR(bounds.arrived(1)->fluid_ratio, 0.25, kNear);
}

TEST(PackingBound, NothingIsLosslessWhenATaskFitsNoNode) {
  auto bounds = bounds_of({{nodes(2, 8, 2)}, {whole(1, 3), whole(4, 2)}});
  EXPECT_EQ(tasks_that_fit_no_node(bounds.problem()), 2);
  EXPECT_NEAR(bounds.lossless()->ratio(), 0, kNear);
  EXPECT_NEAR(bounds.arrived(11.0 / 4)->ratio(), 0.75, kNear);
}

// Ten devices; 0.6 and 0.5 arrive one for one. After ten of each five devices
// hold pairs of 0.5 and five a 0.6, which stay.
TEST(PackingBound, WhatWasHeldEarlierStays) {
  auto bounds = bounds_of({{nodes(10, 8, 1)}, {slice(600, 1), slice(500, 1)}});
  EXPECT_NEAR(bounds.arrived(1.1)->ratio(), 0.8, kNear);
  EXPECT_NEAR(bounds.arrived(2.2)->ratio(), 1, kNear);
  EXPECT_NEAR(bounds.kept(2.2, {0.8, 1.1})->configuration_ratio, 0.8, kNear);
  // A 0.6 less early on is a pair more in the end.
  EXPECT_NEAR(bounds.kept(2.2, {0.74, 1.1})->configuration_ratio, 0.84, kNear);
  const auto impossible = bounds.kept(2.2, {0.9, 1.1});
  ASSERT_FALSE(impossible);
  EXPECT_EQ(impossible.error().kind, ErrorKind::kInfeasible);
}

TEST(PackingBound, OddSharesAndVeryLargeNodesAreCounted) {
  auto bounds = bounds_of({{nodes(3, 4000, 16)}, {slice(333, 7, 100'000), whole(8, 1, 900'000)}});
  const auto bound = bounds.arrived(1);
  ASSERT_TRUE(bound);
  EXPECT_GT(bound->configuration_ratio, 0.8);
  EXPECT_LE(bound->reached_ratio, bound->configuration_ratio + kNear);
}

TEST(PackingBound, ASmallBudgetStillGivesABound) {
  PackingProblem problem{{nodes(5, 8, 2)}, {slice(600, 3), slice(400, 3), whole(2, 2)}};
  auto bounds = PackingBounds::make(problem, {.rounds = 1});
  const auto early = bounds->arrived(1.5);
  ASSERT_TRUE(early);
  const auto full = bounds_of(problem).arrived(1.5);
  EXPECT_GE(early->configuration_ratio, full->reached_ratio - kNear);
  EXPECT_LE(early->reached_ratio, full->configuration_ratio + kNear);
}

TEST(PackingBound, RefusesWhatHasNoMeaning) {
  const auto problem = [](PackingNodeType node, PackingClass task) {
    return PackingBounds::make({{std::move(node)}, {std::move(task)}});
  };
  EXPECT_NE(error_of(problem(nodes(1, 8, 0), slice(500, 1))).find("no device"), std::string::npos);
  EXPECT_NE(error_of(problem(nodes(1, 8, 1), whole(0, 1, 1))).find("no task asks"),
            std::string::npos);
  EXPECT_NE(error_of(problem(nodes(1, 8, 1), slice(0, 1))).find("1 to 1000"), std::string::npos);
  EXPECT_NE(error_of(problem(nodes(1, 8, 1), slice(1001, 1))).find("1 to 1000"), std::string::npos);
  EXPECT_NE(error_of(problem(nodes(-1, 8, 1), slice(500, 1))).find("negative"), std::string::npos);
  PackingClass shares = whole(2, 1);
  shares.share = DeviceShare(500);
  EXPECT_NE(error_of(problem(nodes(1, 8, 2), shares)).find("several devices"), std::string::npos);
  auto bounds = bounds_of({{nodes(1, 8, 1)}, {slice(500, 1)}});
  for (const double share : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    const auto bound = bounds.arrived(share);
    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().kind, ErrorKind::kInvalid);
  }
  EXPECT_FALSE(bounds.kept(1, {0.5, 1.1}));
}

// The best choice among a few tasks on a few nodes, by trying all.
class Exhaustive {
 public:
  explicit Exhaustive(const PackingProblem& problem) {
    for (const auto& type : problem.nodes) {
      for (std::int64_t i = 0; i < type.count; ++i) {
        nodes_.push_back({&type, type.cpu.value,
                          std::vector<std::int64_t>(static_cast<std::size_t>(type.devices), 1000)});
      }
    }
    for (const auto& task : problem.classes) {
      for (std::int64_t i = 0; i < task.tasks; ++i) tasks_.push_back(&task);
    }
  }

  // Devices held at best.
  double best() { return best_from(0, Refusal::kAllowed); }
  // Every task finds room.
  bool all_fit() { return best_from(0, Refusal::kNever) >= 0; }

 private:
  enum class Refusal : std::uint8_t { kAllowed, kNever };
  struct Node {
    const PackingNodeType* type;
    std::int64_t cpu;
    std::vector<std::int64_t> room;  // thousandths of each device
  };

  double best_from(std::size_t at, Refusal refusal) {
    if (at == tasks_.size()) return 0;
    const PackingClass& task = *tasks_[at];
    double most = refusal == Refusal::kAllowed ? best_from(at + 1, refusal) : -1;
    for (Node& node : nodes_) {
      if (!fits(task, *node.type) || node.cpu < task.cpu.value) continue;
      const Node before = node;
      node.cpu -= task.cpu.value;
      if (task.devices == 1) {
        for (std::size_t d = 0; d < node.room.size(); ++d) {
          if (node.room[d] < task.share.value) continue;
          node.room[d] -= task.share.value;
          most = std::max(most, with(task, at, refusal));
          node.room[d] += task.share.value;
        }
      } else if (take_whole(node, task.devices)) {
        most = std::max(most, with(task, at, refusal));
      }
      node = before;
    }
    return most;
  }

  double with(const PackingClass& task, std::size_t at, Refusal refusal) {
    const double rest = best_from(at + 1, refusal);
    return rest < 0 ? -1 : rest + task.device_need();
  }

  static bool take_whole(Node& node, std::int32_t devices) {
    for (auto& room : node.room) {
      if (devices == 0 || room != 1000) continue;
      room = 0;
      --devices;
    }
    return devices == 0;
  }

  std::vector<Node> nodes_;
  std::vector<const PackingClass*> tasks_;
};

PackingProblem random_problem(RandomStream& random) {
  PackingProblem problem;
  const auto types = random.between(1, 2);
  for (std::int64_t i = 0; i < types; ++i) {
    problem.nodes.push_back(nodes(random.between(1, 2), random.between(1, 6),
                                  static_cast<std::int32_t>(random.between(i == 0 ? 1 : 0, 2)),
                                  random.chance(1, 2) ? "a" : "b"));
  }
  const auto classes = random.between(1, 3);
  for (std::int64_t i = 0; i < classes; ++i) {
    PackingClass task = whole(static_cast<std::int32_t>(random.between(i == 0 ? 1 : 0, 2)),
                              random.between(1, 2), random.between(0, 15) * 250);
    if (task.devices == 1) task.share = DeviceShare(random.between(1, 10) * 100);
    if (random.chance(1, 4)) task.models = {"a"};
    problem.classes.push_back(task);
  }
  return problem;
}

TEST(PackingBound, IsNeverBelowTheBestOfAllPlacements) {
  RandomStream random(1, "packing_bound");
  int tight = 0;
  int lossless = 0;
  constexpr int kRounds = 500;
  for (int round = 0; round < kRounds; ++round) {
    const PackingProblem problem = random_problem(random);
    auto bounds = bounds_of(problem);
    // Exactly the tasks listed.
    const double listed = bounds.problem().device_demand() / bounds.problem().devices();
    const auto bound = bounds.arrived(listed);
    ASSERT_TRUE(bound);
    const double best = Exhaustive(problem).best() / bounds.problem().devices();
    EXPECT_GE(bound->fluid_ratio, best - kNear) << "round " << round;
    EXPECT_GE(bound->configuration_ratio, best - kNear) << "round " << round;
    EXPECT_LE(bound->reached_ratio, bound->configuration_ratio + kNear) << "round " << round;
    if (bound->ratio() < best + 1e-4) ++tight;
    if (!Exhaustive(problem).all_fit()) continue;
    ++lossless;
    EXPECT_GE(bounds.lossless()->ratio(), listed - kNear) << "round " << round;
    const auto kept = bounds.kept(listed, {listed * 0.5, listed * 0.5});
    ASSERT_TRUE(kept) << kept.error().describe();
    EXPECT_GE(kept->ratio(), best - kNear) << "round " << round;
  }
  // Not above it for nothing either.
  EXPECT_GT(tight, kRounds / 2);
  EXPECT_GT(lossless, kRounds / 4);
}

TEST(PackingBound, EqualCallsGiveEqualAnswers) {
  RandomStream random(2, "packing_bound");
  const PackingProblem problem = random_problem(random);
  const auto first = bounds_of(problem).arrived(1);
  const auto second = bounds_of(problem).arrived(1);
  EXPECT_EQ(first->configuration_ratio, second->configuration_ratio);
  EXPECT_EQ(first->rounds, second->rounds);
}

}  // namespace
}  // namespace gridfold
