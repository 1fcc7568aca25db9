#include "simulator/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "simulator/cluster_text.h"
#include "simulator/openb_trace.h"
#include "simulator/philly_trace.h"
#include "simulator/test_files.h"
#include "simulator/workload_variant.h"

namespace gridfold {
namespace {

Workload openb_default() {
  return *read_openb_pods(test_text("openb/openb_pod_list_default.csv.gz"), "default");
}
ClusterSpec openb_gpu_nodes() {
  return *read_openb_nodes(test_text("openb/openb_node_list_gpu_node.csv.gz"), "gpu_node");
}

// Two kinds of jobs with known sums.
Workload two_kinds() {
  std::string text = "timestamp,duration,num_gpus\n";
  for (int i = 0; i < 3; ++i) text += "2017-10-09 07:01:55,100.0,1\n";
  text += "2017-10-09 07:01:55,1000.0,8\n";
  return *read_philly(text, "two kinds", 8);
}

TEST(OwnTimes, AreInOrderOfTime) {
  const auto pods = read_openb_pods(test_text("traces/pods.csv"), "pods.csv");
  const auto arrivals = own_times(*pods);
  ASSERT_TRUE(arrivals);
  std::vector<std::uint32_t> order;
  for (const auto& arrival : *arrivals) order.push_back(arrival.job);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 2, 0, 4, 3}));
}

TEST(OwnTimes, AListWithoutTimesIsRefusedWithTheNextStep) {
  const auto pods = read_openb_pods(test_text("traces/multi.csv"), "multi.csv");
  const auto arrivals = own_times(*pods);
  ASSERT_FALSE(arrivals);
  EXPECT_EQ(arrivals.error().describe(),
            "arrival: multi.csv: job p-0 has no arrival (a run over time needs arrivals and "
            "durations (openb lists: the columns creation_time, deletion_time and scheduled_time); "
            "use a list with times, or --set mode=saturation)");
}

TEST(Load, OffersWhatWasAskedFor) {
  const Workload workload = two_kinds();
  const ClusterCapacity capacity = capacity_of(*parse_cluster_text("nodes=8,gpus=8"));
  for (const double load : {0.8, 0.95, 1.1}) {
    RandomStream random(11, "arrivals");
    const auto arrivals = draw_load(workload, capacity, {load, 40'000}, random);
    ASSERT_TRUE(arrivals);
    ASSERT_EQ(arrivals->size(), 40'000u);
    double offered = 0;  // GPU-seconds
    for (const auto& arrival : *arrivals) {
      const auto& shape = workload.shapes[workload.jobs[arrival.job].shape];
      offered += static_cast<double>(device_thousandths(shape, "gpu")) / 1000 *
                 arrival.duration.bound().in_seconds();
    }
    EXPECT_TRUE(std::is_sorted(arrivals->begin(), arrivals->end(),
                               [](const Arrival& a, const Arrival& b) { return a.at < b.at; }));
    const double span = arrivals->back().at.in_seconds();
    EXPECT_NEAR(offered / span / 64, load, 0.03 * load);
  }
}

TEST(Load, DrawnDurationsOfferWhatWasAskedForWithoutAnyOfTheList) {
  const auto pods = read_openb_pods(test_text("traces/multi.csv"), "multi.csv");  // has no times
  const ClusterCapacity capacity = capacity_of(*parse_cluster_text("nodes=8,gpus=8"));
  RandomStream random(5, "arrivals");
  LoadOptions options{0.9, 20'000};
  options.holding_mean = Duration::hours(1);
  const auto arrivals = draw_load(*pods, capacity, options, random);
  ASSERT_TRUE(arrivals);
  double offered = 0;  // GPU-seconds
  for (const auto& arrival : *arrivals) {
    const auto& shape = pods->shapes[pods->jobs[arrival.job].shape];
    offered += static_cast<double>(device_thousandths(shape, "gpu")) / 1000 *
               arrival.duration.bound().in_seconds();
  }
  EXPECT_NEAR(offered / arrivals->back().at.in_seconds() / 64, 0.9, 0.05);
}

TEST(Drift, TheSecondHalfComesFromTheSecondList) {
  const Workload first = openb_default();
  const Workload second = two_kinds();
  const ClusterCapacity capacity = capacity_of(openb_gpu_nodes());
  RandomStream random(3, "arrivals");
  const auto arrivals = draw_drift(first, second, capacity, 1000, random);
  ASSERT_TRUE(arrivals);
  const Workload both = joined(first, second);
  std::int64_t early = 0;
  std::int64_t late = 0;
  bool turned = false;
  for (const auto& arrival : *arrivals) {
    const bool is_second = arrival.job >= first.jobs.size();
    EXPECT_TRUE(is_second || !turned);
    turned |= is_second;
    const auto asked = device_thousandths(both.shapes[both.jobs[arrival.job].shape], "gpu");
    (is_second ? late : early) += asked;
  }
  EXPECT_NEAR(static_cast<double>(early) / static_cast<double>(capacity.gpu_thousandths), 0.5,
              0.01);
  EXPECT_NEAR(static_cast<double>(late) / static_cast<double>(capacity.gpu_thousandths), 0.5, 0.01);
}

TEST(ShuffledMix, KeepsTheNumberOfJobsAndTurnsTheirWeights) {
  const Workload list = openb_default();
  const auto counts = [](const Workload& workload) {
    std::map<std::uint32_t, int> by_shape;
    for (const auto& job : workload.jobs) ++by_shape[job.shape];
    return by_shape;
  };
  RandomStream one(1, "mix");
  RandomStream again(1, "mix");
  RandomStream other(2, "mix");
  const Workload drawn = shuffled_mix(list, one);
  EXPECT_EQ(drawn.jobs.size(), list.jobs.size());
  EXPECT_EQ(counts(drawn), counts(shuffled_mix(list, again)));
  EXPECT_NE(counts(drawn), counts(shuffled_mix(list, other)));
}

TEST(Load, CutsDurationsAndFollowsTheSeed) {
  const Workload workload = two_kinds();
  const ClusterCapacity capacity = capacity_of(*parse_cluster_text("nodes=1,gpus=8"));
  const LoadOptions options{1.0, 1000, Duration::seconds(400)};
  const auto draw = [&](std::uint64_t seed) {
    RandomStream random(seed, "arrivals");
    return draw_load(workload, capacity, options, random).value_or({});
  };
  const auto same = [](const Arrival& a, const Arrival& b) {
    return a.job == b.job && a.at == b.at && a.duration == b.duration;
  };
  const auto first = draw(1), again = draw(1), other = draw(2);
  for (const auto& arrival : first) EXPECT_LE(arrival.duration.bound(), Duration::seconds(400));
  EXPECT_TRUE(std::equal(first.begin(), first.end(), again.begin(), again.end(), same));
  EXPECT_FALSE(std::equal(first.begin(), first.end(), other.begin(), other.end(), same));
}

TEST(Load, DrawsEnoughToBecomeSteady) {
  const Workload workload = two_kinds();
  const ClusterCapacity capacity = capacity_of(*parse_cluster_text("nodes=100,gpus=8"));
  RandomStream random(1, "arrivals");
  const auto arrivals = draw_load(workload, capacity, {0.95}, random);
  ASSERT_TRUE(arrivals);
  // Five times the longest, 1000 s.
  EXPECT_GT(arrivals->back().at, Duration::seconds(4200));
  EXPECT_LT(arrivals->back().at, Duration::seconds(5800));
}

TEST(Load, RunsBeyondAllBoundsAreRefused) {
  const Workload workload = two_kinds();
  const ClusterCapacity large = capacity_of(*parse_cluster_text("nodes=100000,gpus=64"));
  const ClusterCapacity small = capacity_of(*parse_cluster_text("nodes=1,gpus=1"));
  RandomStream random(1, "arrivals");
  const auto many = draw_load(workload, large, {1000}, random);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().kind, ErrorKind::kLimit);
  const auto long_run = draw_load(workload, small, {0.001, 10'000}, random);
  ASSERT_FALSE(long_run);
  EXPECT_EQ(long_run.error().kind, ErrorKind::kLimit);
}

TEST(Saturation, DrawsTheListThenClonesUpToTheRatio) {
  const Workload workload = openb_default();
  const ClusterCapacity capacity = capacity_of(openb_gpu_nodes());
  RandomStream random(42, "arrivals");
  const auto arrivals = draw_saturation(workload, capacity, 1300, random);
  ASSERT_TRUE(arrivals);
  std::map<std::uint32_t, int> first_part;
  std::int64_t asked = 0;
  for (std::size_t i = 0; i < arrivals->size(); ++i) {
    const auto& arrival = (*arrivals)[i];
    if (i < workload.jobs.size()) ++first_part[arrival.job];
    EXPECT_TRUE(arrival.duration.is_unlimited());
    asked += device_thousandths(workload.shapes[workload.jobs[arrival.job].shape], "gpu");
  }
  EXPECT_EQ(first_part.size(), workload.jobs.size());  // a permutation of the list
  EXPECT_LE(asked, 8'075'600);
  EXPECT_GT(asked, 8'075'600 - 8000);
}

TEST(Saturation, IsReproducibleAndShortensListsThatAskForMore) {
  const Workload workload = openb_default();
  const ClusterCapacity capacity = capacity_of(openb_gpu_nodes());
  const auto draw = [&](std::uint64_t seed, std::int64_t arrived) {
    RandomStream random(seed, "arrivals");
    std::vector<std::uint32_t> jobs;
    const auto drawn = draw_saturation(workload, capacity, arrived, random);
    for (const auto& arrival : drawn.value_or({})) jobs.push_back(arrival.job);
    return jobs;
  };
  EXPECT_EQ(draw(1, 1300), draw(1, 1300));
  EXPECT_NE(draw(1, 1300), draw(2, 1300));
  const auto half = draw(1, 500);
  EXPECT_LT(half.size(), workload.jobs.size());
  EXPECT_GT(half.size(), workload.jobs.size() / 3);
}

TEST(Saturation, NeedsGpusOnBothSides) {
  const Workload workload = openb_default();
  RandomStream random(1, "arrivals");
  EXPECT_FALSE(
      draw_saturation(workload, capacity_of(*parse_cluster_text("nodes=4")), 1300, random));
  Workload empty;
  EXPECT_FALSE(draw_saturation(empty, capacity_of(openb_gpu_nodes()), 1300, random));
}

}  // namespace
}  // namespace gridfold
