#include <gtest/gtest.h>

#include "simulator/gavel_trace.h"
#include "simulator/openb_trace.h"
#include "simulator/philly_trace.h"
#include "simulator/swf_trace.h"
#include "simulator/test_files.h"

namespace gridfold {
namespace {

const DeviceRequest& gpu_of(const Workload& workload, std::size_t job) {
  return workload.shapes[workload.jobs[job].shape].roles[0].each.devices.at(0);
}

TEST(OpenbNodes, AreReadWithDevicesAndModels) {
  const auto cluster = read_openb_nodes(test_text("traces/nodes.csv"), "nodes.csv");
  ASSERT_TRUE(cluster) << cluster.error().describe();
  ASSERT_EQ(cluster->nodes.size(), 3u);
  EXPECT_EQ(cluster->nodes[1].name, "n-1");
  EXPECT_EQ(cluster->nodes[1].cpu, MilliCores(96000));
  EXPECT_EQ(cluster->nodes[1].memory, Bytes(std::int64_t{393216} << 20));
  ASSERT_EQ(cluster->nodes[1].devices.size(), 8u);
  EXPECT_EQ(cluster->nodes[1].devices[7].model, "T4");
  EXPECT_TRUE(cluster->nodes[2].devices.empty());
  EXPECT_EQ(capacity_of(*cluster).gpu_thousandths, 10'000);
  EXPECT_EQ(capacity_of(*cluster).largest_gpu_node, 8);
}

TEST(OpenbPods, AreReadWithSharesModelsAndTimes) {
  const auto pods = read_openb_pods(test_text("traces/pods.csv"), "pods.csv");
  ASSERT_TRUE(pods) << pods.error().describe();
  ASSERT_EQ(pods->jobs.size(), 5u);
  EXPECT_EQ(pods->shapes.size(), 4u);
  EXPECT_EQ(pods->jobs[0].shape, pods->jobs[4].shape);
  EXPECT_EQ(gpu_of(*pods, 1).share, DeviceShare(460));
  EXPECT_EQ(gpu_of(*pods, 1).models, (std::vector<std::string>{"T4", "P100"}));
  EXPECT_EQ(gpu_of(*pods, 3).count, 8);
  EXPECT_EQ(pods->shapes[pods->jobs[1].shape].roles[0].each.memory, Bytes(0));
  // Since the first creation, at 400.
  EXPECT_EQ(pods->jobs[0].arrives.value(), Duration::seconds(600));
  // From the scheduled time on, or from creation for one never scheduled.
  EXPECT_EQ(pods->jobs[0].duration.value(), Duration::seconds(3900));
  EXPECT_EQ(pods->jobs[2].duration.value(), Duration::seconds(100));
  EXPECT_EQ(pods->jobs[3].duration.value(), Duration{});
}

TEST(OpenbPods, AListWithoutTimesHasNone) {
  const auto pods = read_openb_pods(test_text("traces/multi.csv"), "multi.csv");
  ASSERT_TRUE(pods) << pods.error().describe();
  EXPECT_EQ(pods->jobs.size(), 2u);
  EXPECT_FALSE(pods->jobs[0].arrives.is_known());
  EXPECT_FALSE(pods->jobs[0].duration.is_known());
}

struct BadText {
  const char* text;
  const char* expected;
};

TEST(OpenbPods, ErrorsNameFileLineColumnReasonAndNextStep) {
  const std::string header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
  const BadText cases[] = {
      {"a,12000,16384,1,1000\nb,x12,16384,1,1000\n",
       "line 3, column 3: cpu_milli: pods.csv: \"x12\" is not a whole number (give a whole number, "
       "such as 1000)"},
      {"a,12000,16384,1,1200\n",
       "line 2, column 17: gpu_milli: pods.csv: \"1200\" is too large (at most 1000)"},
      {"a,12000,16384,1,0\n",
       "line 2, column 17: gpu_milli: pods.csv: is 0 on a pod that asks for a GPU (give the share "
       "in "
       "thousandths, 1 to 1000)"},
      {"a,12000,16384,2,500\n",
       "line 2, column 17: gpu_milli: pods.csv: is a share on a pod that asks for several GPUs "
       "(several GPUs are whole: give 1000)"},
      {"a,-1,16384,1,1000\n",
       "line 2, column 3: cpu_milli: pods.csv: \"-1\" is negative (give a number from 0 on)"},
      {"a,12000,16384,1\n",
       "line 2, column 1: pods.csv: 4 fields where the header has 5 (give one field a column; "
       "leave "
       "unknown ones empty)"},
      {"a,,16384,1,1000\n",
       "line 2, column 3: cpu_milli: pods.csv: is empty (give a whole number, such as 1000)"},
  };
  for (const auto& bad : cases) {
    const auto pods = read_openb_pods(header + bad.text, "pods.csv");
    ASSERT_FALSE(pods) << bad.text;
    EXPECT_EQ(pods.error().describe(), bad.expected);
  }
}

TEST(OpenbPods, AMissingColumnIsNamed) {
  const auto pods = read_openb_pods("name,cpu_mili,memory_mib,num_gpu,gpu_milli\n", "pods.csv");
  ASSERT_FALSE(pods);
  EXPECT_EQ(pods.error().describe(),
            "line 1, column 1: cpu_milli: pods.csv: the column 'cpu_milli' is missing; the header "
            "has name, cpu_mili, memory_mib, num_gpu, gpu_milli (the first line must name the "
            "columns; add 'cpu_milli', or did you mean 'cpu_mili')");
  const auto half =
      read_openb_pods("name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time\n", "p");
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().field, "deletion_time");
}

TEST(Philly, GangsAreSplitIntoTheFewestEqualTasks) {
  const auto split = [](std::int64_t total, std::int64_t most) {
    const GangSplit result = split_gang(total, most);
    return std::pair(result.tasks, result.each);
  };
  EXPECT_EQ(split(1, 8), std::pair(1, std::int64_t{1}));
  EXPECT_EQ(split(8, 8), std::pair(1, std::int64_t{8}));
  EXPECT_EQ(split(12, 8), std::pair(2, std::int64_t{6}));
  EXPECT_EQ(split(24, 8), std::pair(3, std::int64_t{8}));
  EXPECT_EQ(split(13, 8), std::pair(13, std::int64_t{1}));
  EXPECT_EQ(split(128, 8), std::pair(16, std::int64_t{8}));
}

TEST(Philly, IsReadUnsortedWithABlankLastLine) {
  const auto jobs = read_philly(test_text("traces/philly.csv"), "philly.csv", 8);
  ASSERT_TRUE(jobs) << jobs.error().describe();
  ASSERT_EQ(jobs->jobs.size(), 3u);
  EXPECT_EQ(jobs->jobs[0].arrives.value(), Duration::seconds(2932));
  EXPECT_EQ(jobs->jobs[1].arrives.value(), Duration{});
  EXPECT_EQ(jobs->jobs[1].duration.value(), Duration::milliseconds(2'951'500));
  const auto& gang = jobs->shapes[jobs->jobs[1].shape];
  EXPECT_EQ(gang.roles[0].count, 2);
  EXPECT_EQ(gang.roles[0].min, 2);
  EXPECT_EQ(gpu_of(*jobs, 1).count, 6);
}

TEST(Philly, ErrorsNameTheField) {
  const auto bad = [](const std::string& line) {
    const auto jobs = read_philly("timestamp,duration,num_gpus\n" + line, "philly.csv", 8);
    return jobs ? std::string("accepted") : jobs.error().field;
  };
  EXPECT_EQ(bad("2017-13-09 07:01:55,66.0,1\n"), "timestamp");
  EXPECT_EQ(bad("1,66.0,1\n"), "timestamp");
  EXPECT_EQ(bad("2017-10-09 07:01:55,-3,1\n"), "duration");
  EXPECT_EQ(bad("2017-10-09 07:01:55,99999999999,1\n"), "duration");
  EXPECT_EQ(bad("2017-10-09 07:01:55,1,0\n"), "num_gpus");
  EXPECT_EQ(bad("2017-10-09 07:01:55,1,5000\n"), "num_gpus");
}

TEST(Swf, IsReadWithCommentsAndUnknowns) {
  const auto jobs = read_swf(test_text("traces/small.swf"), "small.swf", 16'000);
  ASSERT_TRUE(jobs) << jobs.error().describe();
  ASSERT_EQ(jobs->jobs.size(), 3u);
  EXPECT_EQ(jobs->jobs[0].name, "swf-1");
  EXPECT_EQ(jobs->jobs[0].arrives.value(), Duration::seconds(5));
  const auto& role = jobs->shapes[jobs->jobs[0].shape].roles[0];
  EXPECT_EQ(role.count, 8);
  EXPECT_EQ(role.each.cpu, MilliCores(16'000));
  // Requested processors where the allocated are unknown; a run time of 0.
  EXPECT_EQ(jobs->shapes[jobs->jobs[1].shape].roles[0].each.cpu, MilliCores(4'000));
  EXPECT_EQ(jobs->jobs[1].duration.value(), Duration{});
}

TEST(Swf, ErrorsNameTheField) {
  const auto bad = [](const std::string& line) {
    const auto jobs = read_swf(line, "x.swf", 16'000);
    return jobs ? std::string("accepted") : jobs.error().describe();
  };
  EXPECT_EQ(
      bad("1 2 3\n"),
      "line 1, column 1: x.swf: 3 fields instead of 18 (a line of the Standard Workload Format "
      "has 18 numbers, -1 for unknown ones)");
  const std::string rest = " -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
  EXPECT_EQ(bad("; a comment\n1 -1 -1 5 4" + rest),
            "line 2, column 3: submit_time: x.swf: is unknown (a job needs a time of submission)");
  EXPECT_EQ(
      bad("1 0 -1 -1 4" + rest),
      "line 1, column 8: run_time: x.swf: is unknown (a job needs a run time; leave the line out)");
  EXPECT_EQ(bad("1 0 -1 5 0" + rest),
            "line 1, column 10: allocated_processors: x.swf: is unknown, and so is "
            "requested_processors (a job needs at least one processor; leave the line out)");
  EXPECT_EQ(
      bad("1 0 -1 5a 4" + rest),
      "line 1, column 8: run_time: x.swf: \"5a\" is not a number from -1 on (-1 means unknown)");
}

TEST(SpotNodes, AreReadLikeOpenbs) {
  const auto cluster = read_spot_nodes(test_text("traces/spot.csv"), "spot.csv");
  ASSERT_TRUE(cluster) << cluster.error().describe();
  ASSERT_EQ(cluster->nodes.size(), 3u);
  EXPECT_EQ(cluster->nodes[2].name, "2");
  EXPECT_EQ(cluster->nodes[2].cpu, MilliCores(192'000));
  EXPECT_EQ(cluster->nodes[2].memory, Bytes(std::int64_t{1} << 40));
  EXPECT_EQ(cluster->nodes[2].devices.at(7).model, "H800");
  EXPECT_EQ(capacity_of(*cluster).gpu_thousandths, 13'000);
  const auto bad = read_spot_nodes("gpu_model,gpu_capacity_num,cpu_num,node_name\n,1,128,a\n", "s");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().describe(),
            "line 2, column 1: gpu_model: s: is empty on a node with GPUs (name the GPUs' model)");
}

TEST(Gavel, JobsAreGangsWithoutADuration) {
  const auto jobs = read_gavel(test_text("traces/gavel.csv"), "gavel.csv", 8);
  ASSERT_TRUE(jobs) << jobs.error().describe();
  ASSERT_EQ(jobs->jobs.size(), 3u);
  EXPECT_EQ(jobs->shapes.size(), 2u);
  EXPECT_EQ(jobs->jobs[1].arrives.value(), Duration::milliseconds(2500));
  EXPECT_FALSE(jobs->jobs[1].duration.is_known());
  EXPECT_EQ(jobs->jobs[1].program, "Recommendation (batch size 8192)");
  const Role& role = jobs->shapes[jobs->jobs[1].shape].roles[0];
  EXPECT_EQ(role.count, 2);
  EXPECT_EQ(role.each.devices.at(0).count, 6);
  const auto bad = read_gavel("job_type,arrival_time_s,scale_factor\nT,0,0\n", "gavel.csv", 8);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().describe(),
            "line 2, column 5: scale_factor: gavel.csv: \"0\" GPUs (a job asks for 1 to 4096)");
}

TEST(PublicTraces, OpenbListsOfTheProject) {
  const auto nodes = read_openb_nodes(test_text("openb/openb_node_list_gpu_node.csv.gz"), "nodes");
  ASSERT_TRUE(nodes) << nodes.error().describe();
  EXPECT_EQ(nodes->nodes.size(), 1213u);
  EXPECT_EQ(capacity_of(*nodes).gpu_thousandths, 6'212'000);
  const auto pods = read_openb_pods(test_text("openb/openb_pod_list_default.csv.gz"), "pods");
  ASSERT_TRUE(pods) << pods.error().describe();
  EXPECT_EQ(pods->jobs.size(), 8152u);
  const auto all = read_openb_nodes(test_text("openb/openb_node_list_all_node.csv.gz"), "nodes");
  ASSERT_TRUE(all) << all.error().describe();
  EXPECT_EQ(all->nodes.size(), 1523u);
}

TEST(PublicTraces, PhillyAndSwfWhereTheyAreAtHand) {
  const std::string philly = shared_data("philly/philly.csv.gz");
  if (philly.empty()) GTEST_SKIP() << "the shared traces are not here (GRIDFOLD_SHARED_DATA)";
  const auto jobs = read_philly(read_text_file(philly).value_or(""), "philly", 8);
  ASSERT_TRUE(jobs) << jobs.error().describe();
  EXPECT_EQ(jobs->jobs.size(), 82'247u);
  for (const auto& [name, count] :
       {std::pair("LCG.swf.gz", 62'680u), std::pair("NASA-iPSC-1993-3.1-cln.swf.gz", 18'239u)}) {
    const auto text = read_text_file(shared_data(std::string("hpc-swf/") + name));
    ASSERT_TRUE(text) << text.error().describe();
    const auto swf = read_swf(*text, name, 16'000);
    ASSERT_TRUE(swf) << swf.error().describe();
    EXPECT_EQ(swf->jobs.size(), count);
  }
}

TEST(TextFile, ErrorsAreOfTheRightKind) {
  EXPECT_EQ(read_text_file("/nowhere/x").error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(read_text_file(GRIDFOLD_SOURCE_DIR));
  const std::string cut = GRIDFOLD_BINARY_DIR "/cut.csv.gz";
  {
    std::FILE* whole = std::fopen(test_data("openb/openb_pod_list_default.csv.gz").c_str(), "rb");
    std::FILE* part = std::fopen(cut.c_str(), "wb");
    ASSERT_TRUE(whole != nullptr && part != nullptr);
    std::vector<char> bytes(50'000);
    ASSERT_EQ(std::fread(bytes.data(), 1, bytes.size(), whole), bytes.size());
    std::fwrite(bytes.data(), 1, bytes.size(), part);
    std::fclose(whole);
    std::fclose(part);
  }
  const auto text = read_text_file(cut);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::kCorrupt);
  std::filesystem::remove(cut);
}

}  // namespace
}  // namespace gridfold
