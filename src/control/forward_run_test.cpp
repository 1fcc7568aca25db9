// What a forward run says of a small cluster, by hand.
#include "control/forward_run.h"

#include <gtest/gtest.h>

#include "control/start_estimates.h"
#include "policies/registry.h"

namespace gridfold {
namespace {

Policies best_fit() { return std::move(*make_policy("best_fit", {})); }

NodeSpec node_of(int gpus) {
  NodeSpec node{.name = "n1", .cpu = MilliCores(64'000), .memory = Bytes(std::int64_t{1} << 38)};
  for (int i = 0; i < gpus; ++i) node.devices.push_back({"gpu", "G", {}});
  return node;
}

std::shared_ptr<const JobSpec> job_of(int gpus, Limit<Duration> limit) {
  JobSpec spec;
  Role role;
  DeviceRequest gpu{.device_class = "gpu"};
  gpu.count = gpus;
  role.each.devices.push_back(gpu);
  spec.roles.push_back(role);
  spec.time_limit = limit;
  return std::make_shared<const JobSpec>(spec);
}

constexpr Instant kStart = Instant{} + Duration::hours(10);

// One node of 8 GPUs; what is submitted first runs.
class ForwardRunTest : public testing::Test {
 protected:
  Engine engine{EngineOptions{}, best_fit()};
  std::uint64_t jobs = 0;

  ForwardRunTest() {
    engine.step(kStart, std::vector<Event>{QueueConfigured{}, NodeJoined{node_of(8)}});
  }
  JobId submit(int gpus, Limit<Duration> limit, bool held = false) {
    const JobId id(++jobs);
    engine.step(kStart, std::vector<Event>{
                            JobSubmitted{id, "uid", job_of(gpus, limit), {}, held, std::nullopt}});
    const JobRecord* job = engine.job(id);
    if (job->tasks[0].phase == TaskPhase::kHeld)
      engine.step(kStart, std::vector<Event>{TaskStarted{{id, 0}, 1}});
    return id;
  }
  std::shared_ptr<const ForwardAnswer> run(ForwardOptions options = {}, RunOutcomes outcomes = {}) {
    auto snapshot = std::make_shared<const EngineSnapshot>(
        take_snapshot(engine, {}, kStart + Duration::minutes(10), 7));
    return ForwardRun(snapshot, std::move(outcomes), best_fit, options).run();
  }
};

TEST_F(ForwardRunTest, JobsStartAsLimitsEnd) {
  submit(8, Duration::hours(2));
  const JobId second = submit(8, Duration::hours(1));
  const JobId third = submit(4, Duration::hours(1));
  const auto answer = run();
  EXPECT_TRUE(answer->complete);
  EXPECT_EQ(answer->revision, 7u);
  EXPECT_EQ(answer->start_of(second), kStart + Duration::hours(2));
  EXPECT_EQ(answer->start_of(third), kStart + Duration::hours(3));
}

TEST_F(ForwardRunTest, WithoutALimitTheDefaultIsTaken) {
  submit(8, {});
  const JobId second = submit(8, {});
  EXPECT_EQ(run()->start_of(second), kStart + kDefaultRun);
  ForwardOptions longer;
  longer.default_run = Duration::hours(5);
  EXPECT_EQ(run(longer)->start_of(second), kStart + Duration::hours(5));
}

TEST_F(ForwardRunTest, RunsEndAsThoseBeforeDid) {
  submit(8, Duration::hours(10));
  const JobId second = submit(8, Duration::hours(1));
  RunOutcomes outcomes;
  RunGuess guess{Duration::hours(4), RunBasis::kLimit, Duration::hours(4)};
  for (int i = 0; i < 20; ++i) outcomes.ended(guess, Duration::hours(1));
  EXPECT_EQ(run({}, outcomes)->start_of(second), kStart + Duration::minutes(150));
}

TEST_F(ForwardRunTest, WhatIsNotReachedIsNotSaid) {
  submit(8, Duration::hours(2));
  std::vector<JobId> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(submit(8, Duration::hours(1)));
  const JobId held = submit(1, Duration::hours(1), true);
  ForwardOptions few;
  few.max_events = 30;
  const auto answer = run(few);
  EXPECT_FALSE(answer->complete);
  EXPECT_FALSE(answer->start_of(waiting.front()).is_never());
  EXPECT_TRUE(answer->start_of(waiting.back()).is_never());
  EXPECT_TRUE(run()->start_of(held).is_never());
  EXPECT_TRUE(run()->complete);
}

TEST_F(ForwardRunTest, TheLiveEngineIsNotTouched) {
  submit(8, Duration::hours(2));
  const JobId second = submit(8, Duration::hours(1));
  run();
  EXPECT_EQ(engine.job(second)->state, JobState::kPending);
  EXPECT_EQ(engine.check_invariants(), std::nullopt);
}

TEST(StartCalibration, HoldsWhatItIsMeantTo) {
  // Real waits are three times what is estimated, or a third of it, and all
  // between.
  StartCalibration calibration;
  std::uint64_t state = 1;
  int within = 0;
  constexpr int kStarts = 4000;
  for (int i = 0; i < kStarts; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double part = static_cast<double>(state >> 33) / static_cast<double>(1u << 31);
    const Duration estimated = Duration::minutes(10 + i % 300);
    const double ratio = (1 + part * 8) / 3;
    const Duration waited{static_cast<std::int64_t>(static_cast<double>(estimated.ns) * ratio)};
    const WaitBand band = calibration.band(estimated);
    EXPECT_LE(band.from, band.until);
    within += waited >= band.from && waited <= band.until;
    calibration.started(band, waited);
  }
  EXPECT_NEAR(static_cast<double>(within) / kStarts, 0.8, 0.03);
}

}  // namespace
}  // namespace gridfold
