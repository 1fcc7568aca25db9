// The tables of the policy `gridfold` on cases small enough to do by hand.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "policies/gridfold_churn.h"
#include "policies/gridfold_load.h"
#include "policies/gridfold_mix.h"
#include "policies/gridfold_node_value.h"
#include "policies/gridfold_stranding.h"
#include "policies/gridfold_tables.h"
#include "policies/gridfold_tightness.h"
#include "policies/test_room.h"

namespace gridfold {
namespace {

constexpr Worth kHalf = kDeviceWorth / 2;

TEST(GridfoldMixTest, OldArrivalsWeighLess) {
  LearnedMix mix(100);
  const Request old = request_for(1000, 1, 500, 0);
  const Request recent = request_for(2000, 1, 500, 1);
  mix.add(old);
  for (int i = 0; i < 100; ++i) mix.add(recent);
  const std::int64_t weight = mix.kinds().at(kind_of(old));
  EXPECT_NEAR(static_cast<double>(mix.unit()) / static_cast<double>(weight), 2.70, 0.03);  // ~ e
  EXPECT_EQ(mix.demand(0), mix.weight() * 500);
}

TEST(GridfoldMixTest, WeightsStaySmallAndTheForgottenGo) {
  LearnedMix mix(100);
  mix.add(request_for(1000, 1, 500, 0));
  for (int i = 0; i < 10000; ++i) mix.add(request_for(2000, 2, 1000, 1));
  EXPECT_EQ(mix.kinds().size(), 1u);
  EXPECT_LT(mix.unit(), std::int64_t{1} << 29);
  EXPECT_EQ(mix.demand(0), mix.weight() * 2000);
}

TEST(GridfoldMixTest, MemoryDoesNotSplitAKind) {
  LearnedMix mix(100);
  Request large = request_for(1000, 1, 500, 0);
  large.memory = 1 << 20;
  mix.add(large);
  mix.add(request_for(1000, 1, 500, 1));
  EXPECT_EQ(mix.kinds().size(), 1u);
}

TEST(GridfoldNodeValueTest, TheBestFillAtEachPriceOfACore) {
  // Halves worth half a device with 10 cores each, and thirds of 30 % with none.
  const DeviceValue value(std::vector<DeviceValue::Item>{{50, kHalf, 10000}, {30, kHalf / 2, 0}});
  EXPECT_EQ(value.of(29)[0], 0);
  EXPECT_EQ(value.of(49)[0], kHalf / 2);
  EXPECT_EQ(value.of(100)[0], 2 * kHalf);
  // A core at 0.05: a half is worth nothing more, three small ones are.
  const std::size_t twentieth = 7;
  EXPECT_EQ(cost_of_cpu(10000)[twentieth], kHalf);
  EXPECT_EQ(value.of(100)[twentieth], 3 * (kHalf / 2));
}

TEST(GridfoldNodeValueTest, CostOfCpuStaysInRange) {
  const ByCorePrice most = cost_of_cpu(INT64_MAX / 1000);
  EXPECT_EQ(most, cost_of_cpu(32'768'000));
  EXPECT_GT(most.back(), 0);
}

TEST(GridfoldStrandingTest, DevicesWithoutCpuAreStranded) {
  // Tasks for one device and 4 cores; the largest node has 2 devices, 16 cores.
  const Stranding stranding(std::vector<Stranding::Task>{{1000, 4000, 7}}, {2000, 16000});
  EXPECT_EQ(stranding.at(2000, 8000), 0);
  EXPECT_EQ(stranding.at(2000, 7000), kDeviceWorth);
  EXPECT_EQ(stranding.at(2000, 3000), 2 * kDeviceWorth);
  EXPECT_EQ(stranding.at(1000, 3000), kDeviceWorth);
  // Between the cells linearly, beyond the table as at its edge.
  EXPECT_EQ(stranding.at(2000, 7500), kHalf);
  EXPECT_EQ(stranding.at(9000, 7000), kDeviceWorth);
  EXPECT_EQ(stranding.at(2000, 900000), 0);
}

TEST(GridfoldStrandingTest, ATaskAtRandomOfThoseThatFit) {
  // 4 cores, one device: a hungry task leaves none, a modest one leaves none idle.
  const Stranding stranding(std::vector<Stranding::Task>{{500, 4000, 1}, {500, 1000, 3}},
                            {1000, 64000});
  // A quarter take all cores and strand one half; of the others with 3 cores
  // left only modest ones fit.
  EXPECT_EQ(stranding.at(1000, 4000), kHalf / 4);
}

TEST(GridfoldStrandingTest, NothingKnownNothingStranded) {
  EXPECT_EQ(Stranding().at(2000, 0), 0);
  EXPECT_EQ(Stranding::distance(Stranding(), Stranding()), 0);
}

TEST(GridfoldChurnTest, UnusableIsTheShareTimesThoseTooLargeForIt) {
  WeightByStep weight{};
  weight[50] = 1;
  weight[100] = 1;
  const UnusableShare unusable = unusable_share(weight, 4);  // two more want another model
  EXPECT_NEAR(unusable[40], kDeviceWorth * 40 / 100, 1);
  EXPECT_NEAR(unusable[60], kDeviceWorth * 60 / 100 * 3 / 4, 1);
  EXPECT_NEAR(unusable[100], kHalf, 1);
}

TEST(GridfoldChurnTest, BlocksAreWorthWhatWholeTasksCouldTake) {
  BlockWorth::DemandByCount demand{};
  demand[4] = 1;
  const BlockWorth worth(demand, 2);
  const Worth each = kHalf / 2;  // on a node where such a task may ever fit
  EXPECT_EQ(worth.of(2, 2), 0);
  EXPECT_EQ(worth.of(3, 8), 3 * each);
  EXPECT_NEAR(worth.of(4, 4), 4 * each + 4 * kHalf / 5, 1);
  EXPECT_EQ(worth.of(7, 8), worth.of(4, 8) + 3 * each);
  EXPECT_NEAR(worth.of(8, 8), 8 * each + 8 * kHalf / 5, 1);
}

TEST(GridfoldTightnessTest, LeavesScoresAloneUntilSomethingLeaves) {
  EXPECT_EQ(Tightness().refine(-7, 64000, 8000), -7);
}

TEST(GridfoldTightnessTest, DevicesCountWhereCpuSuffices) {
  const Tightness::Room largest{100'000, 8000};
  const Tightness::Room capacity{1'000'000, 80'000};
  const Tightness ample(largest, capacity, {1'000'000, 100'000}, 1000);
  EXPECT_EQ(ample.refine(3, 50'000, 4000), 300 - 500 - 500);
  const Tightness short_of_cpu(largest, capacity, {1'000'000, 80'000}, 1000);
  EXPECT_EQ(short_of_cpu.refine(3, 50'000, 4000), 300 - 500);
}

TEST(GridfoldTightnessTest, CountsForMoreTheMoreRoomThereIs) {
  const Tightness::Room largest{100'000, 8000};
  const Tightness::Room capacity{1'000'000, 80'000};
  const Tightness::Room demand{1'000'000, 100'000};
  const auto refined = [&](std::int64_t load, const Tightness::Room& mix) {
    return Tightness(largest, capacity, mix, load).refine(3, 50'000, 4000);
  };
  EXPECT_EQ(refined(850, demand), 300 - 5000 - 5000);
  EXPECT_EQ(refined(960, demand), 300 - 500 - 500);
  EXPECT_EQ(refined(1100, demand), 300 - 500);  // devices run out: their fit alone
  // CPU runs out, by so much of it in the mix.
  const Tightness::Room much_cpu{1'500'000, 100'000};
  EXPECT_EQ(refined(600, much_cpu), 300 - 5000);
  EXPECT_EQ(refined(800, much_cpu), 300 - 500);
  EXPECT_EQ(refined(900, much_cpu), 300 + 500);
}

// The mean over time where a hundredth of the devices is asked for a turn, and
// every task leaves with a chance of 1 / stay in each.
double mean_load(std::uint64_t stay) {
  constexpr std::int64_t kCapacity = 100'000;
  constexpr int kTurns = 20'000;
  std::mt19937_64 draw(1);
  OfferedLoad load;
  std::int64_t held = 0;
  double sum = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::int64_t task = held; task > 0; --task) {
      if (draw() % stay != 0) continue;
      load.left(kCapacity / 100);
      --held;
    }
    load.arrived(kCapacity / 100);
    if (held < 100) ++held;
    load.update(kCapacity - held * kCapacity / 100, kCapacity);
    sum += static_cast<double>(load.permille());
  }
  return sum / kTurns;
}

TEST(GridfoldLoadTest, IsWhatWouldBeHeldIfAllFoundRoom) {
  EXPECT_EQ(OfferedLoad().permille(), 1000);
  EXPECT_NEAR(mean_load(80), 800, 40);
  EXPECT_NEAR(mean_load(100), 1000, 50);
  EXPECT_NEAR(mean_load(150), 1500, 75);  // a third is refused
}

TEST(GridfoldTablesTest, ModelsThatTheSameTasksAcceptShareTheirTables) {
  LearnedMix mix(4096);
  Request tied = request_for(1000, 1, 1000, 0);
  tied.devices[0].models = {2};
  for (int i = 0; i < 10; ++i) mix.add(tied);
  for (int i = 0; i < 10; ++i) mix.add(request_for(1000, 1, 400, 1));
  const GridfoldTables tables(mix, {{8000, 64000}}, Departures::kNone);
  EXPECT_EQ(&tables.pool(0, 0), &tables.pool(0, 1));
  EXPECT_EQ(&tables.pool(0, 0), &tables.pool(0, 9));
  EXPECT_NE(&tables.pool(0, 0), &tables.pool(0, 2));
  // Only slices may take a device of model 0: two of 40 % fill it.
  EXPECT_EQ(tables.pool(0, 0).value.of(100)[0], tables.price(request_for(0, 2, 400)));
  EXPECT_EQ(tables.pool(0, 2).value.of(100)[0], kDeviceWorth);
}

TEST(GridfoldTablesTest, AlikeWhenNobodyCouldTell) {
  LearnedMix mix(4096);
  for (int i = 0; i < 10; ++i) mix.add(request_for(4000, 1, 400, 1));
  const std::vector<Stranding::Extent> largest = {{8000, 64000}};
  const GridfoldTables before(mix, largest, Departures::kNone);
  mix.add(request_for(4000, 1, 400, 1));
  EXPECT_TRUE(GridfoldTables::alike(before, GridfoldTables(mix, largest, Departures::kNone)));
  EXPECT_FALSE(GridfoldTables::alike(before, GridfoldTables(mix, largest, Departures::kSeen)));
  for (int i = 0; i < 10; ++i) mix.add(request_for(4000, 1, 700, 2));
  EXPECT_FALSE(GridfoldTables::alike(before, GridfoldTables(mix, largest, Departures::kNone)));
  EXPECT_FALSE(GridfoldTables::alike(before, GridfoldTables()));
}

}  // namespace
}  // namespace gridfold
