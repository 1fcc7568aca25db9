// What is read from mounts and written to control files, on a tree of plain
// folders; real groups are met in local_backend_test.cpp.
#include "backends/local/cgroup.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace gridfold::local {
namespace {

namespace fs = std::filesystem;

TEST(CgroupHierarchies, AHybridMachineIsReadFromItsMounts) {
  const auto found = parse_hierarchies(
      "23 1 254:0 / / rw - ext4 /dev/vda rw\n"
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
      "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
      "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
      "42 31 0:38 / /elsewhere rw,relatime - cgroup2 cgroup2 rw\nshort line\n\n",
      "8:pids:/\n0::/\n");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].version, CgroupVersion::kV2);
  EXPECT_EQ(found[1].folder, "/sys/fs/cgroup/pids");
  EXPECT_TRUE(found[1].pids && !found[1].memory);
  EXPECT_TRUE(found[2].cpu);
  EXPECT_EQ(found[3].folder, "/sys/fs/cgroup/memory");
}

// Control files of a group as plain files; the kernel would make them.
class FakeCgroups : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = "/tmp/gridfold-cgroup-test-XXXXXX";
    root_ = ::mkdtemp(path.data());
    group_ = root_ + "/gridfold/one/task";
    fs::create_directories(group_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void make(const std::string& file, const std::string& text = "") {
    std::ofstream(group_ + "/" + file) << text;
  }
  std::string read(const std::string& file) {
    std::ifstream in(group_ + "/" + file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  CgroupParent open(CgroupVersion version) {
    const bool v1 = version == CgroupVersion::kV1;
    std::ofstream(root_ + "/gridfold/one/cgroup.controllers") << "cpuset cpu io memory pids\n";
    return CgroupParent::open("one", {{version, root_, v1, v1, v1}});
  }

  std::string root_;
  std::string group_;
};

TEST_F(FakeCgroups, V2LimitsAreWritten) {
  for (const char* file : {"cpu.max", "memory.max", "memory.swap.max", "memory.oom.group",
                           "pids.max", "cgroup.kill", "cgroup.procs"}) {
    make(file);
  }
  const CgroupParent parent = open(CgroupVersion::kV2);
  EXPECT_TRUE(parent.limits_cpu() && parent.limits_memory() && parent.limits_processes());
  TaskCgroup group(parent, "task");
  ASSERT_TRUE(group.create({2500, 1 << 20, 64}));
  EXPECT_EQ(read("cpu.max"), "250000 100000");
  EXPECT_EQ(read("memory.max"), "1048576");
  EXPECT_EQ(read("memory.swap.max"), "0");
  EXPECT_EQ(read("memory.oom.group"), "1");
  EXPECT_EQ(read("pids.max"), "64");
  ASSERT_TRUE(group.attach(12));
  EXPECT_EQ(read("cgroup.procs"), "12");
  group.kill_all();
  EXPECT_EQ(read("cgroup.kill"), "1");
  make("memory.events", "low 0\noom 2\noom_kill 1\n");
  EXPECT_TRUE(group.was_out_of_memory());
  EXPECT_FALSE(group.watch_memory().is_open());
}

TEST_F(FakeCgroups, V1LimitsAreWritten) {
  for (const char* file : {"cpu.cfs_period_us", "cpu.cfs_quota_us", "memory.limit_in_bytes",
                           "memory.memsw.limit_in_bytes", "pids.max", "cgroup.procs"}) {
    make(file);
  }
  TaskCgroup group(open(CgroupVersion::kV1), "task");
  ASSERT_TRUE(group.create({1, 1 << 20, 64}));
  EXPECT_EQ(read("cpu.cfs_period_us"), "1000000");  // the smallest share there is
  EXPECT_EQ(read("cpu.cfs_quota_us"), "1000");
  EXPECT_EQ(read("memory.limit_in_bytes"), "1048576");
  EXPECT_EQ(read("pids.max"), "64");
  make("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
  EXPECT_FALSE(group.was_out_of_memory());
  make("pids.max");
  group.kill_all();
  EXPECT_EQ(read("pids.max"), "0");  // nobody forks away
}

TEST_F(FakeCgroups, ALimitThatCannotBeSetIsAnError) {
  TaskCgroup group(open(CgroupVersion::kV1), "task");
  const auto made = group.create({0, 1 << 20, 0});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("memory.limit_in_bytes"), std::string::npos);
}

TEST(Cgroups, WithoutAnyNothingIsDone) {
  const CgroupParent parent = CgroupParent::open("x", {{.folder = "/no/such/folder"}});
  EXPECT_FALSE(parent.can_track());
  TaskCgroup group(parent, "task");
  EXPECT_TRUE(group.create({1000, 1, 1}));
  EXPECT_TRUE(group.attach(1));
  EXPECT_TRUE(group.members().empty());
  EXPECT_TRUE(group.remove());
}

}  // namespace
}  // namespace gridfold::local
