// The engine driven by hand: facts in, decisions out. What users see is tested
// by the scenarios in tests/scenarios/.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gridfold {
namespace {

// Fewest free devices left, then fewest cores: enough of a policy for here.
class Tightest : public PlacementPolicy {
 public:
  std::string_view name() const override { return "tightest"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    std::int64_t idle = 0;
    for (const DeviceRoom& device : node.devices) idle += device.holders == 0;
    return {-idle * 1'000'000 - node.cpu, first_fit_devices(node, request)};
  }
};

class EngineTest : public testing::Test {
 protected:
  Engine engine{EngineOptions{.verify = Verify::kEveryStep}, std::make_unique<Tightest>()};
  Instant now{};
  std::uint64_t next_id = 1;
  std::vector<LaunchTask> launched;
  std::vector<StopTask> stopped;

  Decisions step(std::vector<Event> events) {
    Decisions decisions = engine.step(now, events);
    for (const Decision& decision : decisions.list) {
      if (const auto* launch = std::get_if<LaunchTask>(&decision)) launched.push_back(*launch);
      if (const auto* stop = std::get_if<StopTask>(&decision)) stopped.push_back(*stop);
    }
    return decisions;
  }
  Decisions commit(const Decisions& decisions) { return step({TurnCommitted{decisions.turn}}); }

  void nodes(int count, int gpus) {
    std::vector<Event> events{QueueConfigured{QueueSpec{}}};
    for (int i = 0; i < count; ++i) {
      NodeSpec spec;
      spec.name = "n" + std::to_string(i + 1);
      spec.cpu = MilliCores(64'000);
      spec.memory = Bytes(std::int64_t{256} << 30);
      for (int g = 0; g < gpus; ++g)
        spec.devices.push_back({"gpu", "G", Bytes(std::int64_t{80} << 30)});
      events.emplace_back(NodeJoined{spec});
    }
    step(events);
  }

  JobSpec gang(int tasks, int gpus, WorkloadClass cls = WorkloadClass::kTrain) {
    JobSpec spec;
    spec.workload_class = cls;
    Role role;
    role.count = role.min = tasks;
    role.each.cpu = MilliCores(1000);
    if (gpus > 0) role.each.devices.push_back({"gpu", gpus});
    spec.roles.push_back(role);
    return spec;
  }
  JobId submit(const JobSpec& spec, std::vector<DependencyRecord> after = {}) {
    const JobId id(next_id++);
    step(
        {JobSubmitted{id, "u" + std::to_string(id.value), std::make_shared<JobSpec>(spec), after}});
    return id;
  }
  JobState state(JobId id) { return engine.job(id)->state; }
  // Every task of the job reports that it runs.
  void run(JobId id) {
    const JobRecord record = *engine.job(id);
    for (std::uint32_t i = 0; i < record.tasks.size(); ++i)
      if (record.tasks[i].phase == TaskPhase::kHeld)
        step({TaskStarted{{id, i}, record.tasks[i].attempt}});
  }
  void exit(JobId id, std::uint32_t task, ExitStatus status = {}) {
    const std::uint32_t attempt = engine.job(id)->tasks[task].attempt;
    step({TaskExited{{id, task}, attempt, status}});
    step({TaskCleaned{{id, task}, attempt}});
  }
};

TEST_F(EngineTest, RunsAJobToItsEnd) {
  nodes(1, 8);
  const JobId job = submit(gang(1, 8));
  EXPECT_EQ(state(job), JobState::kStarting);
  run(job);
  EXPECT_EQ(state(job), JobState::kRunning);
  exit(job, 0);
  EXPECT_EQ(state(job), JobState::kSucceeded);
}

// Jobs of many queues that ask for the same find no room alike: an end is not
// made dearer by them.
TEST_F(EngineTest, AnEndTriesNoMoreWhenMoreQueuesWait) {
  nodes(2, 8);
  std::int64_t tried[2] = {0, 0};
  std::vector<JobId> running;
  for (int i = 0; i < 16; ++i) running.push_back(submit(gang(1, 1)));
  for (const JobId job : running) run(job);
  int queues = 0;
  for (const int more : {3, 200}) {
    std::vector<Event> events;
    for (; queues < more; ++queues) {
      QueueSpec queue;
      queue.name = "q" + std::to_string(queues);
      queue.weight = 1;
      events.emplace_back(QueueConfigured{queue});
    }
    step(std::move(events));
    for (int q = 0; q < queues; ++q) {
      for (const int gpus : {1, 2, 4}) {
        JobSpec job = gang(1, gpus);
        job.queue = "q" + std::to_string(q);
        submit(job);
      }
    }
    const std::int64_t before = engine.work().jobs_tried;
    const std::size_t started = launched.size();
    exit(running.back(), 0);
    running.pop_back();
    EXPECT_EQ(launched.size(), started + 1);
    tried[queues > 3] = engine.work().jobs_tried - before;
  }
  EXPECT_LE(tried[0], 4);
  EXPECT_LE(tried[1], 4);
}

TEST_F(EngineTest, GangStartsWholeOrNotAtAll) {  // F01
  nodes(10, 8);
  const JobId a = submit(gang(10, 8));
  const JobId b = submit(gang(10, 8));
  EXPECT_EQ(state(a), JobState::kStarting);
  EXPECT_EQ(state(b), JobState::kPending);
  const auto reasons = engine.explain(b);
  ASSERT_FALSE(reasons.empty());
  EXPECT_EQ(reasons[0].code, ReasonCode::kGangIncomplete);
  EXPECT_EQ(reasons[0].number("have"), 0);
  EXPECT_EQ(reasons[0].number("need"), 10);
  run(a);
  for (std::uint32_t i = 0; i < 9; ++i) exit(a, i);
  EXPECT_EQ(state(b), JobState::kPending);
  exit(a, 9);
  EXPECT_EQ(state(b), JobState::kStarting);
}

TEST_F(EngineTest, SlicesShareADeviceAndWholeDevicesDoNot) {  // F10
  nodes(1, 2);
  JobSpec slice = gang(1, 1);
  slice.roles[0].each.devices[0].share = DeviceShare(250);
  JobSpec three = slice;
  three.roles[0].each.devices[0].share = DeviceShare(750);
  const JobId s = submit(slice);
  const JobId w1 = submit(gang(1, 1));
  const JobId w2 = submit(gang(1, 1));
  const JobId t = submit(three);
  const JobId u = submit(slice);
  EXPECT_EQ(engine.job(s)->tasks[0].allocation.devices, 1u);
  EXPECT_EQ(engine.job(w1)->tasks[0].allocation.devices, 2u);
  EXPECT_EQ(state(w2), JobState::kPending);
  EXPECT_EQ(engine.job(t)->tasks[0].allocation.devices, 1u);
  EXPECT_EQ(state(u), JobState::kPending);
  run(t);
  exit(t, 0);
  EXPECT_EQ(state(u), JobState::kStarting);
  EXPECT_EQ(state(w2), JobState::kPending);
}

TEST_F(EngineTest, MemorySlicesAreExact) {  // F09
  nodes(0, 0);
  NodeSpec spec{.name = "n", .cpu = MilliCores(64'000), .memory = Bytes(1LL << 40)};
  spec.devices.push_back({"gpu", "A40", Bytes(46068LL << 20)});
  step({NodeJoined{spec}});
  JobSpec slice = gang(1, 1);
  slice.roles[0].each.devices[0].share = DeviceShare(0);
  slice.roles[0].each.devices[0].memory = Bytes(2000LL << 20);
  std::vector<JobId> jobs;
  for (int i = 0; i < 24; ++i) jobs.push_back(submit(slice));
  EXPECT_EQ(state(jobs[22]), JobState::kStarting);
  EXPECT_EQ(state(jobs[23]), JobState::kPending);
  const Reason reason = engine.explain(jobs[23]).front();
  EXPECT_EQ(reason.code, ReasonCode::kInsufficientFree);
  EXPECT_EQ(reason.text("resource"), "gpu_memory");
  EXPECT_EQ(reason.number("largest_block"), 68LL << 20);
  EXPECT_EQ(reason.number("need"), 2000LL << 20);
}

TEST_F(EngineTest, EarmarksTheRoomOfItsVictims) {  // F04
  nodes(2, 8);
  JobSpec filler = gang(1, 8, WorkloadClass::kFiller);
  const JobId a = submit(filler);
  const JobId b = submit(filler);
  run(a);
  run(b);
  now = Instant{} + Duration::seconds(100);
  const JobId p = submit(gang(2, 8));
  EXPECT_EQ(stopped.size(), 2u);
  EXPECT_EQ(engine.explain(p).front().code, ReasonCode::kPreemptionPending);
  exit(a, 0, {.signal = 15});
  EXPECT_EQ(state(a), JobState::kPending);
  now = Instant{} + Duration::seconds(110);
  const JobId c = submit(gang(1, 8));
  EXPECT_EQ(state(c), JobState::kPending);
  EXPECT_EQ(engine.explain(c).front().code, ReasonCode::kReservedFor);
  EXPECT_EQ(state(p), JobState::kPending);
  exit(b, 0, {.signal = 15});
  EXPECT_EQ(state(p), JobState::kStarting);
  EXPECT_EQ(engine.job(a)->evictions, 1);
  EXPECT_EQ(engine.job(b)->evictions, 1);
}

TEST_F(EngineTest, EvictsNoMoreThanNeeded) {
  nodes(1, 8);
  std::vector<JobId> fillers;
  for (int i = 0; i < 8; ++i) fillers.push_back(submit(gang(1, 1, WorkloadClass::kFiller)));
  for (const JobId id : fillers) run(id);
  submit(gang(1, 3));
  EXPECT_EQ(stopped.size(), 3u);
}

TEST_F(EngineTest, FillersDoNotKeepEachGapFromWorkThatMayEvictThem) {
  nodes(1, 8);
  const JobId a = submit(gang(1, 4));
  run(a);
  const JobId waiting = submit(gang(1, 8));
  const JobId filler = submit(gang(1, 4, WorkloadClass::kFiller));
  run(filler);
  submit(gang(1, 4, WorkloadClass::kFiller));
  EXPECT_TRUE(stopped.empty());  // a is no filler: stopping the filler would not suffice
  exit(a, 0);
  EXPECT_EQ(state(filler), JobState::kStopping);
  EXPECT_EQ(engine.explain(waiting).front().code, ReasonCode::kPreemptionPending);
  exit(filler, 0, {.signal = 15});
  EXPECT_EQ(state(waiting), JobState::kStarting);
}

TEST_F(EngineTest, RestartsAFailedTaskInPlace) {
  nodes(2, 8);
  JobSpec spec = gang(2, 8);
  spec.retry.max = 1;
  spec.retry.backoff = Duration::seconds(1);
  const JobId job = submit(spec);
  run(job);
  const Allocation before = engine.job(job)->tasks[1].allocation;
  exit(job, 1, {.signal = 9});
  EXPECT_EQ(engine.job(job)->tasks[1].phase, TaskPhase::kBackoff);
  EXPECT_EQ(engine.next_wake(), now + Duration::seconds(1));
  now = engine.next_wake();
  step({});
  EXPECT_EQ(engine.job(job)->tasks[1].phase, TaskPhase::kHeld);
  EXPECT_EQ(engine.job(job)->tasks[1].attempt, 2u);
  EXPECT_EQ(engine.job(job)->tasks[1].allocation, before);
  run(job);
  exit(job, 1, {.code = 3});
  EXPECT_EQ(state(job), JobState::kStopping);
  EXPECT_EQ(stopped.size(), 1u);
  exit(job, 0, {.signal = 15});
  EXPECT_EQ(state(job), JobState::kFailed);
  EXPECT_EQ(engine.job(job)->reason->number("exit_code"), 3);
}

TEST_F(EngineTest, StaleReportsHaveNoEffect) {  // I7, I8
  nodes(1, 8);
  JobSpec spec = gang(1, 8);
  spec.retry.max = 3;
  const JobId job = submit(spec);
  run(job);
  exit(job, 0, {.code = 1});
  now = engine.next_wake();
  step({});
  step({TaskExited{{job, 0}, 1, {}}});
  EXPECT_EQ(engine.job(job)->tasks[0].phase, TaskPhase::kHeld);
  step({TaskStarted{{job, 0}, 2}});
  step({TaskStarted{{job, 0}, 2}});
  exit(job, 0);
  EXPECT_EQ(state(job), JobState::kSucceeded);
  step({TaskStarted{{job, 0}, 2}});
  EXPECT_EQ(state(job), JobState::kSucceeded);
}

TEST_F(EngineTest, RejectedTurnLeavesNoTrace) {
  nodes(2, 8);
  step({TurnCommitted{100}});
  const JobId a = submit(gang(1, 8));
  const Decisions submitted =
      engine.step(now, std::vector<Event>{JobSubmitted{
                           JobId(50), "u50", std::make_shared<JobSpec>(gang(1, 8)), {}}});
  EXPECT_NE(engine.job(JobId(50)), nullptr);
  const Decisions after = step({TurnRejected{submitted.turn}});
  EXPECT_EQ(engine.job(JobId(50)), nullptr);
  EXPECT_EQ(state(a), JobState::kStarting);
  const JobId c = submit(gang(1, 8));
  EXPECT_EQ(state(c), JobState::kStarting);
}

TEST_F(EngineTest, AJobThatNeverRanSatisfiesNoEdge) {  // N13
  nodes(1, 8);
  std::vector<JobId> chain{submit(gang(1, 8))};
  for (int i = 0; i < 5; ++i)
    chain.push_back(submit(gang(1, 8), {{chain.back(), DependencyCondition::kFailed}}));
  for (int i = 0; i < 2; ++i) {
    run(chain[i]);
    exit(chain[i], 0, {.code = 1});
    EXPECT_EQ(state(chain[i]), JobState::kFailed);
  }
  run(chain[2]);
  exit(chain[2], 0);
  EXPECT_EQ(state(chain[2]), JobState::kSucceeded);
  for (int i = 3; i < 6; ++i) EXPECT_EQ(state(chain[i]), JobState::kCancelled);
}

TEST_F(EngineTest, AParentThatEndsInTheSameStepIsNotWaitedForAnyMore) {  // N05
  nodes(1, 8);
  const JobId parent = submit(gang(1, 8));
  run(parent);
  step({TaskExited{{parent, 0}, 1, {}}});
  const auto child = [&](JobId id, DependencyCondition condition) {
    return JobSubmitted{id,    "u", std::make_shared<JobSpec>(gang(1, 4)), {{parent, condition}},
                        false, {}};
  };
  step({TaskCleaned{{parent, 0}, 1}, child(JobId(2), DependencyCondition::kOk),
        child(JobId(3), DependencyCondition::kFailed)});
  EXPECT_EQ(state(JobId(2)), JobState::kStarting);
  EXPECT_EQ(state(JobId(3)), JobState::kCancelled);
  EXPECT_EQ(engine.job(JobId(3))->reason->code, ReasonCode::kDependencyNeverMet);
}

TEST_F(EngineTest, DrainsANodeThatCannotLaunch) {  // F12
  nodes(1, 8);
  const JobId job = submit(gang(1, 8));
  step({LaunchFailed{{job, 0}, 1, "no cgroup"}});
  EXPECT_EQ(engine.job(job)->tasks[0].attempt, 2u);
  step({LaunchFailed{{job, 0}, 2, "no cgroup"}});
  EXPECT_TRUE(engine.nodes()[0].drained);
  EXPECT_EQ(engine.nodes()[0].reason->code, ReasonCode::kLaunchFailures);
  EXPECT_EQ(engine.explain(job).front().code, ReasonCode::kNodeDraining);
}

TEST_F(EngineTest, LostNodeFreesOnlyWhenFenced) {
  nodes(2, 8);
  const JobId job = submit(gang(1, 8));
  run(job);
  step({NodeLost{"n1", Fencing::kUnfenced}});
  EXPECT_EQ(state(job), JobState::kRunning);
  EXPECT_EQ(engine.job(job)->tasks[0].allocation.node, NodeId(0));
  step({NodeLost{"n1", Fencing::kFenced}});
  EXPECT_EQ(state(job), JobState::kStarting);
  EXPECT_EQ(engine.job(job)->tasks[0].allocation.node, NodeId(1));
}

TEST_F(EngineTest, QuotaHoldsAndSaysHowMuchIsShort) {
  nodes(2, 8);
  QueueSpec queue;
  queue.limit.devices["gpu"] = 8000;
  step({QueueConfigured{queue}});
  submit(gang(1, 6));
  const JobId b = submit(gang(1, 4));
  EXPECT_EQ(state(b), JobState::kPending);
  const Reason reason = engine.explain(b).front();
  EXPECT_EQ(reason.code, ReasonCode::kQuotaInUse);
  EXPECT_EQ(reason.number("short"), 2000);
  const JobId c = submit(gang(1, 9));
  EXPECT_EQ(engine.explain(c).front().code, ReasonCode::kNoMatchingNode);
}

TEST_F(EngineTest, ANewQueuePriorityReordersWhatWaitsAndWhatIsPromised) {
  nodes(1, 8);
  const JobId filler = submit(gang(1, 8, WorkloadClass::kFiller));
  run(filler);
  const JobId promised = submit(gang(1, 8));
  const JobId waits = submit(gang(1, 8));
  QueueSpec queue;
  queue.priority = 5;
  step({QueueConfigured{queue}});
  step({QueuesConfigured{{{}, {}, {}}}});
  EXPECT_EQ(engine.explain(waits).front().code, ReasonCode::kQueueClosed);
  step({QueueConfigured{queue}});
  exit(filler, 0, {.signal = 15});
  EXPECT_EQ(state(promised), JobState::kStarting);
  step({JobCancelRequested{waits, "user"}});
  EXPECT_EQ(state(waits), JobState::kCancelled);
}

TEST_F(EngineTest, AConfigurationThatIsNotStoredIsUndoneWhole) {
  nodes(1, 8);
  QueueSpec queue;
  queue.limit.devices["gpu"] = 4000;
  step({QueueConfigured{queue}});
  run(submit(gang(1, 4)));
  const JobId waits = submit(gang(1, 2));
  EXPECT_EQ(state(waits), JobState::kPending);
  const QueueConfiguration before = engine.queue_configuration();
  // Raised, turned to shares, and another one beside it: who waited starts.
  QueueSpec other;
  other.name = "other";
  other.weight = 2;
  queue.limit.devices["gpu"] = 8000;
  queue.priority = 3;
  const Decisions changed =
      step({QueuesConfigured{{{queue, other}, Duration::hours(1), {{{"H100", 3000}}, "a test"}}}});
  EXPECT_EQ(state(waits), JobState::kStarting);
  EXPECT_EQ(engine.queue_configuration().queues.size(), 2u);
  EXPECT_FALSE(engine.queue_configuration() == before);
  step({TurnRejected{changed.turn}});
  EXPECT_EQ(state(waits), JobState::kPending);
  EXPECT_TRUE(engine.queue_configuration() == before);
  EXPECT_EQ(engine.explain(waits).front().number("limit"), 4000);
}

TEST_F(EngineTest, ANeverIsNamedWithItsNumbers) {
  nodes(2, 8);
  const JobId job = submit(gang(1, 9));
  const Reason reason = engine.explain(job).front();
  EXPECT_EQ(reason.code, ReasonCode::kNoMatchingNode);
  EXPECT_EQ(reason.text("constraint"), "gpu");
  EXPECT_EQ(reason.number("need"), 9);
  EXPECT_EQ(reason.number("largest"), 8);
}

TEST_F(EngineTest, PartialGangStartsWithItsMinimum) {  // N01
  nodes(10, 6);
  JobSpec whole = gang(12, 4);
  const JobId job = submit(whole);
  EXPECT_EQ(state(job), JobState::kPending);
  // Ten tasks fit at most, however empty the nodes are: never.
  EXPECT_EQ(engine.explain(job).front().code, ReasonCode::kExceedsCluster);
  EXPECT_EQ(engine.explain(job).front().number("capacity"), 10);
  EXPECT_EQ(engine.explain(job).front().number("need"), 12);
  JobSpec ten = whole;
  ten.roles[0].min = 10;
  const JobId other = submit(ten);
  EXPECT_EQ(state(other), JobState::kStarting);
  run(other);
  EXPECT_EQ(state(other), JobState::kRunning);
  for (std::uint32_t i = 0; i < 10; ++i) exit(other, i);
  EXPECT_EQ(state(other), JobState::kSucceeded);
}

TEST_F(EngineTest, TimeLimitEndsAJob) {
  nodes(1, 8);
  JobSpec spec = gang(1, 8);
  spec.time_limit = Duration::seconds(10);
  const JobId job = submit(spec);
  run(job);
  EXPECT_EQ(engine.next_wake(), now + Duration::seconds(10));
  now = engine.next_wake();
  step({});
  EXPECT_EQ(stopped.size(), 1u);
  exit(job, 0, {.signal = 15});
  EXPECT_EQ(state(job), JobState::kFailed);
  EXPECT_EQ(engine.job(job)->reason->code, ReasonCode::kTimeLimit);
}

TEST_F(EngineTest, RoomThatOnlyAPromiseTookIsGivenAgainWhenAnotherHoldingGoes) {
  nodes(1, 1);
  const auto cores = [&](int count, int gpus, WorkloadClass cls) {
    JobSpec spec = gang(1, gpus, cls);
    spec.roles[0].each.cpu = MilliCores(1000 * count);
    return submit(spec);
  };
  const JobId filler = cores(20, 1, WorkloadClass::kFiller);
  const JobId other = cores(20, 0, WorkloadClass::kTrain);
  run(filler);
  run(other);
  // 24 cores are free; the promise takes 40 of what will be free, which leaves 4.
  cores(40, 1, WorkloadClass::kTrain);
  const JobId small = cores(10, 0, WorkloadClass::kTrain);
  ASSERT_EQ(state(small), JobState::kPending);
  // The other has ended and is being cleared up: now 24 will be left, and 24 are free.
  step({TaskExited{{other, 0}, 1, {}}});
  EXPECT_EQ(state(small), JobState::kStarting);
}

TEST_F(EngineTest, RolesThatFitOneByOneAndNotTogetherSayWhyTheyWait) {
  nodes(1, 0);
  JobSpec spec = gang(1, 0);
  spec.roles[0].each.cpu = MilliCores(40'000);
  spec.roles.push_back(spec.roles[0]);
  spec.roles[1].name = "second";
  const JobId job = submit(spec);
  ASSERT_EQ(state(job), JobState::kPending);
  const auto reason = engine.main_reason(job);
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->code, ReasonCode::kFragmented);
  EXPECT_EQ(reason->number("roles"), 2);
}

TEST_F(EngineTest, FillersAreEvictedAsSoonAsTheRestOfTheRoomBeginsToLeave) {
  nodes(1, 8);
  const JobId filler = submit(gang(1, 4, WorkloadClass::kFiller));
  const JobId other = submit(gang(1, 4));
  run(filler);
  run(other);
  const JobId whole = submit(gang(1, 8));
  ASSERT_EQ(state(whole), JobState::kPending);
  ASSERT_EQ(state(filler), JobState::kRunning);
  // The other has ended: once it is cleared up only the filler is in the way.
  step({TaskExited{{other, 0}, 1, {}}});
  EXPECT_EQ(state(filler), JobState::kStopping);
}

}  // namespace
}  // namespace gridfold
