// Learning how long jobs run is work for elsewhere: asked for once, and what
// comes back counts for those that come after.
#include "engine/run_times.h"

#include <gtest/gtest.h>

#include "engine/engine.h"

namespace gridfold {
namespace {

class AnyNode : public PlacementPolicy {
 public:
  std::string_view name() const override { return "any_node"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

// Answers with how many runs were known when it was asked, in minutes.
struct Answer final : SolveAnswer {
  Duration run{};
};
struct Problem final : SolveProblem {
  std::int64_t runs = 0;
  std::int64_t steps() const override { return 1; }
  std::shared_ptr<const SolveAnswer> solve() const override {
    auto answer = std::make_shared<Answer>();
    answer->run = Duration::minutes(runs);
    return answer;
  }
};

class LearnsElsewhere final : public RunTimes {
 public:
  std::optional<Duration> predict(const JobSpec&, Duration) override { return run_; }
  void observe(const JobSpec&, Duration) override { ++runs_; }
  std::shared_ptr<const SolveProblem> problem() override {
    if (runs_ == asked_at_) return nullptr;
    asked_at_ = runs_;
    auto problem = std::make_shared<Problem>();
    problem->runs = runs_;
    return problem;
  }
  void adopt(const SolveAnswer& answer) override { run_ = static_cast<const Answer&>(answer).run; }

 private:
  std::int64_t runs_ = 0, asked_at_ = 0;
  std::optional<Duration> run_;
};

class LearnedRunTimesOfAnEngine : public testing::Test {
 protected:
  LearnedRunTimesOfAnEngine() {
    Policies policies{std::make_unique<AnyNode>()};
    policies.run_times = std::make_unique<LearnsElsewhere>();
    EngineOptions options;
    options.verify = Verify::kEveryStep;
    engine_ = std::make_unique<Engine>(options, std::move(policies));
    NodeSpec node;
    node.name = "n";
    node.cpu = MilliCores(64'000);
    node.memory = Bytes(1 << 30);
    step({QueueConfigured{QueueSpec{}}, NodeJoined{node}});
  }

  Decisions step(std::vector<Event> events) {
    now_ = now_ + Duration::seconds(1);
    if (turn_ > 0) events.insert(events.begin(), TurnCommitted{turn_});
    Decisions decisions = engine_->step(now_, events);
    turn_ = decisions.turn;
    return decisions;
  }
  JobId submit() {
    JobSpec spec;
    spec.roles.emplace_back();
    spec.roles.front().count = spec.roles.front().min = 1;
    spec.roles.front().each.cpu = MilliCores(1000);
    const JobId id(next_++);
    step({JobSubmitted{id, "u" + std::to_string(id.value), std::make_shared<JobSpec>(spec), {}}});
    return id;
  }
  // Of a job that was just submitted; the solves of its last turn and of the one
  // that takes in that the last was stored.
  std::vector<Solve> run_to_its_end(JobId job) {
    const TaskId task{job, 0};
    step({TaskStarted{task, 1}});
    std::vector<Solve> asked =
        step({TaskExited{task, 1, ExitStatus{}}, TaskCleaned{task, 1}}).solves;
    for (Solve& later : step({}).solves) asked.push_back(std::move(later));
    return asked;
  }

  std::unique_ptr<Engine> engine_;
  Instant now_{};
  std::uint64_t turn_ = 0;
  std::uint64_t next_ = 1;
};

TEST_F(LearnedRunTimesOfAnEngine, AreAskedForOnceAndCountFromTheirAnswerOn) {
  const auto asked = run_to_its_end(submit());
  ASSERT_EQ(asked.size(), 1u);
  const JobId before = submit();
  EXPECT_EQ(engine_->job(before)->expected_run, Duration{});
  // While an answer is awaited nothing more is asked.
  EXPECT_TRUE(run_to_its_end(before).empty());
  const Decisions answered = step({Solved{asked[0].id, asked[0].problem->solve()}});
  const JobId after = submit();
  EXPECT_EQ(engine_->job(after)->expected_run, Duration::minutes(1));
  // What came in meanwhile is asked for with the answer.
  ASSERT_EQ(answered.solves.size(), 1u);
  step({Solved{answered.solves[0].id, answered.solves[0].problem->solve()}});
  EXPECT_EQ(engine_->job(submit())->expected_run, Duration::minutes(2));
}

TEST_F(LearnedRunTimesOfAnEngine, AnswersThatNobodyAwaitsChangeNothing) {
  const auto asked = run_to_its_end(submit());
  ASSERT_EQ(asked.size(), 1u);
  const auto answer = asked[0].problem->solve();
  step({Solved{asked[0].id + 7, answer}});
  EXPECT_EQ(engine_->job(submit())->expected_run, Duration{});
  step({Solved{asked[0].id, answer}, Solved{asked[0].id, answer}});
  EXPECT_EQ(engine_->job(submit())->expected_run, Duration::minutes(1));
}

}  // namespace
}  // namespace gridfold
