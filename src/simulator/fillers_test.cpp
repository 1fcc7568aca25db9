#include "simulator/fillers.h"

#include <gtest/gtest.h>

#include "simulator/filler_metrics.h"
#include "simulator/philly_trace.h"

namespace gridfold {
namespace {

Workload list() {
  Workload workload;
  workload.name = "list";
  for (const std::int64_t gpus : {1, 4}) workload.shapes.push_back(gpu_gang(gpus, 8));
  workload.jobs.push_back({"small", 0, Duration{}, Duration::minutes(25)});
  workload.jobs.push_back({"large", 1, Duration{}, Duration::hours(9)});
  return workload;
}

TEST(Fillers, AreTheSmallJobs) {
  const Workload fillers = as_fillers(list(), {});
  ASSERT_EQ(fillers.jobs.size(), 1u);
  EXPECT_EQ(fillers.jobs[0].name, "small");
  const JobSpec& spec = fillers.shapes[fillers.jobs[0].shape];
  EXPECT_EQ(spec.workload_class, WorkloadClass::kFiller);
  EXPECT_EQ(spec.checkpoint->interval.value(), Duration::minutes(10) + Duration::seconds(5));
}

TEST(Fillers, ComeAtTheirLoadUntilTheEnd) {
  const FillerSettings settings{.load = 0.5};
  const Workload fillers = as_fillers(list(), settings);
  RandomStream random(3, "fillers");
  ClusterCapacity capacity;
  capacity.gpu_thousandths = 100'000;
  const Duration end = Duration::hours(1000);
  const auto arrivals = draw_fillers(fillers, capacity, settings, Duration::hours(48), end, random);
  ASSERT_TRUE(arrivals.has_value()) << arrivals.error().message;
  EXPECT_LE(arrivals->back().at, end);
  // Two saves within 25 minutes.
  EXPECT_EQ(arrivals->front().duration.bound(), Duration::minutes(25) + Duration::seconds(10));
  const double offered = static_cast<double>(arrivals->size()) * 25 / 60 / 1000 / 100;
  EXPECT_NEAR(offered, 0.5, 0.01);
}

TEST(Fillers, AreMergedByTime) {
  const std::vector<Arrival> first{{0, Duration::seconds(1), {}}, {1, Duration::seconds(5), {}}};
  const std::vector<Arrival> second{{0, Duration::seconds(2), {}}, {2, Duration::seconds(9), {}}};
  std::vector<std::uint32_t> jobs;
  for (const Arrival& arrival : merged(first, second, 10)) jobs.push_back(arrival.job);
  EXPECT_EQ(jobs, (std::vector<std::uint32_t>{0, 10, 1, 12}));
}

// One node of two GPUs: a job with rights on one, a filler on the other that is
// stopped after ten minutes of which it had saved six.
TEST(FillerMetrics, CountsWhatWasUseful) {
  Workload workload = list();
  const auto shape = static_cast<std::uint32_t>(workload.shapes.size());
  workload.shapes.push_back(workload.shapes[0]);
  workload.shapes.back().workload_class = WorkloadClass::kFiller;
  workload.jobs.push_back({"filler", shape});
  ClusterSpec cluster;
  cluster.nodes.emplace_back();
  cluster.nodes.back().devices.assign(2, DeviceSpec{"gpu", "G"});
  const auto minute = [](int m) { return Instant{} + Duration::minutes(m); };
  FillerMetrics metrics(workload, cluster, minute(0), minute(20), Duration::minutes(10), {});
  const JobId first(1);
  metrics.submitted(0, minute(0));
  metrics.submitted(2, minute(0));
  Decisions decisions;
  decisions.list.emplace_back(LaunchTask{{JobId(1), 0}, 1, {NodeId(0), 1}});
  decisions.list.emplace_back(LaunchTask{{JobId(2), 0}, 1, {NodeId(0), 2}});
  metrics.committed(minute(5), first, decisions);
  decisions.list = {Preempted{JobId(1), {JobId(2)}}};
  metrics.committed(minute(15), first, decisions);
  metrics.cleaned(minute(15), first, {JobId(2), 0}, Duration::minutes(6));
  metrics.cleaned(minute(15), first, {JobId(1), 0}, {});

  const FillerSummary summary = metrics.summary(2000);
  EXPECT_EQ(summary.jobs, 1);
  EXPECT_EQ(summary.starts, 1);
  EXPECT_EQ(summary.evictions, 1);
  EXPECT_DOUBLE_EQ(summary.queueing.mean_seconds, 300);
  EXPECT_DOUBLE_EQ(summary.held, 0.25);    // 10 of 40 GPU minutes
  EXPECT_DOUBLE_EQ(summary.useful, 0.15);  // 6
  EXPECT_DOUBLE_EQ(summary.left, 0.75);    // all but the first job's 10
}

}  // namespace
}  // namespace gridfold
