// Training worlds on the real loop: the order of things at a round's boundary,
// restarts, sizes that change.
#include "simulator/training_run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "simulator/run_command.h"
#include "simulator/test_files.h"
#include "stores/memory/memory_store.h"
#include "stores/null/null_store.h"

namespace gridfold {
namespace {

// Each task does a second's work a second, after the restart.
class Linear final : public TrainingProcess {
 public:
  Linear(double work_seconds, Duration restart) : left_(work_seconds), restart_(restart) {}
  void start(Instant now, std::span<const TrainingPlace> places) override {
    tasks_ = 0;
    for (const TrainingPlace& place : places) tasks_ += place.tasks;
    now_ = now + restart_;
  }
  void stop(Instant now) override {
    advance(now);
    tasks_ = 0;
  }
  void advance(Instant now) override {
    EXPECT_LE(now, next_event());
    if (now <= now_) return;
    left_ -= (now - now_).in_seconds() * tasks_;
    now_ = now;
  }
  Instant next_event() const override {
    if (tasks_ == 0) return Instant::never();
    return now_ + Duration{static_cast<std::int64_t>(left_ / tasks_ * 1e9 + 0.5)};
  }
  bool finished() const override { return left_ < 1e-6; }
  std::optional<TrainingHistory> report() const override {
    TrainingHistory history;
    history.progress_steps = -left_;
    return history;
  }

 private:
  double left_;
  Duration restart_;
  double tasks_ = 0;
  Instant now_{};
};

class TrainingRunTest : public testing::Test {
 protected:
  TrainingWorkload world;

  void cluster(int nodes, int gpus) {
    for (int i = 0; i < nodes; ++i) {
      NodeSpec spec;
      spec.name = "n" + std::to_string(i);
      spec.cpu = MilliCores(64'000);
      spec.memory = Bytes(std::int64_t{256} << 30);
      for (int g = 0; g < gpus; ++g) spec.devices.push_back({"gpu", "G"});
      world.cluster.nodes.push_back(spec);
    }
  }
  // So many seconds of work at one task.
  void job(double at, int tasks, double work) {
    JobSpec spec;
    spec.name = "job-" + std::to_string(world.arrivals.size());
    Role role;
    role.count = tasks;
    role.min = 1;
    role.each.devices.push_back({"gpu", 1});
    role.command = {"train"};
    spec.roles.push_back(role);
    spec.training.emplace();
    TrainingArrival& added = world.arrivals.emplace_back();
    added.at = Instant{static_cast<std::int64_t>(at * 1e9)};
    added.spec = std::make_shared<const JobSpec>(spec);
    added.make_process = [work] { return std::make_unique<Linear>(work, Duration::seconds(30)); };
  }
  TrainingResult run(const std::string& policy) {
    NullStore store;
    TrainingRunOptions options;
    options.policy = policy;
    options.engine.verify = Verify::kEveryStep;
    auto result = run_training(world, options, store);
    EXPECT_TRUE(result) << result.error().describe();
    return result ? std::move(*result) : TrainingResult{};
  }
  static double seconds(Instant at) { return (at - Instant{}).in_seconds(); }
};

TEST_F(TrainingRunTest, JobsWaitForTheBoundaryAndFreedDevicesForTheNext) {
  cluster(2, 4);
  job(0, 8, 8 * 100);   // starts at 0, ends at 130
  job(10, 4, 4 * 10);   // starts at 180
  job(180, 4, 4 * 30);  // comes at a boundary: starts there
  const TrainingResult result = run("fifo");
  ASSERT_EQ(result.finished(), 3);
  EXPECT_NEAR(seconds(result.jobs[0].started), 0, 1e-6);
  EXPECT_NEAR(seconds(result.jobs[0].ended), 130, 1e-6);
  EXPECT_NEAR(seconds(result.jobs[1].started), 180, 1e-6);
  EXPECT_NEAR(seconds(result.jobs[1].ended), 220, 1e-6);
  EXPECT_NEAR(seconds(result.jobs[2].started), 180, 1e-6);
  EXPECT_NEAR(seconds(result.jobs[2].ended), 240, 1e-6);
  EXPECT_EQ(result.restarts(), 0);
  EXPECT_NEAR(result.makespan().in_seconds(), 240, 1e-6);
  EXPECT_NEAR(result.jobs[0].device_seconds, 8 * 130, 1e-6);
  EXPECT_NEAR(result.completion().mean_seconds, (130 + 210 + 60) / 3.0, 1e-6);
  EXPECT_NEAR(result.jobs[1].active_jobs, (120 * 2 + 50 * 1 + 40 * 2) / 210.0, 1e-6);
}

TEST_F(TrainingRunTest, TheSameRunMakesTheSameDecisions) {
  cluster(3, 4);
  for (int i = 0; i < 20; ++i) job(17 * i, 1 + i % 8, 100 + 40 * i);
  const TrainingResult first = run("fifo");
  EXPECT_EQ(first.finished(), 20);
  EXPECT_EQ(first.decisions_sha256, run("fifo").decisions_sha256);
}

TEST(SteadyWorld, RunsATraceThroughSimRun) {
  SimRunOptions options;
  options.cluster = "nodes=2,gpus=8";
  options.workload = test_data("traces/workload.yaml");
  options.policy = "fifo";
  options.set = {{"world", "steady"}, {"world.restart", "10s"}};
  options.make_store = []() -> std::unique_ptr<Store> { return std::make_unique<NullStore>(); };
  const auto json = run_simulation(options);
  ASSERT_TRUE(json) << json.error().describe();
  const auto result = nlohmann::json::parse(*json);
  EXPECT_EQ(result["jobs_finished"], result["jobs_submitted"]) << *json;
  options.set["world.restrat"] = "5s";
  const auto refused = run_simulation(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "restrat");
}

// Tiresias and fifo on rigid jobs; equal_shares on elastic ones does better.
TEST_F(TrainingRunTest, SizesThatChangeAreChargedAndPayOff) {
  cluster(2, 4);
  for (int i = 0; i < 6; ++i) job(30 * i, 8, 8 * 300);
  const TrainingResult rigid = run("fifo");
  const TrainingResult elastic = run("equal_shares");
  EXPECT_EQ(rigid.finished(), 6);
  EXPECT_EQ(elastic.finished(), 6);
  EXPECT_EQ(rigid.restarts(), 0);
  EXPECT_GT(elastic.restarts(), 0);
  for (const TrainedJob& job : elastic.jobs) EXPECT_GT(job.device_seconds, 8 * 300 - 1e-6);
}

}  // namespace
}  // namespace gridfold
