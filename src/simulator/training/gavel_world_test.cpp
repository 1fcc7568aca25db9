// The Gavel world: its files, its physics, and what policies come to in it.
#include "simulator/training/gavel_world.h"

#include <gtest/gtest.h>

#include "policies/registry.h"
#include "simulator/test_files.h"
#include "simulator/training/rate_process.h"
#include "simulator/training/round_driver.h"
#include "simulator/training_run.h"
#include "simulator/training_worlds.h"
#include "stores/null/null_store.h"

namespace gridfold {
namespace {

constexpr const char* kRates =
    "gpu_type,job_type,scale_factor,other_job_type,other_scale_factor,steps_per_s,other_steps_per_"
    "s\n"
    "v100,LM,2,,,4,\n"
    "v100,LM,2,LM,2,1,1\n"
    "v100_unconsolidated,LM,2,,,3,\n"
    "k80,LM,2,,,0,\n"
    "k80,A3C,1,,,2,\n";

TrainingWorkload world(const std::string& jobs, const GavelWorldOptions& options = {}) {
  const auto rates = read_gavel_rates(kRates, "rates");
  EXPECT_TRUE(rates) << rates.error().describe();
  auto workload = read_gavel_workload("job_type,total_steps,scale_factor,arrival_time_s\n" + jobs,
                                      "jobs", *rates, options);
  EXPECT_TRUE(workload) << workload.error().describe();
  return std::move(*workload);
}

TEST(GavelWorld, DropsAndCountsWhatRunsNowhere) {
  const TrainingWorkload read = world("LM,100,2,0\nLM,100,16,0.5\nA3C,100,1,1.25\nXX,1,1,2\n");
  EXPECT_EQ(read.arrivals.size(), 2u);
  EXPECT_EQ(read.dropped, 2);
  EXPECT_EQ(read.arrivals[1].at, Instant{1'250'000'000});
  EXPECT_EQ(read.arrivals[1].spec->name, "gavel-2");
  EXPECT_EQ(read.cluster.nodes.size(), 6u);
  // Rate 0 is no row, rates beside another job are none.
  EXPECT_EQ(read.arrivals[0].spec->training->rates,
            (std::vector<DeclaredRate>{{"v100", 1, 2, 4}, {"v100", 2, 2, 3}}));
  GavelWorldOptions without;
  without.devices = {{"p100", 8}};
  EXPECT_EQ(world("LM,100,2,0\n", without).dropped, 1);
}

TEST(GavelWorld, ErrorsNameTheField) {
  const auto rates = read_gavel_rates(kRates, "rates");
  const auto late = read_gavel_workload(
      "job_type,total_steps,scale_factor,arrival_time_s\nLM,9,2,7\nLM,9,2,6\n", "jobs", *rates, {});
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().describe().find("arrival_time_s"), std::string::npos);
  const auto none = read_gavel_workload(
      "job_type,total_steps,scale_factor,arrival_time_s\nLM,0,2,7\n", "jobs", *rates, {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().describe().find("total_steps"), std::string::npos);
  EXPECT_FALSE(read_gavel_rates("gpu_type,job_type\n", "rates"));
}

TEST(RateProcess, GoesAtTheRateOfItsPlaceAfterTheRestart) {
  const TrainingWorkload read = world("LM,100,2,0\n");
  const auto job = make_rate_process(read.arrivals[0].spec, Duration::seconds(30));
  const auto at = [](double seconds) { return Instant{static_cast<std::int64_t>(seconds * 1e9)}; };
  const TrainingPlace together[] = {{"v100", 2}};
  job->start(at(0), together);
  EXPECT_EQ(job->next_event(), at(55));
  job->stop(at(40));
  EXPECT_NEAR(job->report()->progress_steps, 40, 1e-9);
  const TrainingPlace apart[] = {{"v100", 1}, {"v100", 1}};
  job->start(at(100), apart);
  EXPECT_EQ(job->next_event(), at(150));
  job->advance(at(150));
  EXPECT_TRUE(job->finished());
  EXPECT_NEAR(job->productive_seconds().value(), 2 * 10 + 2 * 20, 1e-9);
}

TEST(RateProcess, MakesNoStepWhereItCannotRun) {
  const TrainingWorkload read = world("LM,100,2,0\n");
  const auto job = make_rate_process(read.arrivals[0].spec, Duration{});
  const TrainingPlace slow[] = {{"k80", 2}};
  const TrainingPlace mixed[] = {{"v100", 1}, {"k80", 1}};
  job->start(Instant{}, slow);
  EXPECT_TRUE(job->next_event().is_never());
  job->stop(Instant{1'000'000'000});
  job->start(Instant{1'000'000'000}, mixed);
  EXPECT_TRUE(job->next_event().is_never());
  job->advance(Instant{9'000'000'000});
  EXPECT_EQ(job->report()->progress_steps, 0);
}

WorldInputs sample(const std::string& trace) {
  return {"", test_data("gavel/" + trace + ".trace.csv"), test_data("gavel"), {}};
}

struct Hours {
  double mean = 0;
  double makespan = 0;
};
using Settings = std::map<std::string, std::string>;

Hours hours(const std::string& trace, const std::string& policy, const Settings& settings) {
  const auto workload = read_training_world("gavel", sample(trace));
  EXPECT_TRUE(workload) << workload.error().describe();
  PolicyOptions options;
  options.settings = settings;
  options.round = workload->round;
  auto policies = make_policy(policy, options);
  EXPECT_TRUE(policies) << policies.error().describe();
  const DrivenRun run = drive_rounds(*workload, *policies->rounds, 2000);
  EXPECT_EQ(run.fault, "");
  Hours hours;
  for (const DrivenJob& job : run.jobs) {
    EXPECT_GT(job.finished, job.submitted) << job.name;
    hours.mean += (job.finished - job.submitted).in_seconds() / 3600;
  }
  hours.mean /= static_cast<double>(run.jobs.size());
  hours.makespan = (run.end - Instant{}).in_seconds() / 3600;
  return hours;
}

// An independent count came to 3.60 and 17.30 hours.
TEST(GavelWorld, GavelIsWhereAnIndependentCountIs) {
  EXPECT_NEAR(hours("max_min_fairness", "gavel", {}).mean, 3.60, 0.04);
  EXPECT_NEAR(hours("minimize_makespan", "gavel", {{"objective", "makespan"}}).makespan, 17.30,
              0.05);
}

TEST(GavelWorld, GridfoldIsAheadOfIt) {
  EXPECT_LE(hours("max_min_fairness", "gridfold", {}).mean, 3.42);
  EXPECT_LE(hours("minimize_makespan", "gridfold", {{"objective", "makespan"}}).makespan, 17.4);
}

// The driver is the yardstick; engine, control loop and simulated cluster come to
// the same, with devices of several models.
TEST(GavelWorld, TheEngineEndsEachJobAsTheDriverDoes) {
  for (const std::string policy : {"gavel", "gridfold", "sia"}) {
    auto workload = read_training_world("gavel", sample("minimize_makespan"));
    ASSERT_TRUE(workload) << workload.error().describe();
    workload->arrivals.resize(40);
    PolicyOptions options;
    options.round = workload->round;
    auto policies = make_policy(policy, options);
    ASSERT_TRUE(policies) << policies.error().describe();
    const DrivenRun driven = drive_rounds(*workload, *policies->rounds);
    NullStore store;
    TrainingRunOptions run;
    run.policy = policy;
    const auto result = run_training(*workload, run, store);
    ASSERT_TRUE(result) << result.error().describe();
    ASSERT_EQ(result->finished(), 40);
    for (std::size_t i = 0; i < driven.jobs.size(); ++i) {
      EXPECT_NEAR((result->jobs[i].ended - driven.jobs[i].finished).in_seconds(), 0, 0.5)
          << policy << " " << driven.jobs[i].name;
      EXPECT_EQ(result->jobs[i].starts, driven.jobs[i].starts) << driven.jobs[i].name;
    }
  }
}

}  // namespace
}  // namespace gridfold
