#include "backends/local/environment.h"

#include <gtest/gtest.h>

namespace gridfold::local {
namespace {

DeviceSpec device(const char* device_class, const char* model, const char* uid,
                  DeviceOrigin origin = DeviceOrigin::kReal) {
  return {.device_class = device_class, .model = model, .uid = uid, .origin = origin};
}

NodeSpec node_of(std::vector<DeviceSpec> devices) {
  NodeSpec node;
  node.name = "b";
  node.devices = std::move(devices);
  return node;
}

// Rank 2 of a gang of four: two tasks on node a, two on b.
LaunchOrder gang_order() {
  auto spec = std::make_shared<JobSpec>();
  spec->name = "train";
  spec->roles = {Role{.name = "chief"}, Role{.name = "worker", .count = 3}};
  spec->roles[1].each.cpu = MilliCores(1500);
  return {.task = {JobId(123456), 2},
          .attempt = 5,
          .job_uid = "uid",
          .spec = std::move(spec),
          .node = "b",
          .rank = 3,
          .world_size = 4,
          .peers = {"a", "a", "b", "b"}};
}

TEST(TaskEnvironment, TellsTheTaskItsPlace) {
  const auto env = task_environment(gang_order(), node_of({}), "/report", {{"PATH", "/bin"}});
  const Environment expected = {{"PATH", "/bin"},
                                {"GRIDFOLD_JOB_ID", "uid"},
                                {"GRIDFOLD_JOB_NAME", "train"},
                                {"GRIDFOLD_TASK_INDEX", "2"},
                                {"GRIDFOLD_ATTEMPT", "5"},
                                {"GRIDFOLD_ROLE", "worker"},
                                {"GRIDFOLD_ROLE_RANK", "1"},
                                {"GRIDFOLD_RANK", "3"},
                                {"GRIDFOLD_WORLD_SIZE", "4"},
                                {"GRIDFOLD_NODE_RANK", "1"},
                                {"GRIDFOLD_NUM_NODES", "2"},
                                {"GRIDFOLD_LOCAL_RANK", "1"},
                                {"GRIDFOLD_DEVICES", ""},
                                {"GRIDFOLD_REPORT", "/report"},
                                {"MASTER_ADDR", "a"},
                                {"MASTER_PORT", "23456"},
                                {"RANK", "3"},
                                {"WORLD_SIZE", "4"},
                                {"LOCAL_RANK", "1"},
                                {"LOCAL_WORLD_SIZE", "2"},
                                {"NODE_RANK", "1"},
                                {"GROUP_RANK", "1"},
                                {"SLURM_JOB_ID", "123456"},
                                {"SLURM_PROCID", "3"},
                                {"SLURM_LOCALID", "1"},
                                {"SLURM_NTASKS", "4"},
                                {"SLURM_NODEID", "1"},
                                {"SLURM_NNODES", "2"},
                                {"SLURM_JOB_NODELIST", "a,b"},
                                {"SLURM_CPUS_PER_TASK", "2"},
                                {"CUDA_VISIBLE_DEVICES", ""},
                                {"ASCEND_RT_VISIBLE_DEVICES", ""}};
  EXPECT_EQ(env, expected);
}

TEST(TaskEnvironment, OneNodeMeetsOnLoopback) {
  LaunchOrder order = gang_order();
  order.peers = {"b", "b", "b", "b"};
  EXPECT_EQ(task_environment(order, node_of({}), "", {}).at("MASTER_ADDR"), "127.0.0.1");
  order.peers = {};
  order.rank = 0;
  const auto env = task_environment(order, node_of({}), "", {});
  EXPECT_EQ(env.at("MASTER_ADDR"), "127.0.0.1");
  EXPECT_EQ(env.at("LOCAL_WORLD_SIZE"), "1");
}

TEST(TaskEnvironment, RealDevicesAreNamedAsTheirLibraryDoes) {
  const NodeSpec node = node_of({device("gpu", "H100", "GPU-aa"), device("npu", "910B", "x"),
                                 device("gpu", "H100", "GPU-bb"), device("npu", "910B", "y")});
  LaunchOrder order = gang_order();
  order.devices = 0b1100;
  const auto env = task_environment(order, node, "", {});
  EXPECT_EQ(env.at("CUDA_VISIBLE_DEVICES"), "GPU-bb");
  EXPECT_EQ(env.at("ASCEND_RT_VISIBLE_DEVICES"), "1");
  EXPECT_EQ(env.at("GRIDFOLD_DEVICES"), "2:gpu:H100,3:npu:910B");
  EXPECT_EQ(env.at("LOCAL_RANK"), "0");  // an index into what it sees
  EXPECT_EQ(env.at("GRIDFOLD_LOCAL_RANK"), "1");
}

TEST(TaskEnvironment, EmulatedDevicesAreMarkedAndHideRealOnes) {
  const NodeSpec node = node_of({device("gpu", "H100", "", DeviceOrigin::kEmulated)});
  LaunchOrder order = gang_order();
  order.devices = 1;
  const auto env = task_environment(order, node, "", {});
  EXPECT_EQ(env.at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(env.at("GRIDFOLD_DEVICES"), "0:gpu:H100:emulated");
  EXPECT_EQ(env.at("LOCAL_RANK"), "1");
}

TEST(TaskEnvironment, APartitionIsNamedWithItsFirstSlot) {
  LaunchOrder order = gang_order();
  auto spec = std::make_shared<JobSpec>(*order.spec);
  for (Role& role : spec->roles)
    role.each.devices = {{"gpu", 1, DeviceShare(0), {}, {}, DevicePlace::kAny, "3g.40gb"}};
  order.spec = spec;
  order.start = 4;
  EXPECT_EQ(task_environment(order, node_of({}), "", {}).at("GRIDFOLD_PARTITION"), "3g.40gb@4");
}

TEST(TaskEnvironment, TheUserWinsExceptOverOurs) {
  LaunchOrder order = gang_order();
  auto spec = std::make_shared<JobSpec>(*order.spec);
  spec->env = {{"MASTER_PORT", "1"}, {"A", "job"}, {"B", "job"}, {"GRIDFOLD_RANK", "9"}};
  spec->roles[1].env = {{"B", "role"}, {"PATH", "/mine"}};
  spec->array_index = 7;
  order.spec = spec;
  const auto env = task_environment(order, node_of({}), "", {{"PATH", "/bin"}});
  EXPECT_EQ(env.at("MASTER_PORT"), "1");
  EXPECT_EQ(env.at("A"), "job");
  EXPECT_EQ(env.at("B"), "role");
  EXPECT_EQ(env.at("PATH"), "/mine");
  EXPECT_EQ(env.at("GRIDFOLD_RANK"), "3");
  EXPECT_EQ(env.at("GRIDFOLD_ARRAY_INDEX"), "7");
  EXPECT_EQ(env.at("SLURM_ARRAY_TASK_ID"), "7");
}

TEST(HostEnvironment, OnlyAFewNamesPass) {
  std::string lines[] = {"PATH=/x", "LD_PRELOAD=evil.so", "HOME=/h", "SECRET=1", "broken"};
  char* environment[] = {lines[0].data(), lines[1].data(), lines[2].data(),
                         lines[3].data(), lines[4].data(), nullptr};
  EXPECT_EQ(host_environment(environment), (Environment{{"PATH", "/x"}, {"HOME", "/h"}}));
  EXPECT_EQ(host_environment(nullptr).count("PATH"), 1u);
}

}  // namespace
}  // namespace gridfold::local
