// This machine as it is, and the pieces of its discovery on made-up inputs.
#include "devices/machine.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "devices/cgroup_limits.h"
#include "devices/device_order.h"
#include "devices/emulated.h"

namespace gridfold {
namespace {

namespace fs = std::filesystem;

// A made-up file tree that lives as long as the test.
class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = (fs::temp_directory_path() / "gridfold-cgroup-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~FakeRoot() { fs::remove_all(path_); }
  void write(const std::string& path, const std::string& text) const {
    const fs::path file = path_ + path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  CgroupLimits limits() const {
    const auto read = read_cgroup_limits(path_);
    EXPECT_TRUE(read) << read.error().describe();
    return read.value_or({});
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(CgroupLimits, TheTightestLevelOfVersion2Counts) {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/a/b\n");
  root.write("/proc/self/mountinfo",
             "30 1 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n");
  root.write("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  root.write("/sys/fs/cgroup/a/memory.max", "max\n");
  root.write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  root.write("/sys/fs/cgroup/a/b/memory.max", "1073741824\n");
  const auto limits = root.limits();
  EXPECT_EQ(limits.cpu, Limit(MilliCores(1500)));
  EXPECT_EQ(limits.memory, Limit(Bytes(1 << 30)));
}

TEST(CgroupLimits, HybridTakesEachFromItsHierarchy) {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "5:memory:/docker/x\n3:cpu,cpuacct:/\n0::/\n");
  root.write("/proc/self/mountinfo",
             "31 1 0:27 /docker/x /cg/memory rw - cgroup cgroup rw,memory\n"
             "32 1 0:28 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
             "33 1 0:29 / /cg/unified rw - cgroup2 cgroup2 rw\n");
  root.write("/cg/memory/memory.limit_in_bytes", "2147483648\n");
  root.write("/cg/cpu/cpu.cfs_quota_us", "-1\n");
  root.write("/cg/cpu/cpu.cfs_period_us", "100000\n");
  const auto limits = root.limits();
  EXPECT_TRUE(limits.cpu.is_unlimited());
  EXPECT_EQ(limits.memory, Limit(Bytes(2ll << 30)));
}

TEST(CgroupLimits, NoneWithoutControlGroups) {
  const FakeRoot root;
  const auto limits = root.limits();
  EXPECT_TRUE(limits.cpu.is_unlimited());
  EXPECT_TRUE(limits.memory.is_unlimited());
}

TEST(CgroupLimits, NonsenseIsAnError) {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/\n");
  root.write("/proc/self/mountinfo", "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  root.write("/cg/memory.max", "lots\n");
  EXPECT_FALSE(read_cgroup_limits(root.path()));
  root.write("/cg/memory.max", "max\n");
  root.write("/cg/cpu.max", "100000 0\n");
  EXPECT_FALSE(read_cgroup_limits(root.path()));
}

DeviceSpec device(std::string uid, std::string model = "T4") {
  DeviceSpec out;
  out.device_class = "gpu";
  out.uid = std::move(uid);
  out.model = std::move(model);
  return out;
}

TEST(DeviceOrder, KnownDevicesKeepTheirPlaces) {
  const std::vector<DeviceSpec> before = {device("a"), device("b"), device("c")};
  const std::vector<DeviceSpec> found = {device("new"), device("c", "L4"), device("a")};
  const auto now = keep_device_order(before, found);
  ASSERT_EQ(now.size(), 4u);
  EXPECT_EQ(now[0], device("a"));
  EXPECT_EQ(now[1].uid, "b");
  EXPECT_EQ(now[1].fault, "was not found any more");
  EXPECT_EQ(now[2], device("c", "L4"));
  EXPECT_EQ(now[3], device("new"));
}

TEST(Machine, IsThisOne) {
  PluginHost no_plugins({});
  const auto machine = discover_machine({}, no_plugins);
  ASSERT_TRUE(machine) << machine.error().describe();
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  EXPECT_EQ(machine->node.name, host);
  EXPECT_GE(machine->node.cpu, MilliCores(1));
  EXPECT_LE(machine->node.cpu, MilliCores(1000 * sysconf(_SC_NPROCESSORS_CONF)));
  EXPECT_GT(machine->node.memory, Bytes(64 << 20));
  EXPECT_LE(machine->node.memory, Bytes(sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE)));
  EXPECT_GE(machine->numa.size(), 1u);
  EXPECT_TRUE(machine->node.devices.empty());
}

TEST(Machine, OffersOnlyProcessorsOfTheAffinityMask) {
  Result<Machine> machine = internal("not run");
  std::thread([&] {
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    int first = 0;
    while (!CPU_ISSET(first, &mask)) ++first;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    PluginHost no_plugins({});
    machine = discover_machine({.name = "pinned"}, no_plugins);
  }).join();
  ASSERT_TRUE(machine) << machine.error().describe();
  EXPECT_EQ(machine->node.name, "pinned");
  EXPECT_LE(machine->node.cpu, MilliCores(1000));
}

TEST(Machine, CarriesEmulatedDevices) {
  PluginHost no_plugins({});
  const auto eight = *parse_emulated_devices("gpu:H100-SXM5-80GB=8", built_in_facts());
  const auto machine = discover_machine({.emulated = eight}, no_plugins);
  ASSERT_TRUE(machine) << machine.error().describe();
  EXPECT_EQ(machine->node.devices, eight);
}

TEST(Machine, RefusesMoreDevicesThanANodeHolds) {
  PluginHost no_plugins({});
  const auto full = *parse_emulated_devices("gpu:T4=64", built_in_facts());
  const auto machine =
      discover_machine({.emulated = full, .previous = {device("gone")}}, no_plugins);
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::kLimit);
}

}  // namespace
}  // namespace gridfold
