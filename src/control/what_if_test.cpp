// What a question about a small cluster is answered, by hand.
#include "control/what_if.h"

#include <gtest/gtest.h>

#include "policies/registry.h"

namespace gridfold {
namespace {

Policies best_fit() { return std::move(*make_policy("best_fit", {})); }

NodeSpec node_of(std::string name) {
  NodeSpec node{
      .name = std::move(name), .cpu = MilliCores(64'000), .memory = Bytes(std::int64_t{1} << 38)};
  for (int i = 0; i < 8; ++i) node.devices.push_back({"gpu", "G", {}});
  return node;
}

std::shared_ptr<const JobSpec> job_of(int gpus, Duration limit, std::string queue = "default") {
  JobSpec spec;
  spec.queue = std::move(queue);
  Role role;
  DeviceRequest gpu{.device_class = "gpu"};
  gpu.count = gpus;
  role.each.devices.push_back(gpu);
  spec.roles.push_back(role);
  spec.time_limit = limit;
  return std::make_shared<const JobSpec>(spec);
}

constexpr Instant kStart = Instant{} + Duration::hours(10);

// Two nodes of 8 GPUs, and a queue "small" that may hold 8 of them.
class WhatIfTest : public testing::Test {
 protected:
  Engine engine{EngineOptions{}, best_fit()};
  std::uint64_t jobs = 0;

  WhatIfTest() {
    QueueSpec small{.name = "small"};
    small.limit.devices["gpu"] = 8'000;
    engine.step(kStart, std::vector<Event>{QueueConfigured{}, QueueConfigured{small},
                                           NodeJoined{node_of("n1")}, NodeJoined{node_of("n2")}});
  }
  JobId submit(int gpus, Duration limit, std::string queue = "default") {
    const JobId id(++jobs);
    engine.step(kStart,
                std::vector<Event>{JobSubmitted{
                    id, "uid", job_of(gpus, limit, std::move(queue)), {}, false, std::nullopt}});
    if (engine.job(id)->tasks[0].phase == TaskPhase::kHeld)
      engine.step(kStart, std::vector<Event>{TaskStarted{{id, 0}, 1}});
    return id;
  }
  Result<std::shared_ptr<const WhatIfProblem>> ask(WhatIfChange change, ForwardOptions options = {},
                                                   Duration horizon = Duration::hours(10)) {
    auto snapshot = std::make_shared<const EngineSnapshot>(take_snapshot(engine, {}, kStart, 7));
    WhatIfQuestion question{{std::move(change)}, horizon};
    return WhatIfProblem::make(snapshot, {}, best_fit, options, question);
  }
  std::shared_ptr<const WhatIfAnswer> answer(WhatIfChange change) {
    const auto problem = ask(std::move(change));
    EXPECT_TRUE(problem) << (problem ? "" : problem.error().describe());
    return (*problem)->answer();
  }
  std::string field_of(WhatIfChange change) {
    const auto problem = ask(std::move(change));
    return problem ? "accepted" : problem.error().field;
  }
};

TEST_F(WhatIfTest, AnAddedNodeStartsAWaitingJobNow) {
  submit(8, Duration::hours(2));
  submit(8, Duration::hours(4));
  submit(8, Duration::hours(1));
  const auto told = answer(AddNodes{1, "n1"});
  EXPECT_EQ(told->waiting, 1);
  EXPECT_EQ(told->now.starting, 1);
  EXPECT_EQ(told->now.mean_wait, Duration::hours(2));
  EXPECT_EQ(told->changed.starting, 1);
  EXPECT_EQ(told->changed.mean_wait, Duration{});
  // 7 node-hours, of 20 and of 30.
  EXPECT_EQ(told->now.utilisation, 350'000);
  EXPECT_EQ(told->changed.utilisation, 233'333);
  EXPECT_EQ(told->changed.devices, 24'000);
  EXPECT_TRUE(told->now.complete && told->changed.complete);
}

TEST_F(WhatIfTest, ADrainedNodeDelays) {
  submit(8, Duration::hours(2));
  submit(8, Duration::hours(4));
  submit(8, Duration::hours(1));
  const std::string first =
      engine.nodes()[engine.job(JobId(1))->tasks[0].allocation.node.value].spec.name;
  const auto told = answer(DrainNode{first});
  EXPECT_EQ(told->now.mean_wait, Duration::hours(2));
  EXPECT_EQ(told->changed.mean_wait, Duration::hours(4));
  EXPECT_EQ(told->changed.p95_wait, Duration::hours(4));
}

TEST_F(WhatIfTest, AHigherLimitStarts) {
  submit(8, Duration::hours(3), "small");
  submit(8, Duration::hours(1), "small");
  const auto told = answer(SetQueueLimit{"small", "gpu", 16'000});
  EXPECT_EQ(told->now.mean_wait, Duration::hours(3));
  EXPECT_EQ(told->changed.mean_wait, Duration{});
  EXPECT_EQ(answer(SetQueueLimit{"small", "gpu", {}})->changed.mean_wait, Duration{});
  EXPECT_EQ(answer(SetQueueLimit{"small", "gpu", 0})->changed.starting, 0);
}

TEST_F(WhatIfTest, ASubmittedJobStartsBehindThoseThatWait) {
  submit(8, Duration::hours(2));
  submit(8, Duration::hours(4));
  submit(8, Duration::hours(1));
  const auto told = answer(SubmitJobs{{job_of(8, Duration::hours(1))}});
  ASSERT_EQ(told->submitted.size(), 1u);
  EXPECT_EQ(told->submitted[0].at, kStart + Duration::hours(3));
  EXPECT_EQ(told->waiting, 1);
  EXPECT_EQ(told->now.mean_wait, told->changed.mean_wait);
  const auto never = answer(SubmitJobs{{job_of(9, Duration::hours(1))}});
  EXPECT_TRUE(never->submitted[0].at.is_never());
}

TEST_F(WhatIfTest, AnotherPolicyDecides) {
  submit(8, Duration::hours(2));
  const auto told = answer(UsePolicy{"fgd"});
  EXPECT_EQ(told->waiting, 0);
  EXPECT_EQ(told->now.utilisation, told->changed.utilisation);
}

TEST_F(WhatIfTest, WhatDoesNotStartWaitsTheWholeHorizon) {
  submit(16, Duration::hours(1));  // no node is so large
  const auto told = answer(AddNodes{2, "n1"});
  EXPECT_EQ(told->waiting, 1);
  EXPECT_EQ(told->changed.starting, 0);
  EXPECT_EQ(told->changed.mean_wait, Duration::hours(10));
}

TEST_F(WhatIfTest, EvictedJobsAreNamed) {
  QueueSpec all;
  all.preempts = true;
  engine.step(kStart, std::vector<Event>{QueueConfigured{all}});
  const JobId low = submit(8, Duration::hours(9));
  submit(8, Duration::hours(9));
  JobSpec urgent = *job_of(8, Duration::hours(1));
  urgent.priority = 5;
  const auto told = answer(SubmitJobs{{std::make_shared<const JobSpec>(urgent)}});
  EXPECT_TRUE(told->now.evicted.empty());
  ASSERT_EQ(told->changed.evicted.size(), 1u);
  EXPECT_LE(told->changed.evicted[0].value, low.value + 1);
  EXPECT_EQ(told->submitted[0].at, kStart);
}

TEST_F(WhatIfTest, WithFewEventsBothAreJudgedByTheShorter) {
  submit(8, Duration::hours(2));
  submit(8, Duration::hours(4));
  for (int i = 0; i < 8; ++i) submit(8, Duration::hours(1));
  ForwardOptions few;
  few.max_events = 30;
  const auto problem = ask(AddNodes{1, "n1"}, few);
  ASSERT_TRUE(problem);
  const auto told = (*problem)->answer();
  EXPECT_FALSE(told->now.complete);
  EXPECT_LT(told->horizon, Duration::hours(10));
  EXPECT_LE(told->now.p95_wait, told->horizon);
}

TEST_F(WhatIfTest, TheSameQuestionHasTheSameAnswer) {
  for (int i = 0; i < 12; ++i) submit(1 + i % 8, Duration::minutes(30 + 17 * i));
  const auto a = answer(AddNodes{1, "n2"});
  const auto b = answer(AddNodes{1, "n2"});
  EXPECT_EQ(a->changed.mean_wait, b->changed.mean_wait);
  EXPECT_EQ(a->changed.p95_wait, b->changed.p95_wait);
  EXPECT_EQ(a->changed.utilisation, b->changed.utilisation);
  EXPECT_EQ(a->changed.evicted, b->changed.evicted);
  EXPECT_EQ(engine.check_invariants(), std::nullopt);
}

TEST_F(WhatIfTest, MistakesNameTheirField) {
  EXPECT_EQ(field_of(AddNodes{1, "n9"}), "changes[0].add_nodes.like");
  EXPECT_EQ(field_of(AddNodes{0, "n1"}), "changes[0].add_nodes.count");
  EXPECT_EQ(field_of(AddNodes{kMostAddedNodes + 1, "n1"}), "changes[0].add_nodes.count");
  EXPECT_EQ(field_of(DrainNode{"x"}), "changes[0].drain_node");
  EXPECT_EQ(field_of(SetQueueLimit{"smal", "gpu", 1}), "changes[0].queue_limit.queue");
  EXPECT_EQ(field_of(SetQueueLimit{"small", "npu", 1}), "changes[0].queue_limit.resource");
  EXPECT_EQ(field_of(SetQueueLimit{"small", "gpu", -1}), "changes[0].queue_limit.limit");
  EXPECT_EQ(field_of(SubmitJobs{{job_of(1, Duration::hours(1), "none")}}),
            "changes[0].submit_job.queue");
  EXPECT_EQ(field_of(UsePolicy{"best"}), "changes[0].policy");
  EXPECT_EQ(ask(DrainNode{"n1"}, {}, Duration{}).error().field, "horizon");
}

}  // namespace
}  // namespace gridfold
