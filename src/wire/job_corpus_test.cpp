// Samples of job files in tests/data/jobs: valid, invalid, and the most likely
// mistakes, each with the full error text beside it. GRIDFOLD_REWRITE=1 writes
// the texts anew. The key tables of the code and the schema must agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>

#include "wire/job_file.h"
#include "wire/job_keys.h"

namespace gridfold {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = GRIDFOLD_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> samples(const char* folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kRoot / "tests/data/jobs" / folder))
    if (entry.path().extension() != ".expected") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  EXPECT_FALSE(paths.empty());
  return paths;
}

Result<std::vector<JobSpec>> parse(const fs::path& path) {
  const bool json = path.extension() == ".json";
  return parse_job_file(read(path), json ? JobFileFormat::kJson : JobFileFormat::kYaml);
}

TEST(JobCorpus, ValidSamplesAreAccepted) {
  for (const auto& path : samples("valid")) {
    const auto parsed = parse(path);
    EXPECT_TRUE(parsed) << path << ": " << (parsed ? "" : parsed.error().describe());
  }
}

TEST(JobCorpus, InvalidSamplesAreRefused) {
  for (const auto& path : samples("invalid")) EXPECT_FALSE(parse(path)) << path;
}

TEST(JobCorpus, MistakesAreExplained) {
  const char* rewrite = std::getenv("GRIDFOLD_REWRITE");
  int mistakes = 0;
  for (const auto& path : samples("mistakes")) {
    ++mistakes;
    const auto parsed = parse(path);
    ASSERT_FALSE(parsed) << path;
    const Error& error = parsed.error();
    const std::string text = error.describe() + "\n";
    EXPECT_FALSE(error.hint.empty()) << path;
    EXPECT_TRUE(error.position.line > 0 || read(path).empty()) << path;
    fs::path expected = path;
    expected.replace_extension(".expected");
    if (rewrite != nullptr) std::ofstream(expected) << text;
    EXPECT_EQ(text, read(expected)) << path;
  }
  EXPECT_GE(mistakes, 40);
}

std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& entry : object.at("properties").items()) keys.insert(entry.key());
  return keys;
}

std::set<std::string> words(std::span<const std::string_view> table) {
  return {table.begin(), table.end()};
}

TEST(JobCorpus, CodeAndSchemaKnowTheSameKeys) {
  const auto schema = nlohmann::json::parse(read(kRoot / "docs/job.schema.json"));
  const auto& parts = schema.at("$defs");
  EXPECT_EQ(keys_of(schema), words(kJobKeys));
  EXPECT_EQ(keys_of(parts.at("role")), words(kRoleKeys));
  EXPECT_EQ(keys_of(parts.at("count").at("oneOf").at(1)), words(kCountKeys));
  EXPECT_EQ(keys_of(parts.at("each")), words(kEachKeys));
  EXPECT_EQ(keys_of(parts.at("device")), words(kDeviceKeys));
  EXPECT_EQ(keys_of(parts.at("file")), words(kFileKeys));
  EXPECT_EQ(keys_of(parts.at("retry")), words(kRetryKeys));
  EXPECT_EQ(keys_of(parts.at("dependency")), words(kDependencyKeys));
  EXPECT_EQ(keys_of(parts.at("array")), words(kArrayKeys));
  EXPECT_EQ(keys_of(parts.at("stop")), words(kStopKeys));
  EXPECT_EQ(keys_of(parts.at("checkpoint")), words(kCheckpointKeys));
  EXPECT_EQ(keys_of(parts.at("topology")), words(kTopologyKeys));
  EXPECT_EQ(keys_of(parts.at("segments")), words(kSegmentKeys));
  EXPECT_EQ(keys_of(parts.at("communication")), words(kCommunicationKeys));
  EXPECT_EQ(keys_of(parts.at("exchange")), words(kExchangeKeys));

  std::set<std::string> classes = {"cpu", "memory", "devices"};
  for (const auto name : kDeviceClasses)
    for (const auto* suffix : {"", "_model", "_memory", "_place", "_partition"}) classes.insert(std::string(name) + suffix);
  EXPECT_EQ(words(kEachKeys), classes);
}

bool knows_collective(const std::string& word) {
  for (int i = 0; i < 6; ++i)
    if (to_string(static_cast<Collective>(i)) == word) return true;
  return false;
}
bool knows_axis(const std::string& word) {
  for (std::size_t i = 0; i < kAxes; ++i)
    if (to_string(static_cast<RankAxis>(i)) == word) return true;
  return false;
}

TEST(JobCorpus, CodeAndSchemaKnowTheSameWords) {
  const auto schema = nlohmann::json::parse(read(kRoot / "docs/job.schema.json"));
  const auto& parts = schema.at("$defs");
  const auto listed = [](const nlohmann::json& part) {
    return part.at("enum").get<std::set<std::string>>();
  };
  EXPECT_EQ(listed(parts.at("signal")), words(kSignals));
  for (const auto& word : listed(schema.at("properties").at("class")))
    EXPECT_TRUE(parse_workload_class(word)) << word;
  for (const auto& word : listed(parts.at("retry_cause"))) EXPECT_TRUE(parse_retry_cause(word));
  for (const auto& word : listed(parts.at("condition")))
    EXPECT_TRUE(parse_dependency_condition(word));
  for (const auto& word : listed(parts.at("collective"))) EXPECT_TRUE(knows_collective(word));
  for (const auto& word : listed(parts.at("among"))) EXPECT_TRUE(knows_axis(word));
  EXPECT_EQ(listed(parts.at("collective")).size(), 6u);
  EXPECT_EQ(listed(parts.at("among")).size(), kAxes);
  for (const auto& word : listed(parts.at("place"))) EXPECT_TRUE(parse_device_place(word)) << word;
  EXPECT_EQ(parts.at("each").at("properties").at("cpu").at("default").get<int>() * 1000,
            kDefaultCpu.value);
  EXPECT_EQ(parts.at("each").at("properties").at("memory").at("default").get<std::string>(),
            to_text(kDefaultMemory));
}

}  // namespace
}  // namespace gridfold
