#include "simulator/training/pollux_program.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/quote.h"
#include "simulator/csv_table.h"
#include "simulator/nearest_hint.h"
#include "simulator/text_file.h"
#include "simulator/training/real_field.h"

namespace gridfold {
namespace {

// What the artefact's program says of each, beside the tables.
struct ProgramFacts {
  std::string_view name;
  std::int32_t epochs;
  std::int64_t max_local_batch;  // 0: the largest that was measured
  std::int64_t pinned_batch;     // 0: free
};
constexpr std::array<ProgramFacts, 6> kPrograms = {{{"bert", 2, 0, 0},
                                                    {"cifar10", 100, 0, 0},
                                                    {"deepspeech2", 80, 0, 0},
                                                    {"imagenet", 90, 0, 0},
                                                    {"ncf", 10, 0, 32768},
                                                    {"yolov3", 50, 8, 0}}};
constexpr std::int32_t kMostTasks = 64;

template <std::size_t N>
Result<std::array<std::size_t, N>> columns(const CsvTable& table,
                                           const std::array<std::string_view, N>& names) {
  std::array<std::size_t, N> found{};
  for (std::size_t i = 0; i < N; ++i) {
    const auto column = table.column(names[i]);
    if (!column) return column.error();
    found[i] = *column;
  }
  return found;
}

Result<std::int64_t> from_one(const CsvTable& table, std::size_t column) {
  const auto value = table.count(column);
  if (value && (*value < 1 || *value > 1'000'000)) {
    return table.error(column, quote(table.field(column)) + " is out of range",
                       "give a number from 1 to 1000000");
  }
  return value;
}

Result<StepTimes> times(const CsvTable& table, std::size_t step, std::size_t sync) {
  const auto step_time = positive_field(table, step);
  if (!step_time) return step_time.error();
  const auto sync_time = positive_field(table, sync);
  if (!sync_time) return sync_time.error();
  if (*sync_time >= *step_time) {
    return table.error(sync, "is not below the step's time", "a step contains its synchronisation");
  }
  return StepTimes{*step_time, *sync_time};
}

// "211": two tasks on one node and one on each of two others.
Result<TasksByNode> placement_of(const CsvTable& table, std::size_t column) {
  const std::string_view text = table.field(column);
  TasksByNode tasks;
  for (const char c : text) {
    if (c < '1' || c > '9') {
      return table.error(column, quote(text) + " is not a placement",
                         "give the tasks of each node as digits from 1 to 9, such as 211");
    }
    tasks.push_back(c - '0');
  }
  if (tasks.empty()) return table.error(column, "is empty", "give the tasks of each node");
  return tasks;
}

Result<std::string> read_table(const std::string& path) {
  std::error_code ignored;
  return read_text_file(std::filesystem::exists(path, ignored) ? path : path + ".gz");
}

// The batch in "validation-128.csv" or "validation-128.csv.gz".
std::optional<std::int64_t> batch_of(std::string_view file) {
  constexpr std::string_view kStart = "validation-";
  if (!file.starts_with(kStart)) return std::nullopt;
  file.remove_prefix(kStart.size());
  if (file.ends_with(".gz")) file.remove_suffix(3);
  if (!file.ends_with(".csv")) return std::nullopt;
  file.remove_suffix(4);
  std::int64_t batch = 0;
  const auto [end, code] = std::from_chars(file.data(), file.data() + file.size(), batch);
  if (code != std::errc() || end != file.data() + file.size() || batch < 1) return std::nullopt;
  return batch;
}

Result<LearningCurve> read_curve(const std::string& folder, std::int32_t epochs) {
  std::map<std::int64_t, std::vector<MeasuredEpoch>> by_batch;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const auto batch = batch_of(entry.path().filename().string());
    if (!batch) continue;
    const auto text = read_text_file(entry.path().string());
    if (!text) return text.error();
    auto curve = read_pollux_validation(*text, entry.path().string());
    if (!curve) return curve.error();
    if (curve->size() < static_cast<std::size_t>(epochs)) {
      return invalid(entry.path().string() + ": has " + std::to_string(curve->size()) +
                     " epochs where the program trains " + std::to_string(epochs));
    }
    by_batch.emplace(*batch, std::move(*curve));
  }
  if (failed) return from_errno(failed.value(), folder);
  if (by_batch.empty()) {
    Error error = not_found(folder + ": there is no validation-BATCH.csv");
    error.hint = "name the folder of one program of data/pollux/traces";
    return error;
  }
  return LearningCurve(std::move(by_batch), epochs);
}

Result<std::vector<MeasuredStep>> read_steps(const std::string& folder) {
  const std::string placements = folder + "/placements.csv";
  const auto text = read_table(placements);
  if (!text) return text.error();
  auto steps = read_pollux_placements(*text, placements);
  if (!steps) return steps.error();
  const std::string scalability = folder + "/scalability.csv";
  const auto more_text = read_table(scalability);
  if (!more_text) return more_text.error();
  const auto more = read_pollux_scalability(*more_text, scalability);
  if (!more) return more.error();
  steps->insert(steps->end(), more->begin(), more->end());
  return steps;
}

}  // namespace

TrainingDeclaration PolluxProgram::declaration(std::int64_t batch) const {
  TrainingDeclaration said;
  said.program = name;
  said.initial_batch = curve.initial_batch();
  said.batch = batch;
  said.max_batch = curve.largest_batch();
  said.min_local_batch = steps.least_local_batch();
  said.max_local_batch = max_local_batch;
  said.epochs = static_cast<std::int64_t>(curve.epochs());
  return said;
}

std::int32_t PolluxProgram::most_tasks() const {
  if (pinned_batch > 0) return 1;
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(kMostTasks, curve.largest_batch() / steps.least_local_batch()));
}

std::vector<std::string_view> pollux_program_names() {
  std::vector<std::string_view> names;
  for (const auto& program : kPrograms) names.push_back(program.name);
  return names;
}

Result<std::vector<MeasuredStep>> read_pollux_placements(std::string_view text,
                                                         const std::string& file) {
  CsvTable table(text, file);
  const auto column = columns<4>(table, {"placement", "local_bsz", "step_time", "sync_time"});
  if (!column) return column.error();
  std::vector<MeasuredStep> steps;
  while (table.next()) {
    auto placement = placement_of(table, (*column)[0]);
    if (!placement) return placement.error();
    const auto local = from_one(table, (*column)[1]);
    if (!local) return local.error();
    const auto time = times(table, (*column)[2], (*column)[3]);
    if (!time) return time.error();
    MeasuredStep step{std::move(*placement), 0, 0, *local, *time};
    step.nodes = static_cast<std::int32_t>(step.placement.size());
    for (const std::int32_t n : step.placement) step.tasks += n;
    steps.push_back(std::move(step));
  }
  if (table.failure()) return *table.failure();
  return steps;
}

Result<std::vector<MeasuredStep>> read_pollux_scalability(std::string_view text,
                                                          const std::string& file) {
  CsvTable table(text, file);
  const auto column =
      columns<5>(table, {"num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time"});
  if (!column) return column.error();
  std::vector<MeasuredStep> steps;
  while (table.next()) {
    const auto nodes = from_one(table, (*column)[0]);
    if (!nodes) return nodes.error();
    const auto tasks = from_one(table, (*column)[1]);
    if (!tasks) return tasks.error();
    const auto local = from_one(table, (*column)[2]);
    if (!local) return local.error();
    const auto time = times(table, (*column)[3], (*column)[4]);
    if (!time) return time.error();
    steps.push_back(
        {{}, static_cast<std::int32_t>(*nodes), static_cast<std::int32_t>(*tasks), *local, *time});
  }
  if (table.failure()) return *table.failure();
  return steps;
}

Result<std::vector<MeasuredEpoch>> read_pollux_validation(std::string_view text,
                                                          const std::string& file) {
  CsvTable table(text, file);
  const auto column = columns<4>(table, {"progress", "iteration", "grad_sqr", "grad_var"});
  if (!column) return column.error();
  std::vector<MeasuredEpoch> epochs;
  while (table.next()) {
    std::array<double, 4> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value =
          i < 2 ? positive_field(table, (*column)[i]) : real_field(table, (*column)[i]);
      if (!value) return value.error();
      values[i] = *value;
    }
    if (values[2] == 0 && values[3] == 0) {
      return table.error((*column)[3], "is zero, and so is grad_sqr",
                         "a batch is worth something only where a gradient was measured");
    }
    if (!epochs.empty() && values[0] <= epochs.back().progress) {
      return table.error((*column)[0], "is not above that of the epoch before",
                         "list the epochs in their order");
    }
    epochs.push_back({values[0], values[1], values[2], values[3]});
  }
  if (table.failure()) return *table.failure();
  return epochs;
}

Result<std::shared_ptr<const PolluxProgram>> read_pollux_program(const std::string& traces,
                                                                 std::string_view name) {
  const auto facts = std::find_if(kPrograms.begin(), kPrograms.end(),
                                  [&](const ProgramFacts& p) { return p.name == name; });
  if (facts == kPrograms.end()) {
    Error error = not_found("there is no program " + quote(name) + " in the Pollux world");
    error.hint = "its programs are bert, cifar10, deepspeech2, imagenet, ncf and yolov3";
    return error;
  }
  const std::string folder = traces + "/" + std::string(name);
  const auto steps = read_steps(folder);
  if (!steps) return steps.error();
  auto curve = read_curve(folder, facts->epochs);
  if (!curve) return curve.error();
  auto program = std::shared_ptr<PolluxProgram>(
      new PolluxProgram{std::string(name), StepTable(*steps), std::move(*curve),
                        facts->max_local_batch, facts->pinned_batch});
  if (program->max_local_batch == 0) {
    program->max_local_batch = program->steps.largest_local_batch();
  }
  return std::shared_ptr<const PolluxProgram>(std::move(program));
}

}  // namespace gridfold
