// NVIDIA's plug-in on the fake library, through the host: what it tells when all
// is well, and that a lost device, a driver that does not start and a call that
// never returns stay where they are.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "devices/machine.h"
#include "devices/plugin_host.h"

namespace gridfold {
namespace {

// Sets a variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

PluginOptions nvml() { return {.path = NVML_PLUGIN, .config = "library=" FAKE_NVML_LIBRARY}; }
PluginOptions fake_npu() { return {.path = FAKE_NPU_PLUGIN}; }

std::string gpu(int index) {
  return "GPU-00000000-0000-4000-8000-00000000000" + std::to_string(index);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Nvml, DevicesCarryTheFactsName) {
  PluginHost host({nvml()});
  const auto machine = discover_machine({}, host);
  ASSERT_TRUE(machine) << machine.error().describe();
  const auto& devices = machine->node.devices;
  ASSERT_EQ(devices.size(), 8u);
  EXPECT_EQ(devices[0].device_class, "gpu");
  EXPECT_EQ(devices[0].model, "H100-SXM5-80GB");
  EXPECT_EQ(devices[0].memory.value(), Bytes(81559ll << 20));  // the driver's, not the sheet's
  EXPECT_EQ(devices[0].uid, gpu(0));
  EXPECT_EQ(devices[0].origin, DeviceOrigin::kReal);
  EXPECT_EQ(devices[0].fault, "");
  EXPECT_EQ(machine->reports[0].pci_bus_id, "00000000:10:00.0");
}

TEST(Nvml, TelemetryKnowsWhatItKnows) {
  PluginHost host({nvml()});
  ASSERT_EQ(host.discover().devices.size(), 8u);
  const auto told = host.telemetry(gpu(1));
  ASSERT_TRUE(told) << told.error().describe();
  EXPECT_EQ(told->memory_used.value(), Bytes(512 << 20));
  EXPECT_EQ(told->utilisation_thousandths.value(), 370);
  EXPECT_EQ(told->power.value(), MilliWatts(123456));
  EXPECT_EQ(told->temperature_millicelsius.value(), 41000);
  const auto split = host.telemetry(gpu(7));
  ASSERT_TRUE(split);
  EXPECT_FALSE(split->utilisation_thousandths.is_known());
  EXPECT_TRUE(split->power.is_known());
}

TEST(Nvml, AGpuInMigModeIsListedWithItsPartsAndNotGivenOut) {
  PluginHost host({nvml()});
  const auto inventory = host.discover();
  ASSERT_EQ(inventory.devices.size(), 8u);
  EXPECT_TRUE(inventory.devices[7].partitioned);
  EXPECT_NE(inventory.devices[7].spec.fault, "");
  const auto told = host.partitions(gpu(7));
  ASSERT_TRUE(told) << told.error().describe();
  const auto& parts = told->value();
  ASSERT_EQ(parts.profiles.size(), 5u);
  // The names and starts that our data sheet row states for this model.
  const auto& sheet = built_in_facts().find("H100-SXM5-80GB")->partitions;
  for (const auto& profile : parts.profiles) {
    const auto row = std::find_if(sheet.begin(), sheet.end(),
                                  [&](const auto& r) { return r.name == profile.name; });
    ASSERT_NE(row, sheet.end()) << profile.name;
    EXPECT_EQ(row->starts, profile.starts);
    EXPECT_EQ(row->slices, profile.slices);
  }
  ASSERT_EQ(parts.existing.size(), 2u);
  EXPECT_EQ(parts.existing[0].profile, "1g.10gb");
  EXPECT_EQ(parts.existing[1].profile, "3g.40gb");
  EXPECT_EQ(parts.existing[1].start.value(), 4);
}

TEST(Nvml, PartitionsAreMadeAndRemoved) {
  PluginHost host({nvml()});
  host.discover();
  // Slots 0 and 4 to 7 are taken.
  const auto made = host.make_partition(gpu(7), "2g.20gb", 2);
  ASSERT_TRUE(made) << made.error().describe();
  EXPECT_EQ(made->profile, "2g.20gb");
  EXPECT_EQ(made->start.value(), 2);
  const auto listed = host.partitions(gpu(7));
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->value().existing.size(), 3u);
  EXPECT_EQ(listed->value().existing[2].uid, made->uid);
  EXPECT_FALSE(host.make_partition(gpu(7), "1g.10gb", 3));
  EXPECT_EQ(host.make_partition(gpu(7), "5g.50gb", 0).error().kind, ErrorKind::kInvalid);
  ASSERT_TRUE(host.remove_partition(gpu(7), made->uid));
  EXPECT_EQ(host.remove_partition(gpu(7), made->uid).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(host.partitions(gpu(7))->value().existing.size(), 2u);
}

TEST(Nvml, APartitionHalfMadeIsTakenBack) {
  PluginHost host({nvml()});
  host.discover();
  {
    const Variable fails("GRIDFOLD_FAKE_NVML", "no_compute_instances");
    const auto made = host.make_partition(gpu(7), "2g.20gb", 2);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("Insufficient Resources"), std::string::npos);
  }
  const auto again = host.make_partition(gpu(7), "2g.20gb", 2);
  ASSERT_TRUE(again) << again.error().describe();
  {
    const Variable used("GRIDFOLD_FAKE_NVML", "parts_in_use");
    const auto removed = host.remove_partition(gpu(7), again->uid);
    ASSERT_FALSE(removed);
    EXPECT_NE(removed.error().message.find("In use"), std::string::npos);
  }
  EXPECT_TRUE(host.remove_partition(gpu(7), again->uid));
}

TEST(Nvml, AManagedGpuInMigModeIsGivenOutInItsParts) {
  PluginHost host({nvml()});
  MachineOptions options;
  const auto left = discover_machine(options, host);
  ASSERT_TRUE(left);
  EXPECT_NE(left->node.devices[7].fault.find("manage_partitions"), std::string::npos);
  EXPECT_TRUE(left->node.devices[7].partitions.empty());
  options.manage_partitions = true;
  const auto managed = discover_machine(options, host);
  ASSERT_TRUE(managed);
  EXPECT_EQ(managed->node.devices[7].fault, "");
  ASSERT_EQ(managed->node.devices[7].partitions.size(), 5u);
  EXPECT_EQ(managed->node.devices[7].partitions[2].name, "3g.40gb");
  EXPECT_EQ(managed->node.devices[7].partitions[2].length, 4);
  EXPECT_TRUE(managed->node.devices[0].partitions.empty());
}

// What an older plug-in does not have is said, not tried.
TEST(Nvml, OthersCannotSplit) {
  PluginHost host({fake_npu()});
  const auto inventory = host.discover();
  ASSERT_FALSE(inventory.devices.empty());
  const auto made = host.make_partition(inventory.devices[0].spec.uid, "half", 0);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kUnavailable);
}

TEST(Nvml, LinksLeadToTheSwitch) {
  PluginHost host({nvml()});
  host.discover();
  const auto links = host.links(gpu(0));
  ASSERT_TRUE(links) << links.error().describe();
  ASSERT_EQ(links->value().size(), 1u);
  EXPECT_EQ(links->value()[0].count, 18);
  EXPECT_EQ(links->value()[0].peer_uid, "");
}

TEST(Nvml, HoldersOfADeviceAreNamed) {
  const Variable holders("GRIDFOLD_FAKE_NVML_HOLDERS", "41,42");
  PluginHost host({nvml()});
  host.discover();
  const auto held = host.processes(gpu(0));
  ASSERT_TRUE(held) << held.error().describe();
  ASSERT_EQ(held->value().size(), 2u);
  EXPECT_EQ(held->value()[1].pid, 42);
  EXPECT_EQ(held->value()[1].memory.value(), Bytes(256 << 20));
  EXPECT_TRUE(host.processes(gpu(1))->value().empty());
}

TEST(Nvml, ManyHoldersAreAllNamed) {
  std::string pids = "1000";
  for (int pid = 1001; pid < 1200; ++pid) pids += "," + std::to_string(pid);
  const Variable holders("GRIDFOLD_FAKE_NVML_HOLDERS", pids.c_str());
  PluginHost host({nvml()});
  host.discover();
  EXPECT_EQ(host.processes(gpu(0))->value().size(), 200u);
}

TEST(PluginHost, EnvironmentGivesTheChosenAndHidesTheRest) {
  PluginHost host({nvml(), fake_npu()});
  const auto devices = host.discover().devices;
  ASSERT_EQ(devices.size(), 12u);
  EXPECT_EQ(devices[8].spec.origin, DeviceOrigin::kEmulated);
  const std::vector<DeviceSpec> chosen = {devices[2].spec, devices[0].spec};
  const auto env = host.environment(chosen);
  ASSERT_TRUE(env) << env.error().describe();
  EXPECT_EQ(env->at("CUDA_VISIBLE_DEVICES"), gpu(2) + "," + gpu(0));
  EXPECT_EQ(env->at("GRIDFOLD_FAKE_NPU_VISIBLE_DEVICES"), "");
  DeviceSpec emulated;
  emulated.uid = "emulated-0";
  emulated.origin = DeviceOrigin::kEmulated;
  const auto none = host.environment(std::vector{emulated});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->at("CUDA_VISIBLE_DEVICES"), "");
  emulated.origin = DeviceOrigin::kReal;
  EXPECT_EQ(host.environment(std::vector{emulated}).error().kind, ErrorKind::kNotFound);
}

TEST(PluginHost, ALostDeviceKeepsItsPlaceAndTheOthersGoOn) {
  PluginHost host({nvml()});
  ASSERT_EQ(host.discover().devices[3].spec.fault, "");
  const Variable mode("GRIDFOLD_FAKE_NVML", "device_lost");
  const auto inventory = host.discover();
  ASSERT_EQ(inventory.devices.size(), 8u);
  EXPECT_TRUE(inventory.troubles.empty());
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(inventory.devices[static_cast<std::size_t>(i)].spec.uid, gpu(i));
  }
  EXPECT_EQ(inventory.devices[3].health, DeviceHealth::kFailed);
  EXPECT_EQ(inventory.devices[3].spec.fault, "nvmlDeviceGetHandleByIndex_v2: GPU is lost");
  EXPECT_EQ(inventory.devices[4].health, DeviceHealth::kOk);
  EXPECT_EQ(host.health(gpu(3))->health, DeviceHealth::kFailed);
  EXPECT_FALSE(host.telemetry(gpu(3)));
  EXPECT_TRUE(host.telemetry(gpu(4)));
}

TEST(PluginHost, ADeviceLostFromTheStartIsNamedByItsIndex) {
  const Variable mode("GRIDFOLD_FAKE_NVML", "device_lost");
  PluginHost host({nvml()});
  const auto inventory = host.discover();
  ASSERT_EQ(inventory.devices.size(), 8u);
  EXPECT_EQ(inventory.devices[3].spec.uid, "nvml-index-3");
  EXPECT_NE(inventory.devices[3].spec.fault, "");
}

TEST(PluginHost, ADriverThatDoesNotStartIsATrouble) {
  const Variable mode("GRIDFOLD_FAKE_NVML", "init_fails");
  PluginHost host({nvml(), fake_npu()});
  const auto inventory = host.discover();
  EXPECT_EQ(inventory.devices.size(), 4u);
  ASSERT_EQ(inventory.troubles.size(), 1u);
  EXPECT_EQ(inventory.troubles[0].kind, PluginHost::TroubleKind::kFailed);
  EXPECT_NE(inventory.troubles[0].error.message.find("nvmlInit_v2: Unknown Error"),
            std::string::npos);
}

TEST(PluginHost, AnAbsentDriverIsNoFailure) {
  const Variable mode("GRIDFOLD_FAKE_NVML", "no_driver");
  PluginHost host({nvml()});
  const auto inventory = host.discover();
  ASSERT_EQ(inventory.troubles.size(), 1u);
  EXPECT_EQ(inventory.troubles[0].kind, PluginHost::TroubleKind::kAbsent);
}

TEST(PluginHost, ACallThatHangsIsGivenUpAndTheOthersGoOn) {
  auto options = nvml();
  options.call_deadline = Duration::milliseconds(200);
  PluginHost host({options, fake_npu()});
  ASSERT_EQ(host.discover().devices.size(), 12u);
  const Variable hang("GRIDFOLD_FAKE_NVML_HANG", "nvmlDeviceGetPowerUsage");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(host.telemetry(gpu(0)).error().kind, ErrorKind::kUnavailable);
  const auto inventory = host.discover();
  const auto env = host.environment(std::vector{inventory.devices[9].spec});
  EXPECT_LT(seconds_since(start), 5.0);
  ASSERT_EQ(inventory.devices.size(), 12u);
  EXPECT_EQ(inventory.devices[0].health, DeviceHealth::kUnknown);
  EXPECT_NE(inventory.devices[0].spec.fault, "");
  EXPECT_EQ(inventory.devices[9].spec.fault, "");
  ASSERT_EQ(inventory.troubles.size(), 1u);
  EXPECT_EQ(inventory.troubles[0].kind, PluginHost::TroubleKind::kNotAnswering);
  // Jobs on other devices still start, with the hanging one's devices hidden.
  ASSERT_TRUE(env) << env.error().describe();
  EXPECT_EQ(env->at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(env->at("GRIDFOLD_FAKE_NPU_VISIBLE_DEVICES"), "1");
}

TEST(PluginHost, ADriverThatHangsAtStartIsNotAnswering) {
  const Variable hang("GRIDFOLD_FAKE_NVML_HANG", "nvmlInit_v2");
  auto options = nvml();
  options.call_deadline = Duration::milliseconds(200);
  PluginHost host({options, fake_npu()});
  const auto inventory = host.discover();
  EXPECT_EQ(inventory.devices.size(), 4u);
  ASSERT_EQ(inventory.troubles.size(), 1u);
  EXPECT_EQ(inventory.troubles[0].kind, PluginHost::TroubleKind::kNotAnswering);
}

TEST(PluginHost, WhatIsNoPluginIsATrouble) {
  PluginHost host(
      {{.path = "/no/such/plugin.so"}, {.path = FAKE_NVML_LIBRARY}, fake_npu(), fake_npu()});
  const auto inventory = host.discover();
  EXPECT_EQ(inventory.devices.size(), 4u);
  ASSERT_EQ(inventory.troubles.size(), 3u);
  EXPECT_NE(inventory.troubles[1].error.message.find("is not a device plug-in"), std::string::npos);
  EXPECT_EQ(inventory.troubles[2].error.kind, ErrorKind::kConflict);  // the second of one name
}

TEST(PluginHost, BadSettingsOfTheFakeNpuAreRefused) {
  const Variable count("GRIDFOLD_FAKE_NPU_COUNT", "many");
  PluginHost host({fake_npu()});
  const auto inventory = host.discover();
  ASSERT_EQ(inventory.troubles.size(), 1u);
  EXPECT_EQ(inventory.troubles[0].error.kind, ErrorKind::kInvalid);
}

TEST(PluginHost, FindsPluginsInAFolder) {
  const auto found = plugins_in(GRIDFOLD_BINARY_DIR "/device_plugins");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, NVML_PLUGIN);
  EXPECT_TRUE(plugins_in("/no/such/folder").empty());
}

}  // namespace
}  // namespace gridfold
