// The contract of device plug-ins. Every plug-in passes this one suite, ours by
// the rows at the end and yours by
//
//   GRIDFOLD_PLUGIN_UNDER_TEST=/path/to/plugin.so build/dev/device_plugin_test
//   --gtest_filter='Yours/*'
//
// with at least one device. It tests what the header says through the host, so
// what the host refuses (sizes, texts, ranges, uids told twice) fails here too.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "devices/plugin.h"
#include "gridfold/device_plugin.h"

namespace gridfold {
namespace {

struct Subject {
  std::string name;
  std::string path;
  std::string config;
  // Of gtest, for the names of tests.
  friend void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }
};

class DevicePluginContract : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    plugin_ = std::make_unique<DevicePlugin>(
        PluginOptions{.path = GetParam().path, .config = GetParam().config});
    const auto opened = plugin_->open();
    ASSERT_TRUE(opened) << opened.error().describe();
    auto devices = plugin_->devices();
    ASSERT_TRUE(devices) << devices.error().describe();
    ASSERT_FALSE(devices->empty()) << "the contract needs at least one device";
    devices_ = std::move(*devices);
  }
  std::vector<std::string> uids() const {
    std::vector<std::string> out;
    for (const auto& device : devices_) out.push_back(device.spec.uid);
    return out;
  }

  std::unique_ptr<DevicePlugin> plugin_;
  std::vector<DeviceReport> devices_;
};

TEST_P(DevicePluginContract, HasANameAndAVersion) {
  EXPECT_FALSE(plugin_->name().empty());
  EXPECT_FALSE(plugin_->version().empty());
}

TEST_P(DevicePluginContract, RefusesAnotherAbi) {
  void* object = dlopen(GetParam().path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(object, nullptr);
  const auto entry =
      reinterpret_cast<gridfold_device_plugin_entry>(dlsym(object, GRIDFOLD_DEVICE_PLUGIN_SYMBOL));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry(0), nullptr);
  EXPECT_NE(entry(GRIDFOLD_DEVICE_ABI), nullptr);
}

TEST_P(DevicePluginContract, RefusesAConfigurationItDoesNotUnderstand) {
  DevicePlugin other({.path = GetParam().path, .config = "no-such-key=\x01?"});
  const auto opened = other.open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::kInvalid) << opened.error().describe();
}

TEST_P(DevicePluginContract, TellsTheSameDevicesInTheSameOrder) {
  const auto again = plugin_->devices();
  ASSERT_TRUE(again) << again.error().describe();
  ASSERT_EQ(again->size(), devices_.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    EXPECT_EQ((*again)[i].spec.uid, devices_[i].spec.uid);
  }
}

TEST_P(DevicePluginContract, TellsTheSameUidsAfterAReopening) {
  DevicePlugin other({.path = GetParam().path, .config = GetParam().config});
  ASSERT_TRUE(other.open());
  const auto devices = other.devices();
  ASSERT_TRUE(devices);
  std::set<std::string> told;
  for (const auto& device : *devices) told.insert(device.spec.uid);
  EXPECT_EQ(told, std::set<std::string>([&] {
              const auto list = uids();
              return std::set<std::string>(list.begin(), list.end());
            }()));
}

TEST_P(DevicePluginContract, EveryHealthyDeviceHasAClassAndMemory) {
  for (const auto& device : devices_) {
    EXPECT_FALSE(device.spec.device_class.empty());
    if (device.health == DeviceHealth::kFailed) continue;
    EXPECT_FALSE(device.spec.model.empty()) << device.spec.uid;
    if (device.spec.memory.is_known()) {
      EXPECT_GT(device.spec.memory.value(), Bytes(0));
    }
  }
}

TEST_P(DevicePluginContract, WhatIsNotWellHasAReason) {
  for (const auto& device : devices_) {
    if (device.health == DeviceHealth::kDegraded || device.health == DeviceHealth::kFailed) {
      EXPECT_FALSE(device.reason.empty()) << device.spec.uid;
    }
    const auto health = plugin_->health(device.spec.uid);
    ASSERT_TRUE(health) << health.error().describe();
    EXPECT_EQ(health->health, device.health) << device.spec.uid;
  }
}

TEST_P(DevicePluginContract, TelemetryIsWithinTheDevicesMeans) {
  for (const auto& device : devices_) {
    if (device.health == DeviceHealth::kFailed) continue;
    const auto told = plugin_->telemetry(device.spec.uid);
    ASSERT_TRUE(told) << told.error().describe();
    if (told->memory_used.is_known() && device.spec.memory.is_known()) {
      EXPECT_LE(told->memory_used.value(), device.spec.memory.value());
    }
    if (told->temperature_millicelsius.is_known()) {
      EXPECT_GT(told->temperature_millicelsius.value(), -100'000);
      EXPECT_LT(told->temperature_millicelsius.value(), 200'000);
    }
  }
}

TEST_P(DevicePluginContract, LinksLeadToOtherDevicesOfItsOwn) {
  const auto known = uids();
  for (const auto& device : devices_) {
    if (device.health == DeviceHealth::kFailed) continue;
    const auto links = plugin_->links(device.spec.uid);
    ASSERT_TRUE(links) << links.error().describe();
    if (!links->is_known()) continue;
    for (const auto& link : links->value()) {
      EXPECT_NE(link.peer_uid, device.spec.uid);
      if (link.peer_uid.empty()) continue;
      EXPECT_NE(std::find(known.begin(), known.end(), link.peer_uid), known.end());
    }
  }
}

TEST_P(DevicePluginContract, PartitionsAreOfProfilesWithLegalStarts) {
  for (const auto& device : devices_) {
    if (device.health == DeviceHealth::kFailed) continue;
    const auto told = plugin_->partitions(device.spec.uid);
    ASSERT_TRUE(told) << told.error().describe();
    if (!told->is_known()) continue;
    const auto& profiles = told->value().profiles;
    std::set<std::string> names;
    for (const auto& profile : profiles) {
      EXPECT_TRUE(names.insert(profile.name).second) << profile.name << " is told twice";
      if (profile.memory.is_known() && device.spec.memory.is_known()) {
        EXPECT_LE(profile.memory.value(), device.spec.memory.value());
      }
    }
    for (const auto& part : told->value().existing) {
      EXPECT_TRUE(device.partitioned) << device.spec.uid;
      const auto profile = std::find_if(profiles.begin(), profiles.end(),
                                        [&](const auto& p) { return p.name == part.profile; });
      if (profile == profiles.end() || !part.start.is_known()) continue;
      EXPECT_NE(std::find(profile->starts.begin(), profile->starts.end(), part.start.value()),
                profile->starts.end());
      EXPECT_TRUE(plugin_->environment({part.uid}));
    }
  }
}

TEST_P(DevicePluginContract, ProcessesAreAnswered) {
  for (const auto& device : devices_) {
    if (device.health == DeviceHealth::kFailed) continue;
    const auto told = plugin_->processes(device.spec.uid);
    ASSERT_TRUE(told) << told.error().describe();
  }
}

TEST_P(DevicePluginContract, EnvironmentTellsApartNoneOneAndAll) {
  const auto none = plugin_->environment({});
  const auto one = plugin_->environment({devices_[0].spec.uid});
  ASSERT_TRUE(none) << none.error().describe();
  ASSERT_TRUE(one) << one.error().describe();
  ASSERT_FALSE(none->empty()) << "without variables every job would see all devices";
  EXPECT_NE(*none, *one);
  const auto all = plugin_->environment(uids());
  ASSERT_TRUE(all) << all.error().describe();
  if (devices_.size() > 1) {
    EXPECT_NE(*one, *all);
    auto reversed = uids();
    std::reverse(reversed.begin(), reversed.end());
    EXPECT_NE(*all, *plugin_->environment(reversed)) << "the order is the caller's";
  }
  for (const auto& [name, value] : *none) {
    EXPECT_TRUE(one->contains(name)) << name;
    EXPECT_TRUE(all->contains(name)) << name;
  }
}

TEST_P(DevicePluginContract, AnUnknownUidIsNotFound) {
  const std::string uid = "no-such-device";
  const auto kind = [](const auto& answer) {
    return answer ? "found" : to_string(answer.error().kind);
  };
  EXPECT_EQ(kind(plugin_->health(uid)), "not_found");
  EXPECT_EQ(kind(plugin_->telemetry(uid)), "not_found");
  EXPECT_EQ(kind(plugin_->processes(uid)), "not_found");
  EXPECT_EQ(kind(plugin_->partitions(uid)), "not_found");
  EXPECT_EQ(kind(plugin_->links(uid)), "not_found");
  EXPECT_EQ(kind(plugin_->environment({uid})), "not_found");
}

std::vector<Subject> given() {
  const char* path = std::getenv("GRIDFOLD_PLUGIN_UNDER_TEST");
  const char* config = std::getenv("GRIDFOLD_PLUGIN_CONFIG");
  if (path == nullptr) return {};
  return {{"given", path, config != nullptr ? config : ""}};
}

const auto name_of_subject = [](const auto& info) { return info.param.name; };

INSTANTIATE_TEST_SUITE_P(Ours, DevicePluginContract,
                         testing::Values(Subject{"nvml", NVML_PLUGIN, "library=" FAKE_NVML_LIBRARY},
                                         Subject{"fake_npu", FAKE_NPU_PLUGIN, ""}),
                         name_of_subject);
INSTANTIATE_TEST_SUITE_P(Yours, DevicePluginContract, testing::ValuesIn(given()), name_of_subject);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DevicePluginContract);

}  // namespace
}  // namespace gridfold
