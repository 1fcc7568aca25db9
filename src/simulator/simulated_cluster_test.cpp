#include "simulator/simulated_cluster.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

std::vector<NodeSpec> two_nodes() {
  std::vector<NodeSpec> nodes(2);
  nodes[0].name = "n-0";
  nodes[1].name = "n-1";
  return nodes;
}

// A cluster with its clock, and what it reported, as text.
struct World {
  explicit World(SimulatedClusterOptions options = {}, std::unique_ptr<FaultPlan> faults = nullptr)
      : cluster(two_nodes(), options, clock, std::move(faults)) {
    EXPECT_TRUE(cluster.open([this](Event event) { note(event); }));
    run_until(Instant{});
    reports.clear();
  }

  void note(const Event& event) {
    std::string text = std::to_string(clock.now().ns / 1'000'000'000) + " ";
    if (const auto* started = std::get_if<TaskStarted>(&event)) {
      text += "started " + std::to_string(started->attempt);
    } else if (const auto* exited = std::get_if<TaskExited>(&event)) {
      const ExitStatus& status = exited->status;
      text += status.lost          ? "exited lost"
              : status.signal != 0 ? "exited signal " + std::to_string(status.signal)
                                   : "exited " + std::to_string(status.code);
    } else if (const auto* cleaned = std::get_if<TaskCleaned>(&event)) {
      text += "cleaned" + std::string(cleaned->dirty_devices != 0 ? " dirty" : "");
    } else if (const auto* failed = std::get_if<LaunchFailed>(&event)) {
      text += std::string("failed by ") + (failed->fault == LaunchFault::kNode ? "node" : "job");
    } else if (const auto* joined = std::get_if<NodeJoined>(&event)) {
      text += "joined " + joined->spec.name;
    } else if (const auto* lost = std::get_if<NodeLost>(&event)) {
      text += "lost " + lost->node + (lost->fencing == Fencing::kFenced ? " fenced" : " unfenced");
    }
    reports.push_back(text);
  }

  LaunchOrder order(std::uint64_t job, std::uint32_t attempt = 1, std::string node = "n-0") {
    LaunchOrder launch;
    launch.task = {JobId(job), 0};
    launch.attempt = attempt;
    launch.spec = std::make_shared<JobSpec>(spec);
    launch.node = std::move(node);
    launch.devices = 1;
    return launch;
  }
  void stop(std::uint64_t job, Duration grace, std::uint32_t attempt = 1) {
    cluster.stop({{JobId(job), 0}, attempt, "n-0", "TERM", grace});
  }

  // Everything that happens up to then.
  void run_until(Instant end) {
    while (cluster.next_event() <= end) {
      clock.advance_to(std::max(clock.now(), cluster.next_event()));
      cluster.advance();
    }
    clock.advance_to(end);
  }
  void run_for_seconds(std::int64_t n) { run_until(clock.now() + Duration::seconds(n)); }

  JobSpec spec;
  VirtualClock clock;
  SimulatedCluster cluster;
  std::vector<std::string> reports;
};

using Reports = std::vector<std::string>;
TaskTruth runs_for(std::int64_t seconds) { return {Duration::seconds(seconds)}; }

TEST(SimulatedCluster, ATaskStartsEndsAndIsCleared) {
  World world({Duration::seconds(2), Duration::seconds(3)});
  world.cluster.launch(world.order(1));
  EXPECT_EQ(world.reports, Reports{});  // never from within a call
  world.cluster.set_truth(JobId(1), runs_for(10));
  world.run_for_seconds(100);
  EXPECT_EQ(world.reports, (Reports{"2 started 1", "12 exited 0", "15 cleaned"}));
}

TEST(SimulatedCluster, WithoutLatenciesAllHappensAtOnce) {
  World world;
  world.cluster.set_truth(JobId(1), runs_for(0));
  world.cluster.launch(world.order(1));
  world.run_until(Instant{});
  EXPECT_EQ(world.reports, (Reports{"0 started 1", "0 exited 0", "0 cleaned"}));
}

TEST(SimulatedCluster, AKnownAttemptIsNotStartedAgain) {
  World world;
  world.cluster.set_truth(JobId(1), runs_for(5));
  world.cluster.launch(world.order(1));
  world.cluster.launch(world.order(1));
  world.run_for_seconds(10);
  world.cluster.launch(world.order(1));  // ended and not forgotten: still known
  world.run_for_seconds(10);
  EXPECT_EQ(world.reports, (Reports{"0 started 1", "5 exited 0", "5 cleaned"}));
  world.cluster.forget({JobId(1), 0}, 1);
  EXPECT_TRUE(world.cluster.presences().empty());
}

TEST(SimulatedCluster, StopsAtOnceOrAfterTheJobsStopTimeAtMostTheGrace) {
  World world;
  world.cluster.set_truth(JobId(1), runs_for(100));
  world.cluster.set_truth(JobId(2), {Duration::seconds(100), 0, Duration::seconds(5)});
  world.cluster.set_truth(JobId(3), {Duration::seconds(100), 0, Duration::seconds(50)});
  for (std::uint64_t job = 1; job <= 3; ++job) world.cluster.launch(world.order(job));
  world.run_for_seconds(10);
  world.reports.clear();
  for (std::uint64_t job = 1; job <= 3; ++job) world.stop(job, Duration::seconds(20));
  world.run_for_seconds(100);
  EXPECT_EQ(world.reports, (Reports{"10 exited signal 15", "10 cleaned", "15 exited signal 15",
                                    "15 cleaned", "30 exited signal 9", "30 cleaned"}));
}

TEST(SimulatedCluster, AskedAgainWithAShorterGraceTheShorterHolds) {
  World world;
  world.cluster.set_truth(JobId(1), {Duration::seconds(100), 0, Duration::seconds(50)});
  world.cluster.launch(world.order(1));
  world.run_for_seconds(1);
  world.stop(1, Duration::seconds(60));
  world.run_for_seconds(1);
  world.stop(1, Duration::seconds(3));
  world.stop(1, Duration::seconds(30));
  world.run_for_seconds(100);
  EXPECT_EQ(world.reports, (Reports{"0 started 1", "5 exited signal 9", "5 cleaned"}));
}

TEST(SimulatedCluster, AStopBeforeTheStartAndOfAnUnknownAttempt) {
  World world({Duration::seconds(2), {}});
  world.cluster.set_truth(JobId(1), runs_for(100));
  world.stop(7, Duration::seconds(1));
  world.cluster.launch(world.order(1));
  world.stop(1, Duration::seconds(30), 9);  // another attempt
  world.stop(1, Duration::seconds(30));
  world.run_for_seconds(100);
  EXPECT_EQ(world.reports, (Reports{"0 exited signal 15", "0 cleaned"}));
}

TEST(SimulatedCluster, ACheckpointedJobKeepsItsWorkOverAStop) {
  World world;
  world.spec.checkpoint = Checkpoint{};
  world.cluster.set_truth(JobId(1), runs_for(100));
  world.cluster.launch(world.order(1));
  world.run_for_seconds(40);
  world.stop(1, Duration::seconds(30));
  world.run_for_seconds(0);
  world.cluster.launch(world.order(1, 2));
  world.run_for_seconds(200);
  EXPECT_EQ(world.reports.back(), "100 cleaned");  // 40 + 60
}

TEST(SimulatedCluster, ALostNodeTakesItsTasksWithItWhenItIsOff) {
  World world;
  world.cluster.set_truth(JobId(1), runs_for(15));
  world.cluster.launch(world.order(1));
  world.run_for_seconds(5);
  EXPECT_TRUE(world.cluster.lose_node("n-0", Fencing::kFenced));
  EXPECT_FALSE(world.cluster.lose_node("n-0", Fencing::kFenced));
  EXPECT_TRUE(world.cluster.presences().empty());
  world.run_for_seconds(20);
  EXPECT_EQ(world.cluster.observe()->nodes.size(), 1u);
  EXPECT_TRUE(world.cluster.return_node("n-0"));
  world.run_for_seconds(1);
  EXPECT_EQ(world.reports, (Reports{"0 started 1", "15 lost n-0 fenced", "25 joined n-0"}));
}

TEST(SimulatedCluster, OnANodeCutOffTasksRunOnAndAreToldAfterwards) {
  World world;
  world.cluster.set_truth(JobId(1), runs_for(15));
  world.cluster.launch(world.order(1));
  world.run_for_seconds(5);
  EXPECT_TRUE(world.cluster.lose_node("n-0", Fencing::kUnfenced));
  world.cluster.launch(world.order(2));  // does not get there
  world.run_for_seconds(25);
  EXPECT_EQ(world.cluster.observe()->tasks.size(), 0u);
  ASSERT_EQ(world.cluster.presences().size(), 1u);
  EXPECT_TRUE(world.cluster.return_node("n-0"));
  world.run_for_seconds(1);
  EXPECT_EQ(world.reports, (Reports{"0 started 1", "15 lost n-0 unfenced", "30 joined n-0",
                                    "30 started 1", "30 exited 0", "30 cleaned"}));
  EXPECT_EQ(world.cluster.observe()->tasks.size(), 1u);
}

TEST(SimulatedCluster, OpenedAgainItReportsToTheNewSinkOnly) {
  World world({Duration::seconds(5), {}});
  world.cluster.set_truth(JobId(1), runs_for(1));
  world.cluster.launch(world.order(99, 1, "nowhere"));  // its failure is on the way
  world.cluster.launch(world.order(1));
  std::vector<std::string> old = std::exchange(world.reports, {});
  EXPECT_TRUE(world.cluster.open([&world](Event event) { world.note(event); }));
  world.run_for_seconds(10);
  EXPECT_EQ(world.reports,
            (Reports{"0 joined n-0", "0 joined n-1", "5 started 1", "6 exited 0", "6 cleaned"}));
}

FaultRates always(std::int32_t FaultRates::*rate) {
  FaultRates rates;
  rates.*rate = 1000;
  return rates;
}

TEST(Faults, LaunchesFailByNodeOrJob) {
  World by_node({}, seeded_faults(1, always(&FaultRates::launch_fails_by_node)));
  by_node.cluster.launch(by_node.order(1));
  by_node.run_for_seconds(1);
  EXPECT_EQ(by_node.reports, Reports{"0 failed by node"});
  EXPECT_EQ(by_node.cluster.observe()->tasks.at(0).phase, ObservedTask::Phase::kLaunchFailed);
  by_node.cluster.forget({JobId(1), 0}, 1);
  EXPECT_TRUE(by_node.cluster.presences().empty());
  World by_job({}, seeded_faults(1, always(&FaultRates::launch_fails_by_job)));
  by_job.cluster.launch(by_job.order(1));
  by_job.run_for_seconds(1);
  EXPECT_EQ(by_job.reports, Reports{"0 failed by job"});
}

TEST(Faults, ALostShimEndsTheTaskWithoutAnExitCode) {
  FaultRates rates = always(&FaultRates::shim_lost);
  rates.longest_shim_life = Duration{};
  World world({}, seeded_faults(1, rates));
  world.cluster.set_truth(JobId(1), runs_for(100));
  world.cluster.launch(world.order(1));
  world.run_for_seconds(200);
  EXPECT_EQ(world.reports, (Reports{"0 started 1", "10 exited lost", "10 cleaned"}));
}

TEST(Faults, DroppedReportsAreStillObserved) {
  World world({}, seeded_faults(1, always(&FaultRates::report_dropped)));
  world.cluster.set_truth(JobId(1), runs_for(5));
  world.cluster.launch(world.order(1));
  world.run_for_seconds(10);
  EXPECT_EQ(world.reports, Reports{});
  const auto observation = world.cluster.observe();
  ASSERT_EQ(observation->tasks.size(), 1u);
  EXPECT_EQ(observation->tasks[0].phase, ObservedTask::Phase::kCleaned);
}

TEST(Faults, RepeatedAndDelayedReportsComeTwiceAndOutOfOrder) {
  FaultRates rates = always(&FaultRates::report_repeated);
  rates.report_delayed = 1000;
  World world({}, seeded_faults(3, rates));
  for (std::uint64_t job = 0; job < 20; ++job) {
    world.cluster.set_truth(JobId(job), runs_for(1));
    world.cluster.launch(world.order(job));
  }
  world.run_for_seconds(100);
  EXPECT_EQ(world.reports.size(), 120u);
  std::size_t last_start = 0, first_exit = world.reports.size();
  for (std::size_t i = 0; i < world.reports.size(); ++i) {
    if (world.reports[i].find("started") != std::string::npos) last_start = i;
    if (world.reports[i].find("exited") != std::string::npos) first_exit = std::min(first_exit, i);
  }
  EXPECT_LT(first_exit, last_start);
}

TEST(Faults, DirtyDevicesAreTold) {
  World world({}, seeded_faults(1, always(&FaultRates::device_dirty)));
  world.cluster.set_truth(JobId(1), runs_for(5));
  world.cluster.launch(world.order(1));
  world.run_for_seconds(10);
  EXPECT_EQ(world.reports.back(), "5 cleaned dirty");
}

TEST(Faults, NodesComeAndGoBySeedAndStopInTime) {
  FaultRates rates;
  rates.node_fault_interval = Duration::seconds(30);
  rates.until = Instant{} + Duration::hours(1);
  const auto run = [&rates](std::uint64_t seed) {
    World world({}, seeded_faults(seed, rates));
    world.run_for_seconds(7200);
    EXPECT_EQ(world.cluster.observe()->nodes.size(), 2u);  // all are back
    EXPECT_TRUE(world.cluster.next_event().is_never());
    return world.reports;
  };
  const Reports first = run(5);
  EXPECT_GT(first.size(), 40u);
  EXPECT_EQ(first, run(5));
  EXPECT_NE(first, run(6));
}

}  // namespace
}  // namespace gridfold
