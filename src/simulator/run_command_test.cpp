#include "simulator/run_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "simulator/test_files.h"
#include "stores/memory/memory_store.h"
#include "stores/null/null_store.h"

namespace gridfold {
namespace {

SimRunOptions options_for(const std::string& cluster, const std::string& workload) {
  SimRunOptions options;
  options.cluster = cluster;
  options.workload = workload;
  options.make_store = []() -> std::unique_ptr<Store> {
    return std::make_unique<MemoryStore>(MemoryStoreOptions{.kept_changes = 0});
  };
  return options;
}

nlohmann::json run(const SimRunOptions& options) {
  const auto json = run_simulation(options);
  EXPECT_TRUE(json) << json.error().describe();
  return json ? nlohmann::json::parse(*json) : nlohmann::json::object();
}

std::string error_of(const SimRunOptions& options) {
  const auto json = run_simulation(options);
  return json ? "accepted" : json.error().describe();
}

TEST(SimRun, AWorkloadFileRunsToItsEnd) {
  // Three gangs that each need both nodes, 20 minutes long, one after another;
  // a job of one core beside them.
  const auto result =
      run(options_for(test_data("traces/cluster.yaml"), test_data("traces/workload.yaml")));
  EXPECT_EQ(result["jobs"]["submitted"], 4);
  EXPECT_EQ(result["jobs"]["succeeded"], 4);
  EXPECT_EQ(result["makespan_seconds"], 3610);
  EXPECT_EQ(result["jct_p99_seconds"], 3540);
  EXPECT_EQ(result["wait_p99_seconds"], 2340);
  EXPECT_EQ(result["gpu_allocated_ratio"], 0);
  EXPECT_GT(result["gpu_utilisation_mean_ratio"], 0.99);
  // A submission, a start, an end and a clean-up for each task; three nodes.
  EXPECT_EQ(result["events"], 4 + 3 * 7 + 3);
}

TEST(SimRun, LatenciesAreAdded) {
  auto options = options_for(test_data("traces/cluster.yaml"), test_data("traces/workload.yaml"));
  options.set = {{"start_latency", "5s"}, {"clean_latency", "1s"}};
  EXPECT_EQ(run(options)["makespan_seconds"], 3610 + 3 * 6);
}

TEST(SimRun, WorkIsMovedWhereThatIsAllowed) {
  // Two nodes of 8: a short job and a long one of 4 on each, then one of 8.
  auto options = options_for("nodes=2,gpus=8", test_data("traces/halves_then_whole.yaml"));
  const auto stayed = run(options);
  EXPECT_EQ(stayed["jobs"]["gave_up_place"], 0);
  EXPECT_EQ(stayed["makespan_seconds"], 3600 + 601);
  options.set = {{"consolidate", "on"}};
  const auto moved = run(options);
  EXPECT_EQ(moved["jobs"]["gave_up_place"], 1);
  EXPECT_EQ(moved["jobs"]["succeeded"], 5);
  EXPECT_EQ(moved["wait_p99_seconds"], 0);
}

TEST(SimRun, OwnTimesOfAPodList) {
  const auto result = run(options_for(test_data("traces/nodes.csv"), test_data("traces/pods.csv")));
  EXPECT_EQ(result["jobs"]["succeeded"], 4);
  EXPECT_EQ(result["jobs"]["waiting"], 1);
  EXPECT_EQ(result["jobs"]["infeasible"], 1);  // asks for a model that no node has
}

TEST(SimRun, TheSameSeedGivesTheSameDecisions) {
  auto options = options_for("nodes=4,gpus=8", test_data("traces/philly.csv"));
  options.set = {{"load", "0.95"}, {"jobs", "500"}};
  options.seed = "3";
  const auto first = run(options), again = run(options);
  EXPECT_EQ(first["decisions_sha256"], again["decisions_sha256"]);
  EXPECT_EQ(first["jobs"]["succeeded"], 500);
  options.seed = "4";
  EXPECT_NE(first["decisions_sha256"], run(options)["decisions_sha256"]);
}

TEST(SimRun, TheDecisionsAreTheSameWhetherRecordsAreKeptOrNot) {
  auto options = options_for("nodes=4,gpus=8", test_data("traces/philly.csv"));
  options.set = {{"load", "0.95"}, {"jobs", "500"}};
  const auto kept = run(options);
  options.make_store = []() -> std::unique_ptr<Store> { return std::make_unique<NullStore>(); };
  EXPECT_EQ(run(options)["decisions_sha256"], kept["decisions_sha256"]);
}

TEST(SimRun, SaturationFillsTheClusterAndRecordsTheWay) {
  auto options = options_for(test_data("openb"), "default");
  options.set = {{"mode", "saturation"}, {"arrived", "1.3"}};
  const auto result = run(options);
  EXPECT_EQ(result["cluster"]["gpus"], 6212);
  EXPECT_EQ(result["mix"], "trace");
  const auto& allocated = result["gpu_allocated_ratio_by_arrived"];
  ASSERT_EQ(allocated.size(), 131u);
  EXPECT_NEAR(allocated[50].get<double>(), 0.5, 0.002);
  EXPECT_EQ(allocated[130], result["gpu_allocated_ratio"]);
  // Published for best_fit: 93.1 % of the GPUs, 99.0 % of the idle fragmented.
  EXPECT_NEAR(allocated[130].get<double>(), 0.931, 0.007);
  EXPECT_NEAR(result["fragmentation_ratio"].get<double>(), 0.990, 0.01);
}

TEST(SimRun, GavelShapesOnAListOfSpotNodes) {
  auto options = options_for(test_data("traces/spot.csv"), test_data("traces/gavel.csv"));
  options.set = {{"mode", "saturation"}};
  EXPECT_EQ(run(options)["cluster"]["gpus"], 13);
  options.set = {{"load", "0.95"}, {"holding_mean", "1h"}, {"jobs", "200"}};
  options.policy = "gridfold";
  const auto churn = run(options);
  EXPECT_GT(churn["gpu_utilisation_mean_ratio"], 0.1);
  // The gangs of 2 x 6 GPUs: only one node has so many.
  EXPECT_GT(churn["jobs"]["infeasible"], 0);
  EXPECT_EQ(churn["jobs"]["infeasible"], churn["jobs"]["waiting"]);
}

TEST(SimRun, ARangeOfSeedsGivesRunsAndMeans) {
  auto options = options_for("nodes=4,gpus=8", test_data("traces/philly.csv"));
  options.set = {{"mode", "saturation"}};
  options.seed = "1..3";
  options.html_path = GRIDFOLD_BINARY_DIR "/sim_run_test.html";
  const auto result = run(options);
  EXPECT_EQ(result["seed"], "1..3");
  ASSERT_EQ(result["runs"].size(), 3u);
  double sum = 0;
  for (const auto& one : result["runs"]) sum += one["gpu_allocated_ratio"].get<double>();
  EXPECT_NEAR(result["gpu_allocated_ratio"].get<double>(), sum / 3, 1e-5);
  const std::string html = read_text_file(options.html_path).value_or("");
  EXPECT_NE(html.find("<svg"), std::string::npos);
  EXPECT_EQ(html.find("http-equiv"), std::string::npos);
  EXPECT_EQ(html.find(" src="), std::string::npos);  // nothing is fetched
  std::filesystem::remove(options.html_path);
}

TEST(SimRun, MistakesAreNamed) {
  auto options = options_for("nodes=1,gpus=8", test_data("traces/multi.csv"));
  EXPECT_NE(error_of(options).find("job p-0 has no arrival"), std::string::npos);
  options.set = {{"mod", "saturation"}};
  EXPECT_NE(error_of(options).find("did you mean 'mode'"), std::string::npos);
  options.set = {{"mode", "saturation"}};
  options.policy = "bestfit";
  EXPECT_NE(error_of(options).find("best_fit"), std::string::npos);
  options.policy = "best_fit";
  options.seed = "x";
  EXPECT_NE(error_of(options).find("seed"), std::string::npos);
  options.seed = "1";
  options.html_path = "/nowhere/report.html";
  EXPECT_NE(error_of(options).find("/nowhere/report.html"), std::string::npos);
  options.html_path.clear();
  options.set["policy.colour"] = "red";
  EXPECT_NE(error_of(options), "accepted");
}

TEST(SimRun, PhillyTwiceWhereItIsAtHand) {
  const std::string philly = shared_data("philly/philly.csv.gz");
  if (philly.empty()) GTEST_SKIP() << "the shared traces are not here (GRIDFOLD_SHARED_DATA)";
  auto options = options_for("nodes=64,gpus=8", philly);
  options.set = {{"load", "0.95"}, {"jobs", "5000"}};
  const auto first = run(options), again = run(options);
  EXPECT_EQ(first["jobs"]["succeeded"], 5000);
  EXPECT_EQ(first["decisions_sha256"], again["decisions_sha256"]);
}

}  // namespace
}  // namespace gridfold
