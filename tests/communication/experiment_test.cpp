// A part of the experiment of bench/placement_experiment, small enough for every build.
#include "tests/communication/experiment.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/communication/rivals.h"

namespace gridfold {
namespace {

TEST(PlacementExperiment, OursIsNearTheBestAndFarAheadOfBlindBestFit) {
  std::vector<Outcome> outcomes;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    outcomes.push_back(run_world(seed, {Deviation::kEachKind, 500}));
  }
  const Summary summary = summarise(outcomes);
  std::printf("%zu of %zu within 5 %% of the best, mean %.3f, most %.3f; blind best fit %.2f x\n",
              summary.within_5_percent, summary.worlds, summary.ours_to_best_mean,
              summary.ours_to_best_max, summary.blind_to_ours_median);
  EXPECT_GE(summary.within_5_percent, 47u);
  EXPECT_LE(summary.ours_to_best_mean, 1.02);
  EXPECT_GE(summary.blind_to_ours_median, 1.3);
  EXPECT_LE(summary.model_error_median, 0.05);
}

// Two nodes of four devices without NVLink, a card of 80 Gb/s each.
World two_nodes(double foreign_bits_per_second) {
  World world;
  world.nodes.resize(2);
  world.nodes[0].name = "a";
  world.nodes[1].name = "b";
  NodeWiring layout;
  layout.devices.resize(1);
  layout.cards = {{0, LinkKind::kRoce, BitsPerSecond(80'000'000'000)}};
  layout.nvlink = layout.pcie = layout.numa = layout.socket = layout.host_network =
      BitsPerSecond(80'000'000'000);
  world.layouts = {layout};
  world.layout_of_node = {0, 0};
  world.free = {1, 1};
  world.job.tasks = 2;
  world.job.traffic.data = 2;
  world.job.traffic.exchanges = {{Collective::kAllReduce, RankAxis::kData, Bytes(1'000'000'000)}};
  if (foreign_bits_per_second > 0) {
    world.foreign = {{NodeId(0), 0, NodeId(1), 0, foreign_bits_per_second}};
  }
  return world;
}

TEST(Judge, KnowsTheTimeOfARingOfTwo) {
  const std::vector<Place> places = {{NodeId(0), 0}, {NodeId(1), 0}};
  const World alone = two_nodes(0);
  const double seconds = Judge(alone, 1, Deviation::kEachKind).step_seconds(places);
  EXPECT_GT(seconds, 0.1 / 1.1);  // 10^9 bytes at 10^10 a second, ±10 %
  EXPECT_LT(seconds, 0.1 / 0.9 + 0.001);
  const World modest = two_nodes(20e9);
  EXPECT_NEAR(Judge(modest, 1, Deviation::kEachKind).step_seconds(places) / seconds, 4.0 / 3, 0.05);
  const World greedy = two_nodes(80e9);
  EXPECT_NEAR(Judge(greedy, 1, Deviation::kEachKind).step_seconds(places) / seconds, 2, 0.01);
}

TEST(Judge, TheReferenceSearchNeverLosesToItsStarts) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const World world = draw_world(seed);
    Judge judge(world, seed, Deviation::kEachLink);
    const Gang blind = blind_best_fit(world);
    const double start = judge.step_seconds(ranks_of(blind));
    EXPECT_LE(reference_search(world, judge, {blind}, 300).seconds, start);
  }
}

}  // namespace
}  // namespace gridfold
