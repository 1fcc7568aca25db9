// What every backend must do, as one suite. A backend's test gives a harness
// and instantiates it once:
//
//   #include "tests/contracts/backend_contract.h"
//   INSTANTIATE_TEST_SUITE_P(Local, BackendContract,
//                            ::testing::Values(BackendMaker{"local", make_local_harness}));
//
// Include it in one test file of a program.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tests/contracts/backend_harness.h"

namespace gridfold::contract {

struct BackendMaker {
  const char* name;
  std::unique_ptr<BackendHarness> (*make)();
};
inline void PrintTo(const BackendMaker& maker, std::ostream* out) { *out << maker.name; }

class BackendContract : public ::testing::TestWithParam<BackendMaker> {
 protected:
  using Phase = ObservedTask::Phase;
  static constexpr TaskId kTask{JobId(7), 0};

  void SetUp() override { harness_ = GetParam().make(); }

  Backend& backend() { return harness_->backend(); }
  BackendHarness& harness() { return *harness_; }

  LaunchOrder launch(Program program, TaskId task = kTask, std::uint32_t attempt = 1) {
    LaunchOrder order = harness_->order(program, task, attempt);
    backend().launch(order);
    return order;
  }
  void stop(const char* signal, Duration grace, TaskId task = kTask, std::uint32_t attempt = 1) {
    backend().stop(
        {task, attempt, harness_->order(Program::kRuns, task, attempt).node, signal, grace});
  }

  // The names of what was told of an attempt, in order: "started exited cleaned".
  std::string told(TaskId task = kTask, std::uint32_t attempt = 1) {
    std::string words;
    for (const Event& event : harness_->events()) {
      const char* word = std::visit(
          [&](const auto& fact) -> const char* {
            if constexpr (requires {
                            fact.task;
                            fact.attempt;
                          }) {
              if (fact.task == task && fact.attempt == attempt) return name_of(fact);
            }
            return nullptr;
          },
          event);
      if (word != nullptr) words += (words.empty() ? "" : " ") + std::string(word);
    }
    return words;
  }
  bool wait_for(const std::string& words, TaskId task = kTask, std::uint32_t attempt = 1) {
    return harness_->wait_until([&] { return told(task, attempt) == words; });
  }
  bool wait_ready(TaskId task = kTask, std::uint32_t attempt = 1) {
    return wait_for("started", task, attempt) &&
           harness_->wait_until([&] { return harness_->is_ready(task, attempt); });
  }
  template <class Fact>
  Fact last(TaskId task = kTask) {
    Fact found{};
    for (const Event& event : harness_->events()) {
      const auto* fact = std::get_if<Fact>(&event);
      if (fact != nullptr && fact->task == task) found = *fact;
    }
    return found;
  }
  const ObservedTask* observed(TaskId task = kTask, std::uint32_t attempt = 1) {
    auto seen = backend().observe();
    if (!seen) return nullptr;
    observation_ = std::move(*seen);
    const auto found =
        std::find_if(observation_.tasks.begin(), observation_.tasks.end(),
                     [&](const ObservedTask& t) { return t.task == task && t.attempt == attempt; });
    return found == observation_.tasks.end() ? nullptr : &*found;
  }

 private:
  static const char* name_of(const TaskStarted&) { return "started"; }
  static const char* name_of(const TaskExited&) { return "exited"; }
  static const char* name_of(const TaskCleaned&) { return "cleaned"; }
  static const char* name_of(const LaunchFailed&) { return "launch_failed"; }
  static const char* name_of(const TaskReported&) { return nullptr; }  // a hint

  std::unique_ptr<BackendHarness> harness_;
  Observation observation_;
};

inline constexpr const char* kWholeLife = "started exited cleaned";

TEST_P(BackendContract, TellsAWholeLifeInOrder) {
  launch(Program::kSucceeds);
  ASSERT_TRUE(wait_for(kWholeLife)) << told();
  EXPECT_TRUE(last<TaskExited>().status.ok());
  EXPECT_EQ(last<TaskCleaned>().dirty_devices, 0u);
}

TEST_P(BackendContract, TellsTheExitCode) {
  launch(Program::kFails);
  ASSERT_TRUE(wait_for(kWholeLife)) << told();
  EXPECT_EQ(last<TaskExited>().status, (ExitStatus{.code = 3}));
}

TEST_P(BackendContract, ObservesEveryPhaseUntilItIsForgotten) {
  launch(Program::kRuns);
  ASSERT_NE(observed(), nullptr);  // known from the order on
  ASSERT_TRUE(wait_ready());
  ASSERT_NE(observed(), nullptr);
  EXPECT_EQ(observed()->phase, Phase::kRunning);
  stop("TERM", Duration::seconds(30));
  ASSERT_TRUE(wait_for(kWholeLife)) << told();
  ASSERT_NE(observed(), nullptr);
  EXPECT_EQ(observed()->phase, Phase::kCleaned);
  EXPECT_EQ(observed()->status, last<TaskExited>().status);
  backend().forget(kTask, 1);
  EXPECT_TRUE(harness().wait_until([&] { return observed() == nullptr; }));
}

TEST_P(BackendContract, NamesItsNodes) {
  const auto seen = backend().observe();
  ASSERT_TRUE(seen);
  const std::string node = harness().order(Program::kRuns, kTask, 1).node;
  EXPECT_TRUE(std::any_of(seen->nodes.begin(), seen->nodes.end(),
                          [&](const NodeSpec& spec) { return spec.name == node; }));
}

TEST_P(BackendContract, StopsByTheSignalAndSaysSo) {
  launch(Program::kRuns);
  ASSERT_TRUE(wait_ready());
  stop("TERM", Duration::seconds(30));
  ASSERT_TRUE(wait_for(kWholeLife)) << told();
  EXPECT_EQ(last<TaskExited>().status, (ExitStatus{.signal = 15}));
}

TEST_P(BackendContract, StopsRightAfterTheLaunch) {
  launch(Program::kRuns);
  stop("TERM", Duration::seconds(30));
  ASSERT_TRUE(harness().wait_until([&] { return told().ends_with("exited cleaned"); })) << told();
  EXPECT_EQ(last<TaskExited>().status.signal, 15);
}

TEST_P(BackendContract, KillsWhenTheGraceIsOver) {
  launch(Program::kIgnoresTerm);
  ASSERT_TRUE(wait_ready());
  stop("TERM", Duration::milliseconds(300));
  ASSERT_TRUE(wait_for(kWholeLife)) << told();
  EXPECT_EQ(last<TaskExited>().status, (ExitStatus{.signal = 9}));
}

TEST_P(BackendContract, AShorterGraceHolds) {
  launch(Program::kIgnoresTerm);
  ASSERT_TRUE(wait_ready());
  stop("TERM", Duration::hours(10));
  harness().pass(Duration::milliseconds(100));
  EXPECT_EQ(told(), "started");
  stop("TERM", Duration::milliseconds(100));
  ASSERT_TRUE(wait_for(kWholeLife)) << told();
  EXPECT_EQ(last<TaskExited>().status.signal, 9);
}

TEST_P(BackendContract, ALongerGraceDoesNot) {
  launch(Program::kIgnoresTerm);
  ASSERT_TRUE(wait_ready());
  stop("TERM", Duration::milliseconds(300));
  stop("TERM", Duration::hours(10));
  ASSERT_TRUE(wait_for(kWholeLife)) << told();
}

TEST_P(BackendContract, AStopOfTheUnknownReportsNothing) {
  const std::size_t before = harness().events().size();
  stop("TERM", Duration::milliseconds(10), TaskId{JobId(99), 4}, 2);
  backend().forget(TaskId{JobId(99), 4}, 2);
  harness().pass(Duration::milliseconds(200));
  EXPECT_EQ(harness().events().size(), before);
  EXPECT_EQ(observed(TaskId{JobId(99), 4}, 2), nullptr);
}

TEST_P(BackendContract, AKnownAttemptIsNotStartedAgain) {
  launch(Program::kRuns);
  launch(Program::kRuns);
  ASSERT_TRUE(wait_ready());
  launch(Program::kRuns);
  harness().pass(Duration::milliseconds(200));
  EXPECT_EQ(told(), "started");
  stop("TERM", Duration::seconds(30));
  ASSERT_TRUE(wait_for(kWholeLife)) << told();
  launch(Program::kRuns);
  harness().pass(Duration::milliseconds(200));
  EXPECT_EQ(told(), kWholeLife);
}

TEST_P(BackendContract, AnOlderAttemptIsRefused) {
  launch(Program::kSucceeds, kTask, 3);
  ASSERT_TRUE(wait_for(kWholeLife, kTask, 3));
  launch(Program::kRuns, kTask, 1);
  harness().pass(Duration::milliseconds(300));
  EXPECT_EQ(told(kTask, 1).find("started"), std::string::npos) << told(kTask, 1);
  launch(Program::kSucceeds, kTask, 4);
  EXPECT_TRUE(wait_for(kWholeLife, kTask, 4)) << told(kTask, 4);
}

TEST_P(BackendContract, AnOrderOfAnOlderAttemptDoesNotStopALaterOne) {
  launch(Program::kRuns, kTask, 2);
  ASSERT_TRUE(wait_ready(kTask, 2));
  stop("KILL", Duration::milliseconds(0), kTask, 1);
  harness().pass(Duration::milliseconds(200));
  EXPECT_EQ(told(kTask, 2), "started");
  stop("KILL", Duration::milliseconds(0), kTask, 2);
  EXPECT_TRUE(wait_for(kWholeLife, kTask, 2));
}

TEST_P(BackendContract, AProgramThatIsNotThereIsTheJobsFault) {
  launch(Program::kMissing);
  ASSERT_TRUE(wait_for("launch_failed")) << told();
  EXPECT_EQ(last<LaunchFailed>().fault, LaunchFault::kJob);
  EXPECT_FALSE(last<LaunchFailed>().message.empty());
  ASSERT_NE(observed(), nullptr);
  EXPECT_EQ(observed()->phase, Phase::kLaunchFailed);
  EXPECT_EQ(observed()->launch_message, last<LaunchFailed>().message);
  EXPECT_EQ(observed()->launch_fault, LaunchFault::kJob);
  backend().forget(kTask, 1);
  EXPECT_TRUE(harness().wait_until([&] { return observed() == nullptr; }));
}

TEST_P(BackendContract, AnUnknownNodeIsRefused) {
  LaunchOrder order = harness().order(Program::kRuns, kTask, 1);
  order.node = "no-such-node";
  backend().launch(order);
  ASSERT_TRUE(wait_for("launch_failed")) << told();
  EXPECT_EQ(last<LaunchFailed>().fault, LaunchFault::kNode);
}

TEST_P(BackendContract, LogsAreReadByOffsetToTheLastByte) {
  if (!harness().has_logs()) GTEST_SKIP() << "this backend keeps no logs";
  const LaunchOrder order = launch(Program::kPrints);
  ASSERT_TRUE(wait_for(kWholeLife)) << told();
  backend().forget(kTask, 1);
  ASSERT_TRUE(harness().wait_until([&] { return observed() == nullptr; }));
  std::string output;
  for (std::uint64_t offset = 0;;) {
    const auto chunk = backend().read_log(order.job_uid, kTask, 1, LogStream::kOutput, offset, 4);
    ASSERT_TRUE(chunk) << chunk.error().describe();
    ASSERT_LE(chunk->bytes.size(), 4u);
    output += chunk->bytes;
    offset = chunk->next_offset;
    if (chunk->ended) break;
    ASSERT_FALSE(chunk->bytes.empty());
  }
  EXPECT_EQ(output, "one\ntwo\nthree");
  const auto errors = backend().read_log(order.job_uid, kTask, 1, LogStream::kError, 0, 100);
  ASSERT_TRUE(errors);
  EXPECT_EQ(errors->bytes, "trouble\n");
  EXPECT_TRUE(errors->ended);
}

TEST_P(BackendContract, LogsOfTheUnknownAreNotFound) {
  if (!harness().has_logs()) GTEST_SKIP() << "this backend keeps no logs";
  const auto chunk = backend().read_log("no-such-job", kTask, 1, LogStream::kOutput, 0, 100);
  ASSERT_FALSE(chunk);
  EXPECT_EQ(chunk.error().kind, ErrorKind::kNotFound);
}

TEST_P(BackendContract, ARunningTaskOutlivesTheBackend) {
  launch(Program::kRuns);
  launch(Program::kSucceeds, TaskId{JobId(7), 1});
  ASSERT_TRUE(wait_ready());
  ASSERT_TRUE(wait_for(kWholeLife, TaskId{JobId(7), 1}));
  if (!harness().restart()) GTEST_SKIP() << "this backend keeps no state";
  ASSERT_NE(observed(), nullptr);
  EXPECT_EQ(observed()->phase, Phase::kRunning);
  ASSERT_NE(observed(TaskId{JobId(7), 1}), nullptr);
  EXPECT_EQ(observed(TaskId{JobId(7), 1})->phase, Phase::kCleaned);
  launch(Program::kRuns);  // known: not started again
  harness().pass(Duration::milliseconds(200));
  stop("TERM", Duration::seconds(30));
  ASSERT_TRUE(harness().wait_until([&] { return told().ends_with("exited cleaned"); })) << told();
  EXPECT_EQ(last<TaskExited>().status, (ExitStatus{.signal = 15}));
}

}  // namespace gridfold::contract
