#include "devices/device_facts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace gridfold {
namespace {

std::string row(const std::string& more) {
  return R"({"devices": [{"model": "A", "class": "gpu", "vendor": "V", "source": "s")" + more +
         "}]}";
}

std::string field_of_error(const std::string& json) {
  const auto table = DeviceFactsTable::parse(json);
  return table ? "accepted" : table.error().field;
}

TEST(DeviceFacts, BuiltInFileIsValid) {
  const auto table = DeviceFactsTable::parse(built_in_device_facts());
  ASSERT_TRUE(table) << table.error().describe();
  EXPECT_GE(table->rows().size(), 25u);
  const std::set<std::string> types = {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8"};
  for (const auto& facts : table->rows()) {
    EXPECT_TRUE(facts.memory.is_known()) << facts.model;
    EXPECT_EQ(facts.source, "vendor data sheet") << facts.model;
    for (const auto& [type, value] : facts.gigaflops) EXPECT_TRUE(types.contains(type)) << type;
    for (const auto& profile : facts.partitions) {
      EXPECT_FALSE(profile.starts.empty()) << facts.model << " " << profile.name;
      EXPECT_TRUE(!profile.memory.is_known() || profile.memory.value() < facts.memory.value());
    }
  }
}

TEST(DeviceFacts, BuiltInTextIsTheFile) {
  std::ifstream file(GRIDFOLD_SOURCE_DIR "/data/devices.json");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(built_in_device_facts(), text);
}

TEST(DeviceFacts, AreFoundByTheDriversName) {
  const auto* facts = built_in_facts().find("NVIDIA H100 80GB HBM3");
  ASSERT_NE(facts, nullptr);
  EXPECT_EQ(facts->model, "H100-SXM5-80GB");
  EXPECT_EQ(facts->memory.value(), Bytes(80ll << 30));
  EXPECT_EQ(facts->memory_bytes_per_second.value(), 3'350'000'000'000);
  EXPECT_EQ(facts->power_max.value(), MilliWatts(700'000));
  ASSERT_FALSE(facts->partitions.empty());
  EXPECT_EQ(facts->partitions[0].name, "1g.10gb");
  EXPECT_EQ(facts->partitions[0].starts, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(built_in_facts().find("H100"), nullptr);
}

TEST(DeviceFacts, NearestIsAPartOfTheNameOrASlip) {
  EXPECT_EQ(built_in_facts().nearest("h100"), "H100-SXM5-80GB");
  EXPECT_EQ(built_in_facts().nearest("H100-SMX5-80GB"), "H100-SXM5-80GB");
  EXPECT_EQ(built_in_facts().nearest("quantum-annealer-9000"), "");
  EXPECT_EQ(built_in_facts().nearest(std::string(1000, 'x')), "");
}

TEST(DeviceFacts, WhatIsNotToldIsUnknown) {
  const auto table = DeviceFactsTable::parse(row(""));
  ASSERT_TRUE(table) << table.error().describe();
  const auto* facts = table->find("A");
  ASSERT_NE(facts, nullptr);
  EXPECT_FALSE(facts->memory.is_known());
  EXPECT_FALSE(facts->power_max.is_known());
}

TEST(DeviceFacts, ErrorsNameTheField) {
  EXPECT_EQ(field_of_error(row(R"(, "memory": "80Gi")")), "accepted");
  EXPECT_EQ(field_of_error(row(R"(, "memory": "80Gx")")), "devices[0].memory");
  EXPECT_EQ(field_of_error(row(R"(, "memory": 80)")), "devices[0].memory");
  EXPECT_EQ(field_of_error(row(R"(, "memory": "0")")), "devices[0].memory");
  EXPECT_EQ(field_of_error(row(R"(, "memroy": "80Gi")")), "devices[0].memroy");
  EXPECT_EQ(field_of_error(row(R"(, "gigaflops": {"bf16": 0})")), "devices[0].gigaflops.bf16");
  EXPECT_EQ(field_of_error(row(R"(, "gigaflops": {"bf16": 18446744073709551615})")),
            "devices[0].gigaflops.bf16");
  EXPECT_EQ(field_of_error(row(R"(, "gigaflops": [])")), "devices[0].gigaflops");
  EXPECT_EQ(field_of_error(row(R"(, "partitions": [{"name": "p", "starts": [0]}])")),
            "devices[0].partitions[0].slices");
  EXPECT_EQ(field_of_error(row(R"(, "aliases": ["A"])")), "devices[0]");
  EXPECT_EQ(field_of_error(R"({"devices": [{"class": "gpu"}]})"), "devices[0].model");
  EXPECT_EQ(field_of_error(R"({"devices": [7]})"), "devices[0]");
  EXPECT_EQ(field_of_error("{}"), "devices");
  EXPECT_EQ(field_of_error("[]"), "facts");
  EXPECT_EQ(field_of_error("{"), "");
}

TEST(DeviceFacts, TooLargeAFileIsALimit) {
  const auto table = DeviceFactsTable::parse(std::string((1 << 20) + 1, ' '));
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().kind, ErrorKind::kLimit);
}

TEST(DeviceFacts, ALaterFileReplacesAndAdds) {
  auto table = *DeviceFactsTable::parse(row(R"(, "memory": "1Gi", "aliases": ["old", "kept"])"));
  table.add(*DeviceFactsTable::parse(
      R"({"devices": [
        {"model": "B", "class": "npu", "vendor": "V", "source": "s", "aliases": ["kept"]},
        {"model": "A", "class": "gpu", "vendor": "V", "source": "s", "memory": "2Gi"}]})"));
  EXPECT_EQ(table.rows().size(), 2u);
  EXPECT_EQ(table.find("A")->memory.value(), Bytes(2ll << 30));
  EXPECT_EQ(table.find("old"), nullptr);
  ASSERT_NE(table.find("kept"), nullptr);
  EXPECT_EQ(table.find("kept")->model, "B");
}

TEST(DeviceFacts, AMissingFileIsNotFound) {
  const auto table = DeviceFactsTable::read_file(GRIDFOLD_BINARY_DIR "/no-such-facts.json");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(DeviceFactsTable::read_file(GRIDFOLD_BINARY_DIR));  // a folder
}

}  // namespace
}  // namespace gridfold
