// The policies without a memory, on nodes small enough to reckon by hand.
#include <gtest/gtest.h>

#include <bit>

#include "policies/best_fit.h"
#include "policies/dot_product.h"
#include "policies/gpu_clustering.h"
#include "policies/gpu_packing.h"
#include "policies/random.h"
#include "policies/test_room.h"

namespace gridfold {
namespace {

TEST(BestFitTest, ScoresWhatIsLeft) {
  const TestNode node = node_with(64000, {1000, 1000, 500, 0});
  const Request request = request_for(8000, 1, 500);
  // Left: 56 of 128 cores and 2 of 8 devices: (0.4375 + 0.25) / 2 = 34.375 %.
  const Choice published = BestFit({}).choose(node.room(), request);
  EXPECT_EQ(published.score, 65);
  EXPECT_EQ(published.devices, 0b0100u);  // the fullest that fits
  const Choice exact = BestFit({.rounding = Rounding::kExact}).choose(node.room(), request);
  EXPECT_EQ(exact.score, -(56000 * 8 + 2000 * 128));
}

TEST(BestFitTest, PrefersTheFullerNode) {
  const Request request = request_for(4000, 1);
  const BestFit policy({});
  EXPECT_GT(policy.choose(node_with(16000, {1000, 0}).room(), request).score,
            policy.choose(node_with(16000, {1000, 1000}).room(), request).score);
}

TEST(DotProductTest, ScoresTheInnerProduct) {
  const TestNode node = node_with(64000, {1000, 1000, 1000, 1000});
  const Request request = request_for(32000, 2);
  // 0.5 * 0.25 + 0.5 * 0.25 = 0.25, halved 12.5 %: 87.5 rounds down.
  EXPECT_EQ(DotProduct({}).choose(node.room(), request).score, 87);
  const Choice exact = DotProduct({.rounding = Rounding::kExact}).choose(node.room(), request);
  EXPECT_EQ(exact.score,
            -(std::int64_t{64000} * 32000 * 64 + std::int64_t{4000} * 2000 * 128 * 128));
  EXPECT_EQ(exact.devices, 0b0011u);
}

TEST(DotProductTest, LargestSettingsStayInRange) {
  const DotProduct policy({.largest_cores = 4096, .largest_devices = 64});
  TestNode node{4096000, {}};
  for (int i = 0; i < 64; ++i) node.devices.push_back(device_with(1000));
  EXPECT_EQ(policy.choose(node.room(), request_for(4096000, 64)).score, 0);
}

TEST(GpuPackingTest, UsedDevicesBeforeIdleOnesBeforeIdleNodes) {
  const Request slice = request_for(1000, 1, 300);
  const GpuPacking policy;
  const Choice shared = policy.choose(node_with(9000, {1000, 400, 900}).room(), slice);
  EXPECT_EQ(shared.score, 300 - 40 / 10);
  EXPECT_EQ(shared.devices, 0b010u);
  EXPECT_EQ(policy.choose(node_with(9000, {1000, 200, 1000}).room(), slice).score, 199);
  EXPECT_EQ(policy.choose(node_with(9000, {1000, 1000}).room(), slice).score, 98);
  EXPECT_EQ(policy.choose(node_with(9000, {1000, 1000, 0}).room(), request_for(1, 2)).score, 198);
}

TEST(GpuPackingTest, TasksWithoutDevicesScoreAlike) {
  const Choice choice = GpuPacking().choose(node_with(9000, {1000}).room(), request_for(1000));
  EXPECT_EQ(choice.score, 0);
  EXPECT_EQ(choice.devices, 0u);
}

TEST(GpuClusteringTest, OwnKindThenMixedThenIdleThenOthers) {
  const Request slice = request_for(1000, 1, 300);
  const GpuClustering policy({});
  const auto score = [&](std::initializer_list<std::int32_t> shares) {
    return policy.choose(node_with(9000, shares).room(), slice).score;
  };
  EXPECT_EQ(score({500, 1000}), 3000 + 20);  // 1.5 of 8 free: 25 * 6.5 / 8 = 20.3
  EXPECT_EQ(score({500, 0}), 2000 + 23);
  EXPECT_EQ(score({1000, 1000}), 1000 + 18);
  EXPECT_EQ(score({0, 1000}), 21);
}

TEST(RandomFitTest, IsPureAndSpreadsOverDevices) {
  const RandomFit policy({.seed = 7});
  EXPECT_TRUE(policy.draws_among_equals());
  std::uint64_t seen = 0;
  for (std::int64_t cpu = 8000; cpu < 8100; ++cpu) {
    const TestNode node = node_with(cpu, {1000, 200, 600, 1000});
    const Request slice = request_for(1000, 1, 500);
    const Choice choice = policy.choose(node.room(), slice);
    EXPECT_EQ(choice.devices, policy.choose(node.room(), slice).devices);
    EXPECT_EQ(std::popcount(choice.devices), 1);
    seen |= choice.devices;
  }
  EXPECT_EQ(seen, 0b1101u);  // never the one that is too full
  const Choice pair = policy.choose(node_with(8000, {1000, 200, 1000}).room(), request_for(1, 2));
  EXPECT_EQ(pair.devices, 0b101u);
}

}  // namespace
}  // namespace gridfold
