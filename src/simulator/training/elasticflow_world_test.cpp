#include "simulator/training/elasticflow_world.h"

#include <gtest/gtest.h>

#include "policies/registry.h"
#include "simulator/training/round_driver.h"

namespace gridfold {
namespace {

std::string complaint(const auto& result) { return result ? "none" : result.error().describe(); }

constexpr const char* kHeader = "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu\n";

RateTables tables() {
  const auto net =
      read_rate_table("global_batch_size,1,2,4\n64,1,1.5,\n128,0.5,nan,1.2\n", "net.csv");
  EXPECT_TRUE(net) << complaint(net);
  return {{"net", *net}};
}

Result<TrainingWorkload> read(const std::string& lines) {
  return read_elasticflow_workload(kHeader + lines, "w.csv", tables(), ElasticFlowCluster::kT4,
                                   Duration::seconds(30));
}

TEST(ElasticFlowWorld, RatesBetweenMeasuredSizesAreThoseOfTheSmaller) {
  const RateTable rates = *tables().at("net").at(128);
  EXPECT_EQ(rate_of(rates, 1), 0.5);
  EXPECT_EQ(rate_of(rates, 3), 0.5);
  EXPECT_EQ(rate_of(rates, 4), 1.2);
  EXPECT_EQ(rate_of(rates, 64), 1.2);
  EXPECT_EQ(rate_of(rates, 0), 0);
}

TEST(ElasticFlowWorld, ErrorsNameFileLineAndField) {
  EXPECT_EQ(complaint(read("0,5,10,nett,50,64,1\n")),
            "line 2, column 8: model_name: w.csv: \"nett\" was not measured on this cluster (name "
            "one of the tables' files, or did you mean 'net')");
  EXPECT_EQ(complaint(read("0,5,10,net,50,32,1\n")),
            "line 2, column 15: batch_size: w.csv: \"32\" was not measured (use a batch of the "
            "table of \"net\")");
  EXPECT_EQ(complaint(read("0,5,10,net,5,64,1\n")),
            "line 2, column 12: ddl: w.csv: \"5\" is out of range (give a number from 6 to "
            "2000000000)");
  EXPECT_EQ(complaint(read("0,5,10,net,50,64,1\n1,4,10,net,50,64,1\n")),
            "line 3, column 3: submit_time: w.csv: lies before that of the job above (list the "
            "jobs in the order of their times)");
  EXPECT_EQ(complaint(read_rate_table("global_batch_size,1\n64,fast\n", "net.csv")),
            "line 2, column 4: 1: net.csv: \"fast\" is no number of steps a second (give a number "
            "above 0, or nothing where it was not run)");
}

// Restart 30 s, 10 steps at 1 a second, a change to two tasks, 30 s, 1.5 a second.
TEST(ScalingProcess, RestartsAndRatesByTheTable) {
  const auto workload = read("0,5,40,net,500,64,1\n");
  ASSERT_TRUE(workload) << complaint(workload);
  EXPECT_EQ(workload->arrivals.front().at, Instant{});
  EXPECT_EQ(workload->arrivals.front().spec->training->deadline.value(), Duration::seconds(495));
  const auto process = workload->arrivals.front().make_process();
  const TrainingPlace one{"T4", 1};
  const TrainingPlace two{"T4", 2};
  process->start(Instant{}, {&one, 1});
  EXPECT_EQ(process->next_event(), Instant{} + Duration::seconds(70));
  process->stop(Instant{} + Duration::seconds(40));
  process->start(Instant{} + Duration::seconds(40), {&two, 1});
  EXPECT_EQ(process->report()->progress_steps, 10);
  EXPECT_EQ(process->next_event(), Instant{} + Duration::seconds(90));
  process->advance(process->next_event());
  EXPECT_TRUE(process->finished());
  EXPECT_EQ(process->report()->steps.size(), 2u);
  EXPECT_EQ(process->productive_seconds().value(), 50);  // 10 s on one, 20 s on two
}

TEST(ElasticFlowWorld, JobsThatFitMeetTheirDeadlinesAndTheSameRunIsTheSame) {
  // 64 devices. The first two need their best from the next round on; the third
  // never can; the last has time.
  const auto workload = read(
      "0,0,150,net,240,64,1\n1,0,180,net,300,64,1\n2,0,1000,net,60,64,1\n"
      "3,60,600,net,4000,128,1\n");
  ASSERT_TRUE(workload) << complaint(workload);
  for (const char* name : {"elasticflow", "gridfold"}) {
    PolicyOptions options;
    options.truth = workload->truth;
    if (std::string(name) == "gridfold") options.settings["knows"] = "profiled";
    std::vector<std::int64_t> ends;
    for (int round = 0; round < 2; ++round) {
      auto policies = make_policy(name, options);
      ASSERT_TRUE(policies) << complaint(policies);
      const DrivenRun run = drive_rounds(*workload, *policies->rounds);
      EXPECT_EQ(run.fault, "");
      for (std::size_t i = 0; i < run.jobs.size(); ++i) {
        const Duration deadline = workload->arrivals[i].spec->training->deadline.value();
        EXPECT_EQ(run.jobs[i].finished - run.jobs[i].submitted <= deadline, i != 2) << name << i;
        if (round == 0) ends.push_back(run.jobs[i].finished.ns);
        EXPECT_EQ(ends[i], run.jobs[i].finished.ns) << name << i;
      }
    }
  }
}

// A late job shares with those that have no deadline, and a timely one comes first.
TEST(ElasticFlowWorld, GridfoldServesJobsWithAndWithoutDeadlines) {
  auto workload = read("0,0,2000,net,20,64,1\n1,0,2000,net,5000,64,1\n2,600,180,net,870,64,1\n");
  ASSERT_TRUE(workload) << complaint(workload);
  JobSpec timeless = *workload->arrivals[1].spec;
  timeless.training->deadline = {};
  workload->arrivals[1].spec = std::make_shared<const JobSpec>(timeless);
  workload->cluster.nodes.resize(1);
  workload->cluster.nodes[0].devices.resize(2);
  PolicyOptions options;
  options.truth = workload->truth;
  options.settings["knows"] = "profiled";
  auto policies = make_policy("gridfold", options);
  ASSERT_TRUE(policies) << complaint(policies);
  const DrivenRun run = drive_rounds(*workload, *policies->rounds);
  EXPECT_EQ(run.fault, "");
  // One device each but while the third runs.
  EXPECT_LT(run.jobs[0].finished - Instant{}, Duration::seconds(3000));
  EXPECT_LT(run.jobs[1].finished - Instant{}, Duration::seconds(3000));
  EXPECT_LE(run.jobs[2].finished - Instant{}, Duration::seconds(870));
}

}  // namespace
}  // namespace gridfold
