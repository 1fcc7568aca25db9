#include "wire/training_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/quote.h"
#include "wire/job_file.h"
#include "wire/job_keys.h"

namespace gridfold {
namespace {

constexpr std::int64_t kMostExamples = 1'000'000'000'000;
constexpr std::int64_t kMostEpochs = 1'000'000'000;
constexpr std::int64_t kMostSteps = 1'000'000'000'000'000;
constexpr std::int64_t kMostTasks = 1'000'000;
constexpr std::size_t kMostRates = 4096;
constexpr double kFastest = 1e12;  // steps a second
constexpr std::size_t kLongestProgram = 256;

// Each is at least the one before it, where both are given.
void check_order(const Field& field, std::string_view lower, std::int64_t low,
                 std::string_view upper, std::int64_t high) {
  if (low == 0 || high == 0 || low <= high) return;
  const std::string name(upper);
  field.fail(name + " " + std::to_string(high) + " is less than " + std::string(lower) + " " +
                 std::to_string(low),
             "give at least " + std::to_string(low));
}

double read_rate(const Field& field) {
  if (field.node().kind != DocumentNode::Kind::kNumber) {
    field.fail_kind("a number", "such as 3.2");
    return 0;
  }
  const std::string& text = field.node().text;
  double rate = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (code != std::errc() || end != text.data() + text.size() || !(rate >= 0 && rate <= kFastest))
    field.fail(quote(text) + " is out of range", "give a number from 0 to 1e12");
  return rate;
}

DeclaredRate read_row(const Field& field) {
  DeclaredRate row;
  if (!check_map(field, kRateKeys)) return row;
  for (const std::string_view key : {"model", "tasks", "steps_per_second"}) {
    if (!field.find(key))
      field.fail("the row has no " + std::string(key), "give model, tasks and steps_per_second");
  }
  if (const auto model = field.find("model")) {
    row.device_model = read_text(*model);
    if (row.device_model.empty()) model->fail("the name is empty", "give a device model");
  }
  if (const auto nodes = field.find("nodes"))
    row.nodes = static_cast<std::int32_t>(read_integer(*nodes, 1, 2));
  if (const auto tasks = field.find("tasks"))
    row.tasks = static_cast<std::int32_t>(read_integer(*tasks, 1, kMostTasks));
  if (const auto rate = field.find("steps_per_second")) row.steps_per_second = read_rate(*rate);
  return row;
}

std::vector<DeclaredRate> read_rates(const Field& field) {
  std::vector<DeclaredRate> rates;
  if (!field.is_list()) {
    field.fail_kind("a list", "write a row for each size that was measured");
    return rates;
  }
  if (field.size() == 0 || field.size() > kMostRates)
    field.fail("the table has " + std::to_string(field.size()) + " rows",
               "give 1 to " + std::to_string(kMostRates) + ", or remove the key");
  for (std::size_t i = 0; i < std::min(field.size(), kMostRates); ++i)
    rates.push_back(read_row(field.item(i)));
  return rates;
}

}  // namespace

TrainingDeclaration read_training(const Field& field, const JobSpec& spec) {
  TrainingDeclaration training;
  if (!check_map(field, kTrainingKeys)) return training;
  if (spec.workload_class != WorkloadClass::kTrain)
    field.fail("only a job of class train declares its training",
               "remove the key, or write class: train");
  if (spec.roles.size() != 1)
    field.fail("a job that declares its training has one role", "write the job with one role");
  if (const auto program = field.find("program")) {
    training.program = read_text(*program);
    if (training.program.empty() || training.program.size() > kLongestProgram)
      program->fail("the name has " + std::to_string(training.program.size()) + " bytes",
                    "give 1 to " + std::to_string(kLongestProgram));
  }
  const auto examples = [&](std::string_view key, std::int64_t& place) {
    if (const auto value = field.find(key)) place = read_integer(*value, 1, kMostExamples);
  };
  examples("initial_batch", training.initial_batch);
  examples("batch", training.batch);
  examples("max_batch", training.max_batch);
  examples("min_local_batch", training.min_local_batch);
  examples("max_local_batch", training.max_local_batch);
  check_order(field, "initial_batch", training.initial_batch, "max_batch", training.max_batch);
  check_order(field, "batch", training.batch, "max_batch", training.max_batch);
  check_order(field, "min_local_batch", training.min_local_batch, "max_local_batch",
              training.max_local_batch);
  if (const auto epochs = field.find("epochs"))
    training.epochs = read_integer(*epochs, 1, kMostEpochs);
  if (const auto steps = field.find("steps")) training.steps = read_integer(*steps, 1, kMostSteps);
  if (const auto rates = field.find("rates")) training.rates = read_rates(*rates);
  if (const auto deadline = field.find("deadline"))
    training.deadline = read_duration(*deadline, Duration::nanoseconds(1), kLongest);
  return training;
}

}  // namespace gridfold
