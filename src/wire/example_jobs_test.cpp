// The job files that users copy from must be ones that the reader takes.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "wire/job_file.h"

namespace gridfold {
namespace {

std::vector<JobSpec> example(const std::string& name) {
  const std::string path = std::string(GRIDFOLD_SOURCE_DIR) + "/examples/quickstart/" + name;
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  auto jobs = parse_job_file(text.str(), JobFileFormat::kYaml);
  EXPECT_TRUE(jobs.has_value()) << path << ": " << (jobs ? "" : jobs.error().describe());
  return std::move(jobs).value_or({});
}

// Eight devices: the service and the fillers take them all, so that the gang
// must take some back.
TEST(ExampleJobs, QuickstartFillsEightDevicesBeforeTheGangComes) {
  const auto train = example("train.yaml");
  const auto serve = example("serve.yaml");
  const auto clean = example("clean.yaml");
  ASSERT_EQ(train.size(), 1u);
  ASSERT_EQ(serve.size(), 1u);
  ASSERT_EQ(clean.size(), 7u);

  EXPECT_EQ(train[0].workload_class, WorkloadClass::kTrain);
  EXPECT_EQ(train[0].task_count(), 4);
  EXPECT_EQ(train[0].roles[0].min, 4);
  EXPECT_EQ(serve[0].workload_class, WorkloadClass::kInfer);
  for (const auto& filler : clean) {
    EXPECT_EQ(filler.workload_class, WorkloadClass::kFiller);
    EXPECT_EQ(filler.effective_stop().signal, "TERM");
    EXPECT_EQ(filler.effective_stop().grace, Duration::seconds(5));
    EXPECT_LT(filler.priority, train[0].priority);
  }
  EXPECT_LT(train[0].priority, serve[0].priority);
  for (const auto* job : {&train[0], &serve[0], &clean[0]}) {
    const auto& each = job->roles[0].each;
    ASSERT_EQ(each.devices.size(), 1u);
    EXPECT_EQ(each.devices[0].count, 1);
    EXPECT_TRUE(each.devices[0].is_whole());
  }
}

}  // namespace
}  // namespace gridfold
