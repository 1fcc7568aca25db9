#include "simulator/bound_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "simulator/packing_input.h"
#include "simulator/test_files.h"

namespace gridfold {
namespace {

// The figures of the reference program, which used another solver.
TEST(SimBound, OpenbDefaultHasTheKnownBounds) {
  SimBoundOptions options{test_data("openb"), "default"};
  options.kinds = {BoundKind::kLossless, BoundKind::kArrived, BoundKind::kKept};
  options.kept = KeptShare{0.947, 0.95};
  const auto text = run_bound(options);
  ASSERT_TRUE(text) << text.error().describe();
  const auto json = nlohmann::json::parse(*text);
  EXPECT_EQ(json["gpus"], 6212);
  EXPECT_EQ(json["tasks_that_fit_no_node"], 0);
  const auto ratio = [&](std::size_t at) {
    return json["bounds"][at]["gpu_allocated_ratio"].get<double>();
  };
  ASSERT_EQ(json["bounds"].size(), 5u);
  EXPECT_EQ(json["bounds"][0]["kind"], "lossless");
  EXPECT_NEAR(ratio(0), 0.9632, 0.0002);
  EXPECT_NEAR(ratio(1), 0.9690, 0.0002);
  EXPECT_NEAR(ratio(2), 0.9989, 0.0002);
  EXPECT_EQ(json["bounds"][4]["arrived_ratio"], 1.3);
  EXPECT_EQ(json["bounds"][4]["kept_ratio"], 0.947);
  EXPECT_NEAR(ratio(4), 0.9656, 0.0002);
}

TEST(SimBound, CountsTheTasksThatFitNoNode) {
  const auto text = run_bound({test_data("traces/nodes.csv"), test_data("traces/pods.csv")});
  ASSERT_TRUE(text) << text.error().describe();
  const auto json = nlohmann::json::parse(*text);
  EXPECT_EQ(json["tasks_that_fit_no_node"], 1);
  EXPECT_EQ(json["bounds"][0]["gpu_allocated_ratio"], 0);
}

TEST(SimBound, GangsAreCutIntoTheirTasks) {
  const auto text =
      run_bound({test_data("traces/cluster.yaml"), test_data("traces/workload.yaml")});
  ASSERT_TRUE(text) << text.error().describe();
  EXPECT_EQ(nlohmann::json::parse(*text)["bounds"][0]["gpu_allocated_ratio"], 1);
}

TEST(SimBound, ReadsSharesOfTheGpus) {
  EXPECT_EQ(*parse_devices_share("1.3"), 1.3);
  for (const char* wrong : {"", "0", "-1", "1.3x", "1e3", "0.0000001"}) {
    EXPECT_FALSE(parse_devices_share(wrong)) << wrong;
  }
  const auto kept = parse_kept("0.947@0.95");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->share, 0.947);
  EXPECT_EQ(kept->at, 0.95);
  for (const char* wrong : {"", "0.9", "@0.95", "0.9@", "0.9@x"}) {
    EXPECT_FALSE(parse_kept(wrong)) << wrong;
  }
}

JobSpec job_with(std::vector<DeviceRequest> devices) {
  JobSpec job;
  job.roles.emplace_back();
  job.roles[0].each.devices = std::move(devices);
  return job;
}

std::string error_of(const Result<PackingProblem>& problem) {
  return problem ? "accepted" : problem.error().describe();
}

TEST(PackingInput, RefusesWhatTheBoundsDoNotCover) {
  const ClusterSpec cluster{"grid", {}};
  Workload workload{"list", {}, {{"job", 0, {}, {}}}};
  workload.shapes = {job_with({{"gpu", 1}, {"gpu", 2}})};
  EXPECT_EQ(error_of(packing_problem_of(cluster, workload)),
            "list: role main asks for GPUs twice (bounds need one request for GPUs with a share a "
            "task)");
  workload.shapes = {job_with({{"gpu", 1, DeviceShare(0), Bytes(1)}})};
  EXPECT_NE(error_of(packing_problem_of(cluster, workload)).find("GPU memory without a share"),
            std::string::npos);
  NodeSpec mixed;
  mixed.name = "mixed";
  mixed.devices = {{"gpu", "A"}, {"npu", "B"}, {"gpu", "B"}};
  workload.shapes = {job_with({{"npu", 1}})};
  EXPECT_NE(error_of(packing_problem_of({"grid", {mixed}}, workload)).find("GPUs of two models"),
            std::string::npos);
  EXPECT_TRUE(packing_problem_of(cluster, workload));
}

}  // namespace
}  // namespace gridfold
