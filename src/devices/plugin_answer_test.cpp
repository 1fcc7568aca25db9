// Plug-ins that break the interface, one way at a time.
#include "devices/plugin_answer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace gridfold {
namespace {

gridfold_device good_device() {
  gridfold_device device = {};
  device.size = sizeof device;
  device.health = GRIDFOLD_HEALTH_OK;
  device.uid = "u";
  device.device_class = "npu";
  return device;
}

std::string breach_of(const gridfold_device& device) {
  AnswerCheck check;
  to_report(&device, check);
  return check.breach();
}

TEST(PluginAnswer, ADeviceWithTheLeastIsAccepted) {
  const auto device = good_device();
  AnswerCheck check;
  const auto report = to_report(&device, check);
  EXPECT_EQ(check.breach(), "");
  EXPECT_FALSE(report.spec.memory.is_known());
  EXPECT_EQ(report.spec.numa, -1);
  EXPECT_EQ(report.spec.fault, "");
}

TEST(PluginAnswer, EachBreachIsNamed) {
  auto device = good_device();
  device.uid = nullptr;
  EXPECT_EQ(breach_of(device), "uid is empty");
  device = good_device();
  device.device_class = "";
  EXPECT_EQ(breach_of(device), "device_class is empty");
  device = good_device();
  device.model = "line\nbreak";
  EXPECT_EQ(breach_of(device), "model is not printable UTF-8 of at most 4096 bytes");
  device.model = "\xff";
  EXPECT_NE(breach_of(device), "");
  device.model = "昇腾";
  EXPECT_EQ(breach_of(device), "");
  device = good_device();
  device.health = 9;
  EXPECT_EQ(breach_of(device), "health is none of the four: 9");
  device = good_device();
  device.memory_bytes = {-1, 1, 0};
  EXPECT_EQ(breach_of(device), "memory_bytes is out of range: -1");
  device.memory_bytes.known = 0;
  EXPECT_EQ(breach_of(device), "");
  device.size = 2;
  EXPECT_EQ(breach_of(device), "a struct without its size");
}

TEST(PluginAnswer, AnOlderShorterStructLeavesTheRestUnknown) {
  auto device = good_device();
  device.memory_bytes = {1, 1, 0};
  device.size = offsetof(gridfold_device, memory_bytes);
  AnswerCheck check;
  const auto report = to_report(&device, check);
  EXPECT_EQ(check.breach(), "");
  EXPECT_EQ(report.spec.uid, "u");
  EXPECT_FALSE(report.spec.memory.is_known());
}

TEST(PluginAnswer, OnlyTelemetryMayBeBelowZeroDegrees) {
  gridfold_device_telemetry told = {};
  told.size = sizeof told;
  told.temperature_millicelsius = {-5000, 1, 0};
  AnswerCheck check;
  EXPECT_EQ(to_telemetry(&told, check).temperature_millicelsius.value(), -5000);
  EXPECT_EQ(check.breach(), "");
  told.utilisation_thousandths = {1001, 1, 0};
  to_telemetry(&told, check);
  EXPECT_EQ(check.breach(), "utilisation_thousandths is out of range: 1001");
}

TEST(PluginAnswer, AnEndlessAnswerIsCutOff) {
  AnswerCheck check;
  const std::vector<int> full(kMaxPluginItems);
  EXPECT_FALSE(check.room_in(full));
  EXPECT_EQ(check.breach(), "more than 4096 items in one answer");
}

RC_GTEST_PROP(PluginAnswerProperty, AnyNumbersEndInAValueOrABreach, ()) {
  gridfold_partition_profile profile = {};
  profile.size = sizeof profile;
  profile.name = "p";
  profile.slices = *rc::gen::arbitrary<std::uint32_t>();
  profile.memory_bytes = {*rc::gen::arbitrary<std::int64_t>(), 1, 0};
  const auto starts = *rc::gen::arbitrary<std::vector<std::uint32_t>>();
  profile.starts = starts.data();
  profile.start_count = static_cast<std::uint32_t>(starts.size());
  AnswerCheck check;
  const auto out = to_profile(&profile, check);
  if (!check.breach().empty()) return;
  RC_ASSERT(static_cast<std::uint32_t>(out.slices) == profile.slices);
  RC_ASSERT(out.memory.value().value == profile.memory_bytes.value);
  RC_ASSERT(out.starts.size() == starts.size());
  for (const auto start : out.starts) RC_ASSERT(start >= 0);
}

}  // namespace
}  // namespace gridfold
