// Jobs that go by rounds: what the policy is shown, and how its plan is carried
// out while the world moves on.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "engine/engine.h"

namespace gridfold {
namespace {

class FirstFit : public PlacementPolicy {
 public:
  std::string_view name() const override { return "first_fit"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

// Says what the test tells it to.
struct Script {
  std::vector<RoundView> views;
  std::map<JobId, std::vector<RoundPlace>> places;
};
class Scripted : public RoundPolicy {
 public:
  explicit Scripted(Script& script) : script_(script) {}
  std::string_view name() const override { return "scripted"; }
  Duration round() const override { return Duration::seconds(60); }
  bool takes(const JobSpec& job) const override { return job.name != "plain"; }
  RoundPlan plan(const RoundView& view) override {
    script_.views.push_back(view);
    RoundPlan plan;
    for (const auto& [job, places] : script_.places) plan.assignments.push_back({job, places});
    return plan;
  }
  std::int64_t steps() const override { return 1; }

 private:
  Script& script_;
};

class RoundsTest : public testing::Test {
 protected:
  Script script;
  Engine engine{EngineOptions{.verify = Verify::kEveryStep},
                Policies(std::make_unique<FirstFit>(), std::make_unique<Scripted>(script))};
  Instant now{};
  std::uint64_t next_id = 1;
  std::vector<LaunchTask> launched;
  std::vector<StopTask> stopped;
  std::vector<Solve> asked;

  Decisions step(std::vector<Event> events) {
    Decisions decisions = engine.step(now, events);
    for (const Decision& decision : decisions.list) {
      if (const auto* launch = std::get_if<LaunchTask>(&decision)) launched.push_back(*launch);
      if (const auto* stop = std::get_if<StopTask>(&decision)) stopped.push_back(*stop);
    }
    for (const Solve& solve : decisions.solves) asked.push_back(solve);
    return decisions;
  }

  void nodes(int count, int gpus) {
    std::vector<Event> events{QueueConfigured{QueueSpec{}}};
    for (int i = 0; i < count; ++i)
      events.emplace_back(NodeJoined{node("n" + std::to_string(i + 1), gpus)});
    step(events);
    now = now + Duration::seconds(1);  // behind the first boundary
  }
  static NodeSpec node(const std::string& name, int gpus) {
    NodeSpec spec;
    spec.name = name;
    spec.cpu = MilliCores(64'000);
    spec.memory = Bytes(std::int64_t{256} << 30);
    for (int g = 0; g < gpus; ++g)
      spec.devices.push_back({"gpu", "G", Bytes(std::int64_t{80} << 30)});
    return spec;
  }

  JobSpec elastic(int least, int most) {
    JobSpec spec;
    spec.name = "train";
    Role role;
    role.min = least;
    role.count = most;
    role.each.cpu = MilliCores(1000);
    role.each.devices.push_back({"gpu", 1});
    spec.roles.push_back(role);
    spec.training.emplace();
    return spec;
  }
  JobId submit(JobSpec spec) {
    const JobId id(next_id++);
    step({JobSubmitted{id,
                       "uid-" + std::to_string(id.value),
                       std::make_shared<const JobSpec>(std::move(spec)),
                       {}}});
    return id;
  }
  const JobRecord& record(JobId id) { return *engine.job(id); }

  void go_to(Instant at) { now = at; }
  // The next boundary, the plan asked for there, and its answer.
  void ask() {
    go_to(engine.next_round());
    step({});
  }
  Decisions answer() {
    const Solve solve = asked.back();
    return step({Solved{solve.id, solve.problem->solve()}});
  }
  Decisions round() {
    ask();
    return answer();
  }
  // Everything launched starts; everything stopped has gone.
  void settle_all() {
    while (!launched.empty() || !stopped.empty()) {
      std::vector<Event> events;
      for (const StopTask& stop : std::exchange(stopped, {})) {
        events.emplace_back(TaskExited{stop.task, stop.attempt, ExitStatus{0, 15}});
        events.emplace_back(TaskCleaned{stop.task, stop.attempt});
      }
      for (const LaunchTask& launch : std::exchange(launched, {}))
        events.emplace_back(TaskStarted{launch.task, launch.attempt});
      step(events);
    }
  }
  int tasks_of(JobId id) {
    int tasks = 0;
    for (const TaskRecord& task : record(id).tasks) tasks += task.phase == TaskPhase::kRunning;
    return tasks;
  }
  void plan(JobId id, std::vector<RoundPlace> places) { script.places[id] = std::move(places); }
};

constexpr NodeId kFirst{0};
constexpr NodeId kSecond{1};

TEST_F(RoundsTest, NothingIsTimedWhileNoJobGoesByRounds) {
  nodes(2, 4);
  EXPECT_TRUE(engine.next_wake().is_never());
  JobSpec plain = elastic(1, 4);
  plain.name = "plain";
  submit(plain);
  EXPECT_TRUE(engine.next_wake().is_never());
  EXPECT_EQ(launched.size(), 4u);
}

TEST_F(RoundsTest, AJobWaitsForTheBoundaryAndStartsWhereThePlanSays) {
  nodes(2, 4);
  go_to(Instant{} + Duration::seconds(70));
  const JobId job = submit(elastic(1, 8));
  EXPECT_TRUE(launched.empty());
  EXPECT_EQ(engine.next_wake(), Instant{} + Duration::seconds(120));
  EXPECT_EQ(engine.main_reason(job)->code, ReasonCode::kWaitsForRound);

  plan(job, {{kSecond, 3}});
  round();
  ASSERT_EQ(script.views.size(), 1u);
  ASSERT_EQ(script.views[0].nodes.size(), 2u);
  EXPECT_EQ(script.views[0].nodes[0].devices, 4);
  EXPECT_EQ(script.views[0].round, 1u);
  ASSERT_EQ(launched.size(), 3u);
  for (const LaunchTask& launch : launched) EXPECT_EQ(launch.allocation.node, kSecond);
  settle_all();
  EXPECT_EQ(record(job).state, JobState::kRunning);
  EXPECT_EQ(tasks_of(job), 3);
}

TEST_F(RoundsTest, AJobThatComesAtABoundaryIsSeenThere) {
  nodes(1, 4);
  go_to(Instant{} + Duration::seconds(60));
  submit(elastic(1, 4));
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(RoundsTest, WhoStaysIsLeftAloneAndWhoChangesIsStoppedAndStartedAgain) {
  nodes(2, 4);
  const JobId first = submit(elastic(1, 8));
  const JobId second = submit(elastic(1, 8));
  plan(first, {{kFirst, 4}});
  round();
  settle_all();
  EXPECT_EQ(tasks_of(first), 4);

  plan(first, {{kFirst, 2}});
  plan(second, {{kFirst, 2}, {kSecond, 4}});
  const Decisions decisions = round();
  EXPECT_EQ(stopped.size(), 4u);
  EXPECT_TRUE(launched.empty());  // its room is still held
  const bool said =
      std::any_of(decisions.list.begin(), decisions.list.end(), [&](const Decision& decision) {
        const auto* change = std::get_if<JobChanged>(&decision);
        return change != nullptr && change->job == first &&
               change->reason == Reason(ReasonCode::kResized,
                                        {{"from", std::int64_t{4}}, {"to", std::int64_t{2}}});
      });
  EXPECT_TRUE(said);
  settle_all();
  EXPECT_EQ(tasks_of(first), 2);
  EXPECT_EQ(tasks_of(second), 6);
  EXPECT_EQ(record(first).evictions, 0);
  EXPECT_EQ(record(first).losses, 0);
  EXPECT_EQ(record(first).runs, 2);

  round();  // the same plan: nothing changes
  EXPECT_TRUE(stopped.empty());
  EXPECT_TRUE(launched.empty());
  const RoundJob& seen = script.views.back().jobs.front();
  EXPECT_EQ(seen.places, (std::vector<RoundPlace>{{kFirst, 2}}));
  EXPECT_EQ(seen.starts, 2);
  EXPECT_EQ(seen.executed_ns, (4 * 60 + 2 * 60) * std::int64_t{1'000'000'000});
  EXPECT_EQ(script.views.back().nodes[0].devices, 4);
}

TEST_F(RoundsTest, WhoGetsNothingWaitsAndSaysWhy) {
  nodes(1, 4);
  const JobId job = submit(elastic(1, 4));
  plan(job, {{kFirst, 4}});
  round();
  settle_all();
  script.places.clear();
  round();
  settle_all();
  EXPECT_EQ(record(job).state, JobState::kPending);
  const std::vector<Reason> reasons = engine.explain(job);
  ASSERT_GE(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].code, ReasonCode::kWaitsForRound);
  EXPECT_EQ(reasons[1],
            Reason(ReasonCode::kResized, {{"from", std::int64_t{4}}, {"to", std::int64_t{0}}}));
}

TEST_F(RoundsTest, RoomTakenBeforeTheAnswerIsMissedAndTheRunningJobStays) {
  nodes(2, 4);
  const JobId job = submit(elastic(1, 8));
  plan(job, {{kFirst, 4}});
  round();
  settle_all();
  plan(job, {{kSecond, 4}});
  ask();
  JobSpec plain = elastic(2, 2);
  plain.name = "plain";
  submit(plain);  // on the second node: the first is full
  settle_all();
  answer();
  EXPECT_TRUE(stopped.empty());
  EXPECT_EQ(tasks_of(job), 4);
  EXPECT_EQ(record(job).state, JobState::kRunning);
}

TEST_F(RoundsTest, WhoRanOnWhatARefusedMoveKeepsStaysAsWell) {
  nodes(2, 2);
  const JobId a = submit(elastic(1, 4));
  const JobId b = submit(elastic(1, 4));
  plan(a, {{kFirst, 2}});
  plan(b, {{kSecond, 2}});
  round();
  settle_all();
  // a would move to where nobody can, b to where a is.
  plan(a, {{kSecond, 3}});
  plan(b, {{kFirst, 2}});
  round();
  EXPECT_TRUE(stopped.empty());
  // Both ways round: they change places.
  plan(a, {{kSecond, 2}});
  round();
  EXPECT_EQ(stopped.size(), 4u);
  settle_all();
  EXPECT_EQ(tasks_of(a), 2);
  EXPECT_EQ(tasks_of(b), 2);
}

TEST_F(RoundsTest, NumbersThatAJobCannotHaveAreRefused) {
  nodes(2, 4);
  JobSpec spec = elastic(2, 8);
  spec.roles[0].multiple_of = 2;
  const JobId job = submit(spec);
  for (const int tasks : {1, 3, 9}) {
    plan(job, {{kFirst, std::min(tasks, 4)}, {kSecond, tasks - std::min(tasks, 4)}});
    round();
    EXPECT_TRUE(launched.empty()) << tasks;
  }
  EXPECT_EQ(engine.explain(job)[1].code, ReasonCode::kRoundMissed);
  plan(job, {{kFirst, 4}, {kSecond, 2}});
  round();
  EXPECT_EQ(launched.size(), 6u);
}

TEST_F(RoundsTest, WithoutRoundsAJobStartsWithAMultipleToo) {
  nodes(1, 7);
  JobSpec plain = elastic(2, 8);
  plain.name = "plain";
  plain.roles[0].multiple_of = 2;
  const JobId job = submit(plain);
  EXPECT_EQ(launched.size(), 6u);
  settle_all();
  EXPECT_EQ(tasks_of(job), 6);
}

// A plan may name a node twice, and the order of its places is that of tasks.
TEST_F(RoundsTest, TasksAreNumberedInTheOrderOfThePlan) {
  nodes(2, 4);
  const JobId job = submit(elastic(1, 8));
  plan(job, {{kSecond, 1}, {kFirst, 2}, {kSecond, 1}});
  round();
  ASSERT_EQ(launched.size(), 4u);
  const std::vector<NodeId> expected = {kSecond, kFirst, kFirst, kSecond};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(launched[i].allocation.node, expected[i]);
  EXPECT_NE(launched[0].allocation.devices, launched[3].allocation.devices);
  settle_all();
  round();
  EXPECT_EQ(script.views.back().jobs[0].places, script.places[job]);
  EXPECT_TRUE(stopped.empty());
}

TEST_F(RoundsTest, QuotaHoldsThroughAResize) {
  QueueSpec limited;
  limited.name = "small";
  limited.limit.devices["gpu"] = 4000;
  nodes(2, 4);
  step({QueueConfigured{limited}});
  JobSpec spec = elastic(1, 8);
  spec.queue = "small";
  const JobId a = submit(spec);
  const JobId b = submit(spec);
  plan(a, {{kFirst, 4}});
  plan(b, {{kSecond, 1}});
  round();
  EXPECT_EQ(launched.size(), 4u);
  settle_all();
  // Room is free at once on the second node, the quota only when a has gone.
  plan(a, {{kFirst, 1}});
  plan(b, {{kSecond, 3}});
  round();
  EXPECT_TRUE(launched.empty());
  settle_all();
  EXPECT_EQ(tasks_of(a), 1);
  EXPECT_EQ(tasks_of(b), 3);
}

TEST_F(RoundsTest, ALimitOfJobsDoesNotStopTheResizeOfOne) {
  QueueSpec limited;
  limited.name = "small";
  limited.limit.running_jobs = 1;
  nodes(2, 4);
  step({QueueConfigured{limited}});
  JobSpec spec = elastic(1, 8);
  spec.queue = "small";
  const JobId a = submit(spec);
  const JobId b = submit(spec);
  plan(a, {{kFirst, 2}});
  plan(b, {{kSecond, 2}});
  round();
  settle_all();
  EXPECT_EQ(tasks_of(a), 2);
  EXPECT_EQ(record(b).state, JobState::kPending);
  plan(a, {{kFirst, 4}});
  round();
  settle_all();
  EXPECT_EQ(tasks_of(a), 4);
  // One for the other.
  plan(a, {});
  round();
  settle_all();
  EXPECT_EQ(tasks_of(b), 2);
}

TEST_F(RoundsTest, FillersGiveWayAndNoMoreOfThemThanAreNeeded) {
  nodes(1, 4);
  JobSpec filler = elastic(1, 1);
  filler.workload_class = WorkloadClass::kFiller;
  filler.training.reset();
  std::vector<JobId> fillers;
  for (int i = 0; i < 3; ++i) fillers.push_back(submit(filler));
  settle_all();
  const JobId job = submit(elastic(1, 4));
  plan(job, {{kFirst, 3}});
  round();
  EXPECT_EQ(script.views.back().nodes[0].devices, 4);
  EXPECT_EQ(stopped.size(), 2u);
  EXPECT_TRUE(launched.empty());
  round();  // their grace is longer than a round: the claim is kept
  settle_all();
  EXPECT_EQ(tasks_of(job), 3);
  int running = 0;
  for (const JobId id : fillers) running += tasks_of(id);
  EXPECT_EQ(running, 1);
}

TEST_F(RoundsTest, ALostNodesGangIsRepairedInTheNextRound) {
  nodes(2, 4);
  const JobId job = submit(elastic(1, 8));
  plan(job, {{kFirst, 2}, {kSecond, 2}});
  round();
  settle_all();
  step({NodeLost{"n1", Fencing::kFenced}});
  settle_all();
  EXPECT_EQ(record(job).state, JobState::kPending);
  EXPECT_EQ(record(job).losses, 1);
  plan(job, {{kSecond, 4}});
  round();
  EXPECT_EQ(script.views.back().nodes.size(), 1u);
  settle_all();
  EXPECT_EQ(tasks_of(job), 4);
}

TEST_F(RoundsTest, AClaimOnANodeThatGoesIsGivenUp) {
  nodes(2, 4);
  const JobId a = submit(elastic(1, 8));
  plan(a, {{kFirst, 4}});
  round();
  settle_all();
  plan(a, {{kSecond, 4}});
  round();
  step({NodeLost{"n2", Fencing::kFenced}});
  settle_all();
  EXPECT_EQ(record(a).state, JobState::kPending);
  plan(a, {{kFirst, 2}});
  round();
  settle_all();
  EXPECT_EQ(tasks_of(a), 2);
}

TEST_F(RoundsTest, CancellingAJobThatIsBeingMovedEndsIt) {
  nodes(2, 4);
  const JobId job = submit(elastic(1, 8));
  plan(job, {{kFirst, 4}});
  round();
  settle_all();
  plan(job, {{kSecond, 4}});
  round();
  step({JobCancelRequested{job, "someone"}});
  settle_all();
  EXPECT_EQ(record(job).state, JobState::kCancelled);
  EXPECT_EQ(engine.room(kSecond).cpu, 64'000);
}

TEST_F(RoundsTest, ARejectedTurnUndoesTheResizeAndTheAnswerCountsAgain) {
  nodes(2, 4);
  const JobId job = submit(elastic(1, 8));
  plan(job, {{kFirst, 4}});
  round();
  settle_all();
  plan(job, {{kFirst, 2}});
  ask();
  const Solve solve = asked.back();
  const Decisions resized = answer();
  EXPECT_EQ(record(job).state, JobState::kStopping);
  stopped.clear();
  step({TurnRejected{resized.turn}});
  EXPECT_EQ(record(job).state, JobState::kRunning);
  EXPECT_EQ(tasks_of(job), 4);
  step({Solved{solve.id, solve.problem->solve()}});
  EXPECT_EQ(record(job).state, JobState::kStopping);
  settle_all();
  EXPECT_EQ(tasks_of(job), 2);
}

TEST_F(RoundsTest, AJobThatIsBeingMovedIsLeftOutOfTheNextRound) {
  nodes(2, 4);
  const JobId job = submit(elastic(1, 8));
  const JobId other = submit(elastic(1, 8));
  plan(job, {{kFirst, 4}});
  round();
  settle_all();
  plan(job, {{kSecond, 2}});
  round();
  plan(other, {{kSecond, 2}});
  round();
  const RoundView& view = script.views.back();
  ASSERT_EQ(view.jobs.size(), 1u);
  EXPECT_EQ(view.jobs[0].id, other);
  EXPECT_EQ(view.nodes[0].devices, 0);  // still held
  EXPECT_EQ(view.nodes[1].devices, 2);  // less what is claimed
  settle_all();
  EXPECT_EQ(tasks_of(job), 2);
  EXPECT_EQ(tasks_of(other), 2);
}

TEST_F(RoundsTest, AnEngineMadeFromTheRecordsGoesOnWithTheMove) {
  nodes(2, 4);
  const JobId job = submit(elastic(1, 8));
  plan(job, {{kFirst, 4}});
  round();
  settle_all();
  plan(job, {{kSecond, 2}});
  round();

  Script other_script;
  Engine other{EngineOptions{.verify = Verify::kEveryStep},
               Policies(std::make_unique<FirstFit>(), std::make_unique<Scripted>(other_script))};
  std::vector<Event> events{QueueConfigured{QueueSpec{}}};
  for (const NodeRecord& at : engine.nodes()) events.emplace_back(NodeRestored{at});
  events.emplace_back(JobRestored{record(job)});
  other.step(Instant{}, events);
  EXPECT_TRUE(other_script.views.empty());
  events.clear();
  for (const NodeRecord& at : engine.nodes()) events.emplace_back(NodeJoined{at.spec});
  for (const StopTask& stop : stopped) {
    events.emplace_back(TaskExited{stop.task, stop.attempt, ExitStatus{0, 15}});
    events.emplace_back(TaskCleaned{stop.task, stop.attempt});
  }
  const Decisions decisions = other.step(now + Duration::seconds(1), events);
  int launches = 0;
  for (const Decision& decision : decisions.list)
    launches += std::holds_alternative<LaunchTask>(decision);
  EXPECT_EQ(launches, 2);
  EXPECT_EQ(other.next_round().ns % Duration::seconds(60).ns, 0);
}

}  // namespace
}  // namespace gridfold
