#include "wire/training_reader.h"

#include <limits>

#include "base/quote.h"
#include "wire/job_file.h"
#include "wire/job_keys.h"

namespace gridfold {
namespace {

constexpr std::int64_t kMostExamples = 1'000'000'000'000;
constexpr std::int64_t kMostEpochs = 1'000'000'000;
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
  if (const auto deadline = field.find("deadline"))
    training.deadline = read_duration(*deadline, Duration::nanoseconds(1), kLongest);
  return training;
}

}  // namespace gridfold
