// The Pollux world against the completion times that its authors published.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "policies/optimus.h"
#include "policies/registry.h"
#include "policies/tiresias.h"
#include "simulator/csv_table.h"
#include "simulator/test_files.h"
#include "simulator/training/pollux_world.h"
#include "simulator/training/round_driver.h"
#include "simulator/training_run.h"
#include "stores/null/null_store.h"

namespace gridfold {
namespace {

TrainingWorkload workload_6(BatchChoice batch) {
  const auto programs = read_pollux_programs(test_data("pollux/traces"));
  EXPECT_TRUE(programs) << programs.error().describe();
  auto workload = read_pollux_workload(test_text("pollux/workload-6.csv"), "workload-6.csv",
                                       *programs, {batch, {}});
  EXPECT_TRUE(workload) << workload.error().describe();
  return std::move(*workload);
}

std::map<std::string, double> published(std::string_view policy) {
  const std::string text = test_text("pollux/published_jct_workload-6.csv");
  CsvTable table(text, "published");
  std::map<std::string, double> seconds;
  while (table.next()) {
    if (table.field(0) == policy) {
      seconds.emplace(table.field(1), static_cast<double>(*table.count(2)));
    }
  }
  return seconds;
}

double jct(const DrivenJob& job) { return (job.finished - job.submitted).in_seconds(); }

TEST(PolluxWorld, TiresiasEndsEachJobAtThePublishedSecond) {
  const TrainingWorkload workload = workload_6(BatchChoice::kFixed);
  Tiresias policy{TiresiasOptions{}};
  const DrivenRun run = drive_rounds(workload, policy);
  EXPECT_EQ(run.fault, "");
  const auto expected = published("tiresias");
  ASSERT_EQ(run.jobs.size(), expected.size());
  for (const auto& job : run.jobs) EXPECT_NEAR(jct(job), expected.at(job.name), 0.5) << job.name;
}

TEST(PolluxWorld, OptimusIsWithinAThirdOfAPerCentOfThePublishedMean) {
  const TrainingWorkload workload = workload_6(BatchChoice::kFixed);
  OptimusOptions options;
  options.truth = workload.truth;
  Optimus policy(options);
  const DrivenRun run = drive_rounds(workload, policy);
  EXPECT_EQ(run.fault, "");
  double ours = 0;
  double theirs = 0;
  for (const auto& job : run.jobs) ours += jct(job);
  for (const auto& [name, seconds] : published("optimus")) theirs += seconds;
  EXPECT_NEAR(ours / theirs, 1, 0.003);
}

double mean_jct(std::string_view policy, const TrainingWorkload& workload) {
  PolicyOptions options;
  options.truth = workload.truth;
  auto policies = make_policy(policy, options);
  EXPECT_TRUE(policies) << policies.error().describe();
  const DrivenRun run = drive_rounds(workload, *policies->rounds);
  EXPECT_EQ(run.fault, "");
  double sum = 0;
  for (const auto& job : run.jobs) sum += jct(job);
  return sum / static_cast<double>(run.jobs.size());
}

// One workload of seven: the mean over them is nearer (docs/benchmarks.md).
TEST(PolluxWorld, PolluxIsNearThePublishedMeanAndGridfoldAheadOfIt) {
  const TrainingWorkload workload = workload_6(BatchChoice::kAdaptive);
  double theirs = 0;
  const auto jobs = published("pollux");
  for (const auto& [name, seconds] : jobs) theirs += seconds;
  theirs /= static_cast<double>(jobs.size());
  EXPECT_NEAR(mean_jct("pollux", workload) / theirs, 1, 0.05);
  EXPECT_LT(mean_jct("gridfold", workload), 0.95 * theirs);
}

// The driver is the yardstick; engine, control loop and simulated cluster come to
// the same.
void expect_engine_as_driver(const std::string& policy, BatchChoice batch) {
  TrainingWorkload workload = workload_6(batch);
  workload.arrivals.resize(50);
  PolicyOptions options;
  options.truth = workload.truth;
  auto policies = make_policy(policy, options);
  ASSERT_TRUE(policies) << policies.error().describe();
  const DrivenRun driven = drive_rounds(workload, *policies->rounds);
  NullStore store;
  TrainingRunOptions run;
  run.policy = policy;
  const auto result = run_training(workload, run, store);
  ASSERT_TRUE(result) << result.error().describe();
  ASSERT_EQ(result->jobs.size(), driven.jobs.size());
  for (std::size_t i = 0; i < driven.jobs.size(); ++i) {
    EXPECT_NEAR((result->jobs[i].ended - result->jobs[i].submitted).in_seconds(),
                jct(driven.jobs[i]), 0.5)
        << driven.jobs[i].name;
    EXPECT_EQ(result->jobs[i].starts, driven.jobs[i].starts) << driven.jobs[i].name;
  }
}

TEST(PolluxWorld, TheEngineEndsEachJobAsTheDriverDoes) {
  expect_engine_as_driver("tiresias", BatchChoice::kFixed);
  expect_engine_as_driver("gridfold", BatchChoice::kAdaptive);
}

}  // namespace
}  // namespace gridfold
