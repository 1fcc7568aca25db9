#include "simulator/training/table_process.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

Instant at(std::int64_t seconds) { return Instant{} + Duration::seconds(seconds); }

// A step takes 1 s on one task, so progress counts seconds; epochs end at 40.4
// and 100.
std::shared_ptr<const PolluxProgram> one_second_steps() {
  std::vector<MeasuredStep> steps;
  for (const std::int64_t local : {1, 8}) steps.push_back({{1}, 1, 1, local, {1.0, 0.1}});
  LearningCurve curve({{8, {{40.4, 40, 1, 1}, {100, 100, 1, 1}}}}, 2);
  return std::shared_ptr<const PolluxProgram>(
      new PolluxProgram{"test", StepTable(steps), std::move(curve), 8, 0});
}

TableProcess process() {
  const auto program = one_second_steps();
  return {program, make_fixed_agent(program->declaration(8)), {}};
}

void run_until(TableProcess& job, Instant now) {
  while (job.next_event() <= now) job.advance(job.next_event());
  job.advance(now);
}

TEST(TableProcess, AnEpochEndsAtAWholeSecondAfterTheRestart) {
  TableProcess job = process();
  const TrainingPlace one[] = {{"T4", 1}};
  job.start(at(60), one);
  EXPECT_EQ(job.next_event(), at(90));  // restarted
  EXPECT_FALSE(job.report().has_value());
  job.advance(at(90));
  EXPECT_EQ(job.next_event(), at(120));
  run_until(job, at(120));
  EXPECT_DOUBLE_EQ(job.report()->progress_steps, 30);
  EXPECT_EQ(job.next_event(), at(130));  // 10.4 s later, to the second
  run_until(job, at(130));
  EXPECT_DOUBLE_EQ(job.report()->progress_epochs.value(), 1);
  run_until(job, at(200));
  EXPECT_TRUE(job.finished());
  EXPECT_TRUE(job.next_event().is_never());
}

TEST(TableProcess, AMoveCostsARestartAndKeepsWhatWasDone) {
  TableProcess job = process();
  const TrainingPlace one[] = {{"T4", 1}};
  job.start(at(0), one);
  run_until(job, at(60));
  job.stop(at(60));
  EXPECT_TRUE(job.next_event().is_never());
  job.start(at(60), one);
  run_until(job, at(90));
  EXPECT_DOUBLE_EQ(job.report()->progress_steps, 30);
  run_until(job, at(120));
  EXPECT_DOUBLE_EQ(job.report()->progress_steps, 60.4);  // an epoch ended on the way, at 100
}

// 0.4 s before the end at a round: it rounds to nothing, after the round.
TEST(TableProcess, WhatRoundsToNothingHappensAfterTheRound) {
  const auto program = one_second_steps();
  TableProcess job(program, make_fixed_agent(program->declaration(8)),
                   {Duration{}, Duration::seconds(40)});
  const TrainingPlace one[] = {{"T4", 1}};
  job.start(at(0), one);
  run_until(job, at(40));
  EXPECT_DOUBLE_EQ(job.report()->progress_steps, 40);
  EXPECT_EQ(job.next_event(), at(40) + Duration::nanoseconds(1));
  job.advance(job.next_event());
  EXPECT_NEAR(job.report()->progress_epochs.value(), 1, 1e-9);
}

TEST(SplitBatch, OneTaskAboveTheInitialBatchAccumulates) {
  TrainingDeclaration said;
  said.initial_batch = 12;
  said.max_batch = 384;
  said.max_local_batch = 12;
  EXPECT_EQ(split_batch(said, 1, 12), (BatchSplit{12, 0}));
  EXPECT_EQ(split_batch(said, 1, 16), (BatchSplit{8, 1}));
  EXPECT_EQ(split_batch(said, 4, 100), (BatchSplit{9, 2}));
  EXPECT_EQ(split_batch(said, 3, 384), (BatchSplit{11, 10}));
}

}  // namespace
}  // namespace gridfold
