// The loop with a backend that does as it is told, on the memory store: what
// is acknowledged is stored, orders follow commits, a restart finds everything.
#include "control/control_loop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "policies/learned_run_times.h"
#include "stores/memory/memory_store.h"

namespace gridfold {
namespace {

class ManualClock : public Clock {
 public:
  Instant now() const override { return at; }
  Instant at = Instant{} + Duration::hours(1);
};

// Remembers what it was told; reports only what a test makes it report.
class ObedientBackend : public Backend {
 public:
  Capabilities capabilities() const override { return {}; }
  Result<void> open(EventSink) override { return {}; }
  void launch(const LaunchOrder& order) override {
    const auto [it, fresh] = tasks.try_emplace({order.task, order.attempt});
    if (!fresh) return;
    launches.push_back(order);
    it->second = {order.task, order.attempt, order.node, ObservedTask::Phase::kRunning, {}, 0};
  }
  void stop(const StopOrder& order) override { stops.push_back(order); }
  void forget(TaskId task, std::uint32_t attempt) override { tasks.erase({task, attempt}); }
  Result<Observation> observe() override {
    Observation seen;
    seen.nodes = nodes;
    seen.fenced = fenced;
    for (const auto& [key, task] : tasks) seen.tasks.push_back(task);
    return seen;
  }
  Result<LogChunk> read_log(std::string_view, TaskId, std::uint32_t, LogStream, std::uint64_t,
                            std::size_t) override {
    return not_found("no logs here");
  }

  std::vector<NodeSpec> nodes;
  std::vector<std::string> fenced;
  std::map<std::pair<TaskId, std::uint32_t>, ObservedTask> tasks;
  std::vector<LaunchOrder> launches;
  std::vector<StopOrder> stops;
};

class AnyNode : public PlacementPolicy {
 public:
  std::string_view name() const override { return "any_node"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

// Plans after each arrival, outside the step.
class Planner : public AnyNode {
 public:
  struct Plan : SolveAnswer, SolveProblem {
    explicit Plan(int of) : arrivals(of) {}
    std::int64_t steps() const override { return 1000; }
    std::shared_ptr<const SolveAnswer> solve() const override {
      return std::make_shared<Plan>(arrivals);
    }
    int arrivals;
  };
  struct Seen {
    int arrivals = 0;
    std::vector<int> problems, answers;
  };

  explicit Planner(Seen& seen) : seen_(seen) {}
  bool observe(const Request&) override {
    ++seen_.arrivals;
    return false;
  }
  std::shared_ptr<const SolveProblem> problem() override {
    if (!seen_.problems.empty() && seen_.problems.back() == seen_.arrivals) return nullptr;
    seen_.problems.push_back(seen_.arrivals);
    return std::make_shared<Plan>(seen_.arrivals);
  }
  bool adopt(const SolveAnswer& answer) override {
    seen_.answers.push_back(dynamic_cast<const Plan&>(answer).arrivals);
    return true;
  }

 private:
  Seen& seen_;
};

// Answers when the test says so.
class SlowExecutor : public Executor {
 public:
  void run(Solve solve, std::function<void(Event)> answer) override {
    waiting.emplace_back(std::move(solve), std::move(answer));
  }
  void answer_all() {
    for (const auto& [solve, answer] : std::exchange(waiting, {}))
      answer(Solved{solve.id, solve.problem->solve()});
  }
  std::vector<std::pair<Solve, std::function<void(Event)>>> waiting;
};

// A store whose disk can be full.
class FillableStore : public Store {
 public:
  Result<Snapshot> load(std::string_view prefix) override { return inner.load(prefix); }
  Result<std::vector<KeyValue>> page(std::string_view prefix, std::string_view after,
                                     std::size_t count) override {
    return inner.page(prefix, after, count);
  }
  Result<Revision> commit(const Transaction& transaction) override {
    if (full) return unavailable("no space left on device");
    return inner.commit(transaction);
  }
  Result<std::vector<Change>> changes_after(Revision from, std::size_t count) override {
    return inner.changes_after(from, count);
  }
  StoreLimits limits() const override { return inner.limits(); }
  MemoryStore inner;
  bool full = false;
};

class ControlLoopTest : public testing::Test {
 protected:
  ManualClock clock;
  ObedientBackend backend;
  FillableStore store;
  InlineExecutor executor;
  std::uint64_t bits = 1;
  QueueConfiguration queues;
  std::function<Policies()> policies = [] { return std::make_unique<AnyNode>(); };
  std::unique_ptr<ControlLoop> loop;

  ControlLoopTest() {
    NodeSpec node{.name = "n1", .cpu = MilliCores(8000), .memory = Bytes(std::int64_t{1} << 34)};
    for (int i = 0; i < 8; ++i) node.devices.push_back({"gpu", "G", Bytes(std::int64_t{1} << 34)});
    backend.nodes.push_back(node);
  }
  void start() {
    loop.reset();
    EngineOptions options;
    options.verify = Verify::kEveryStep;
    ControlOptions control;
    control.random_bits = [this] { return bits++; };
    if (!queues.queues.empty()) control.queues = queues;
    loop = std::make_unique<ControlLoop>(control, Engine(options, policies()), store, backend,
                                         executor, clock);
    const auto started = loop->start([this](Event event) { loop->post(std::move(event)); });
    ASSERT_TRUE(started) << started.error().describe();
    loop->turn();
  }
  static JobSpec job(const std::string& name, int gpus) {
    JobSpec spec;
    spec.name = name;
    Role role;
    role.each = {MilliCores(100), Bytes(1 << 20), {{"gpu", gpus}}};
    role.command = {"/bin/true"};
    spec.roles.push_back(role);
    return spec;
  }
  Result<SubmitAnswer> submit(std::vector<JobSpec> jobs, std::string key = "",
                              std::string digest = "d") {
    std::optional<Result<SubmitAnswer>> answer;
    SubmitRequest request{"default", key, digest, {}};
    for (JobSpec& spec : jobs) request.jobs.emplace_back(std::move(spec));
    loop->submit(std::move(request),
                 [&](Result<SubmitAnswer> got) { answer.emplace(std::move(got)); });
    loop->turn();
    EXPECT_TRUE(answer.has_value());
    return *answer;
  }
  void tell(Event event) {
    loop->post(std::move(event));
    loop->turn();
  }
};

TEST_F(ControlLoopTest, AcknowledgesAfterTheCommitAndLaunchesAfterIt) {
  start();
  const auto answer = submit({job("a", 8)});
  ASSERT_TRUE(answer);
  ASSERT_EQ(backend.launches.size(), 1u);
  EXPECT_EQ(backend.launches[0].devices, 0xFFu);
  EXPECT_EQ(backend.launches[0].world_size, 1u);
  EXPECT_FALSE(store.load("live/job/")->entries.empty());
}

TEST_F(ControlLoopTest, ARestartKeepsWhatRunsAndLaunchesWhatWasOnlyDecided) {
  start();
  ASSERT_TRUE(submit({job("runs", 4)}));
  ASSERT_TRUE(submit({job("decided", 4)}));
  ASSERT_TRUE(submit({job("waits", 8)}));
  tell(TaskStarted{{JobId(1), 0}, 1});
  // The second launch never reached the backend.
  backend.tasks.erase({{JobId(2), 0}, 1});
  backend.launches.clear();
  start();
  ASSERT_EQ(backend.launches.size(), 1u);
  EXPECT_EQ(backend.launches[0].task.job, JobId(2));
  EXPECT_EQ(backend.launches[0].attempt, 1u);
  EXPECT_TRUE(backend.stops.empty());
  EXPECT_EQ(loop->find("default", "runs")->state, JobState::kRunning);
  EXPECT_EQ(loop->find("default", "waits")->state, JobState::kPending);
}

TEST_F(ControlLoopTest, AnExitThatHappenedWhileTheDaemonWasAwayIsNotLost) {
  start();
  ASSERT_TRUE(submit({job("a", 8)}));
  tell(TaskStarted{{JobId(1), 0}, 1});
  ObservedTask& seen = backend.tasks.at({{JobId(1), 0}, 1});
  seen.phase = ObservedTask::Phase::kCleaned;
  seen.status.code = 7;
  start();
  const auto ended = loop->find_ended("default", "a");
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->record.state, JobState::kFailed);
  EXPECT_EQ(ended->record.tasks[0].exit->code, 7);
  EXPECT_TRUE(backend.tasks.empty());  // and the backend may forget it
}

TEST_F(ControlLoopTest, AnEndThatIsNotOnRecordIsNotForgotten) {
  start();
  ASSERT_TRUE(submit({job("a", 8)}));
  tell(TaskStarted{{JobId(1), 0}, 1});
  ObservedTask& seen = backend.tasks.at({{JobId(1), 0}, 1});
  seen.phase = ObservedTask::Phase::kCleaned;
  seen.status.code = 7;
  // The report of the exit was lost on its way.
  tell(TaskCleaned{{JobId(1), 0}, 1});
  ASSERT_EQ(backend.tasks.size(), 1u);
  clock.at = clock.at + Duration::minutes(1);
  loop->turn();
  const auto ended = loop->find_ended("default", "a");
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->record.tasks[0].exit->code, 7);
  EXPECT_TRUE(backend.tasks.empty());
}

TEST_F(ControlLoopTest, WhatIsStoppedAndGoneInOneTurnIsNotStopped) {
  start();
  ASSERT_TRUE(submit({job("a", 8)}));
  tell(TaskStarted{{JobId(1), 0}, 1});
  // Requeued, lost with its node, and placed again: all in one turn.
  std::optional<Result<void>> answer;
  loop->request(JobRequeueRequested{JobId(1), "user"},
                [&](Result<void> got) { answer.emplace(std::move(got)); });
  loop->post(NodeLost{"n1", Fencing::kFenced});
  loop->post(NodeJoined{backend.nodes[0]});
  loop->turn();
  ASSERT_TRUE(answer && *answer);
  EXPECT_TRUE(backend.stops.empty());
  EXPECT_EQ(loop->find("default", "a")->tasks[0].attempt, 2u);
}

TEST_F(ControlLoopTest, AnAttemptThatVanishedIsNotStartedTwice) {
  start();
  ASSERT_TRUE(submit({job("a", 8)}));
  ASSERT_EQ(backend.launches.size(), 1u);
  // It ran, its reports are still on their way, and its node has rebooted.
  backend.tasks.clear();
  clock.at = clock.at + Duration::minutes(1);
  loop->turn();
  ASSERT_EQ(backend.launches.size(), 2u);
  EXPECT_EQ(backend.launches[1].attempt, 2u);
  tell(TaskExited{{JobId(1), 0}, 1, {}});
  EXPECT_EQ(loop->find("default", "a")->state, JobState::kStarting);
}

TEST_F(ControlLoopTest, ANodeThatWentOffWhileTheDaemonWasAwayHoldsNothing) {
  start();
  ASSERT_TRUE(submit({job("a", 8)}));
  tell(TaskStarted{{JobId(1), 0}, 1});
  backend.tasks.clear();
  backend.nodes.clear();
  backend.fenced = {"n1"};
  start();
  EXPECT_EQ(loop->find("default", "a")->state, JobState::kPending);
  EXPECT_EQ(loop->find("default", "a")->losses, 1);
}

TEST_F(ControlLoopTest, StrangersAreKilled) {
  start();
  backend.tasks[{{JobId(99), 0}, 3}] = {
      {JobId(99), 0}, 3, "n1", ObservedTask::Phase::kRunning, {}, 0};
  start();
  ASSERT_EQ(backend.stops.size(), 1u);
  EXPECT_EQ(backend.stops[0].signal, "KILL");
  EXPECT_EQ(backend.stops[0].attempt, 3u);
}

TEST_F(ControlLoopTest, ARepeatedSubmissionIsOneJob) {
  start();
  const auto first = submit({job("a", 1)}, "key");
  const auto second = submit({job("a", 1)}, "key");
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->repeated);
  EXPECT_EQ(first->jobs[0].uid, second->jobs[0].uid);
  EXPECT_EQ(submit({job("b", 1)}, "key", "other").error().kind, ErrorKind::kConflict);
  start();
  EXPECT_EQ(submit({job("a", 1)}, "key")->jobs[0].uid, first->jobs[0].uid);
}

TEST_F(ControlLoopTest, AFullDiskRefusesTheNewAndLosesNothing) {
  start();
  ASSERT_TRUE(submit({job("a", 8)}));
  tell(TaskStarted{{JobId(1), 0}, 1});
  store.full = true;
  EXPECT_EQ(submit({job("b", 1)}).error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(loop->read_only());
  tell(TaskExited{{JobId(1), 0}, 1, {}});
  tell(TaskCleaned{{JobId(1), 0}, 1});
  EXPECT_EQ(backend.launches.size(), 1u);
  EXPECT_EQ(submit({job("c", 1)}).error().kind, ErrorKind::kUnavailable);
  store.full = false;
  clock.at = clock.at + Duration::seconds(5);
  loop->turn();
  EXPECT_FALSE(loop->read_only());
  EXPECT_EQ(loop->find_ended("default", "a")->record.state, JobState::kSucceeded);
  EXPECT_TRUE(submit({job("d", 1)}));
}

TEST_F(ControlLoopTest, AReplacedDaemonCannotWrite) {
  start();
  std::unique_ptr<ControlLoop> old = std::move(loop);
  start();
  std::optional<Error> refused;
  old->submit({"default", "", "d", {job("late", 1)}},
              [&](Result<SubmitAnswer> got) { refused = got.error(); });
  old->turn();
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->hint.find("another daemon"), std::string::npos);
  EXPECT_TRUE(store.load("live/job/")->entries.empty());
}

TEST_F(ControlLoopTest, AReplacedDaemonGivesNoOrders) {
  start();
  std::unique_ptr<ControlLoop> old = std::move(loop);
  start();
  ASSERT_TRUE(submit({job("new", 8)}));
  ASSERT_EQ(backend.tasks.size(), 1u);
  // The old one reconciles, and does not know the attempt that it sees.
  clock.at = clock.at + Duration::minutes(1);
  old->turn();
  EXPECT_TRUE(backend.stops.empty());
  EXPECT_TRUE(old->read_only());
}

TEST_F(ControlLoopTest, WhatTakesLongerThanAStepIsAnsweredByAnEvent) {
  Planner::Seen seen;
  SlowExecutor slow;
  ControlOptions control;
  control.random_bits = [this] { return bits++; };
  loop = std::make_unique<ControlLoop>(control, Engine({}, std::make_unique<Planner>(seen)), store,
                                       backend, slow, clock);
  ASSERT_TRUE(loop->start([this](Event event) { loop->post(std::move(event)); }));
  loop->turn();
  ASSERT_TRUE(submit({job("one", 1)}));
  ASSERT_TRUE(submit({job("two", 1)}));
  // Asked once before any arrival; not again until that is answered.
  EXPECT_EQ(seen.problems, (std::vector<int>{0}));
  EXPECT_TRUE(seen.answers.empty());
  slow.answer_all();
  loop->turn();
  EXPECT_EQ(seen.answers, (std::vector<int>{0}));
  EXPECT_EQ(seen.problems, (std::vector<int>{0, 2}));
  // A turn that is not stored tells the answer again: it counts once.
  store.full = true;
  loop->submit({.jobs = {job("three", 1)}}, [](Result<SubmitAnswer>) {});
  slow.answer_all();
  loop->turn();
  store.full = false;
  clock.at = clock.at + Duration::minutes(1);
  loop->turn();
  EXPECT_EQ(seen.answers, (std::vector<int>{0, 2}));
}

// Jobs that ended before anyone asked, after someone asked, and not yet.
TEST_F(ControlLoopTest, JobsAreFoundWheneverItIsAsked) {
  start();
  const auto submitted = submit({job("a", 99), job("b", 99), job("a", 99), job("c", 99)});
  const auto cancel = [&](std::uint64_t id) {
    loop->request(JobCancelRequested{JobId(id), "me"},
                  [](Result<void> done) { EXPECT_TRUE(done); });
    loop->turn();
  };
  cancel(2);
  EXPECT_EQ(loop->find("default", "b"), nullptr);
  EXPECT_EQ(loop->find("default", "a")->id, JobId(3));  // the newest
  EXPECT_EQ(loop->find("default", submitted->jobs[0].uid)->id, JobId(1));
  EXPECT_EQ(loop->find("other", submitted->jobs[0].uid), nullptr);
  cancel(3);
  EXPECT_EQ(loop->find("default", "a")->id, JobId(1));
  ASSERT_TRUE(submit({job("d", 99)}));
  EXPECT_EQ(loop->find("default", "d")->id, JobId(5));
  EXPECT_EQ(loop->find("default", "c")->id, JobId(4));
  for (std::uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(submit({job("e", 99)}));
    if (i != 100) cancel(6 + i);
  }
  EXPECT_EQ(loop->find("default", "e")->id, JobId(106));
}

TEST_F(ControlLoopTest, DependenciesAreResolvedInTheBatchAndInHistory) {
  start();
  JobSpec second = job("second", 1);
  second.after.push_back({"first", DependencyCondition::kOk});
  ASSERT_TRUE(submit({second, job("first", 1)}));
  EXPECT_EQ(loop->find("default", "second")->waits_for[0].parent, JobId(2));
  tell(TaskExited{{JobId(2), 0}, 1, {.code = 1}});
  tell(TaskCleaned{{JobId(2), 0}, 1});
  EXPECT_EQ(loop->find_ended("default", "second")->record.state, JobState::kCancelled);
  JobSpec late = job("late", 1);
  late.after.push_back({"first", DependencyCondition::kOk});
  ASSERT_TRUE(submit({late}));
  EXPECT_EQ(loop->find_ended("default", "late")->record.reason->code,
            ReasonCode::kDependencyNeverMet);
  JobSpec lost = job("lost", 1);
  lost.after.push_back({"nobody", DependencyCondition::kOk});
  EXPECT_EQ(submit({lost}).error().field, "after");
}

// Learns nothing and tells what it was told of.
class Listener : public AnyNode {
 public:
  explicit Listener(std::vector<std::int64_t>& seen) : seen_(seen) {}
  bool learns() const override { return true; }
  bool observe(const Request& request) override {
    seen_.push_back(request.cpu);
    return false;
  }

 private:
  std::vector<std::int64_t>& seen_;
};

class RestartHistoryTest : public ControlLoopTest {
 protected:
  RestartHistoryTest() {
    queues.usage_half_life = Duration::hours(1);
    for (const char* name : {"default", "other"}) {
      QueueSpec queue;
      queue.name = name;
      queue.weight = 1;
      queues.queues.push_back(queue);
    }
    policies = [this] {
      arrivals.clear();
      Policies made(std::make_unique<Listener>(arrivals));
      made.run_times = std::make_unique<LearnedRunTimes>();
      return made;
    };
  }
  void pass(Duration time) { clock.at = clock.at + time; }
  void run_for(JobId id, Duration time) {
    tell(TaskStarted{{id, 0}, 1});
    pass(time);
    tell(TaskExited{{id, 0}, 1, {}});
    tell(TaskCleaned{{id, 0}, 1, {}});
    loop->turn();
  }
  // As of now: of a step that changes nothing.
  std::int64_t share(const char* queue) {
    tell(TaskStarted{{JobId(1000), 0}, 1});
    return *loop->engine().usage(queue).share;
  }
  std::vector<std::int64_t> arrivals;  // what the policy of the present loop was told
};

TEST_F(RestartHistoryTest, UsageIsAsIfTheDaemonHadLivedOn) {
  start();
  ASSERT_TRUE(submit({job("a", 4)}));
  run_for(JobId(1), Duration::minutes(50));
  JobSpec other = job("b", 2);
  other.queue = "other";
  ASSERT_TRUE(submit({other}));
  tell(TaskStarted{{JobId(2), 0}, 1});
  pass(Duration::minutes(20));
  const std::int64_t ended = share("default");
  const std::int64_t running = share("other");
  EXPECT_GT(ended, 100'000);
  EXPECT_GT(running, 300'000);
  EXPECT_LT(running, 350'000);
  // It was away for no time, and then for half an hour, in which job 2 ran on.
  start();
  EXPECT_NEAR(static_cast<double>(share("default")), static_cast<double>(ended), 2);
  EXPECT_NEAR(static_cast<double>(share("other")), static_cast<double>(running), 2);
  loop.reset();
  pass(Duration::minutes(30));
  start();
  EXPECT_NEAR(static_cast<double>(share("default")), static_cast<double>(ended) * 0.7071, 100);
  // Of its quarter (2 of 8 devices) after 50 minutes.
  EXPECT_NEAR(static_cast<double>(share("other")), 250'000 * (2 - std::exp2(-50.0 / 60)), 100);
}

TEST_F(RestartHistoryTest, WhatIsNotOnRecordCountsFromTheStart) {
  queues.usage_half_life = Duration{};
  start();
  ASSERT_TRUE(submit({job("a", 4)}));
  tell(TaskStarted{{JobId(1), 0}, 1});
  queues.usage_half_life = Duration::hours(1);
  start();
  EXPECT_NEAR(static_cast<double>(share("default")), 500'000, 100);
  pass(Duration::hours(1));
  EXPECT_NEAR(static_cast<double>(share("default")), 750'000, 100);
}

TEST_F(RestartHistoryTest, LearnedRunTimesAndTheMixComeFromWhatIsStored) {
  start();
  for (std::uint64_t i = 1; i <= 30; ++i) {
    JobSpec spec = job("train", 1);
    spec.roles[0].each.cpu = MilliCores(static_cast<std::int64_t>(100 + i));
    ASSERT_TRUE(submit({spec}));
    run_for(JobId(i), Duration::minutes(static_cast<std::int64_t>(i)));
  }
  ASSERT_TRUE(submit({job("train", 1)}));  // runs on
  JobSpec next = job("train", 2);
  ASSERT_TRUE(submit({next}));
  const Duration before = loop->find("default", "32")->expected_run;
  // The upper quartile of the last twenty.
  EXPECT_EQ(before, Duration::minutes(26));
  const std::vector<std::int64_t> told = arrivals;
  start();
  EXPECT_EQ(arrivals, told);
  ASSERT_TRUE(submit({next}));
  EXPECT_EQ(loop->find("default", "33")->expected_run, before);
}

TEST_F(RestartHistoryTest, DamagedUsageIsTold) {
  start();
  Transaction damage;
  damage.put.emplace_back("live/usage/default", "{\"since\": 5, \"until\": 4, \"held\": {}}");
  ASSERT_TRUE(store.commit(damage));
  EngineOptions options;
  ControlLoop again({}, Engine(options, policies()), store, backend, executor, clock);
  const auto started = again.start([](Event) {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::kCorrupt);
  EXPECT_NE(started.error().message.find("live/usage/default"), std::string::npos);
}

}  // namespace
}  // namespace gridfold
