#include "simulator/training/elasticflow_world.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/quote.h"
#include "simulator/csv_table.h"
#include "simulator/nearest_hint.h"
#include "simulator/text_file.h"

namespace gridfold {
namespace {

struct Hardware {
  const char* model;
  const char* folder;
  std::int32_t nodes;
  std::int32_t devices_each;
};
constexpr Hardware kHardware[] = {{"T4", "throughputs_T4", 16, 4},
                                  {"A100", "throughputs_A100", 32, 8}};
const Hardware& hardware_of(ElasticFlowCluster cluster) {
  return kHardware[static_cast<std::size_t>(cluster)];
}

ClusterSpec cluster_spec(const Hardware& hardware) {
  ClusterSpec cluster;
  cluster.name = std::string("elasticflow-") + hardware.model;
  DeviceSpec device;
  device.device_class = "gpu";
  device.model = hardware.model;
  device.origin = DeviceOrigin::kEmulated;
  for (std::int32_t i = 0; i < hardware.nodes; ++i) {
    NodeSpec node;
    node.name = (i < 10 ? "node-0" : "node-") + std::to_string(i);
    node.devices.assign(static_cast<std::size_t>(hardware.devices_each), device);
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

class ElasticFlowTruth final : public TrainingTruth {
 public:
  explicit ElasticFlowTruth(RateTables tables) : tables_(std::move(tables)) {}

  Known<double> step_seconds(const JobSpec& job, std::span<const std::int32_t> tasks,
                             const std::string&, std::int64_t batch) const override {
    if (!job.training) return Unknown{};
    const auto program = tables_.find(job.training->program);
    if (program == tables_.end()) return Unknown{};
    const auto rates = program->second.find(batch);
    if (rates == program->second.end()) return Unknown{};
    const double rate = rate_of(*rates->second, std::accumulate(tasks.begin(), tasks.end(), 0));
    if (rate <= 0) return Unknown{};
    return 1 / rate;
  }
  Known<double> remaining_steps(const JobSpec& job, double epochs_done) const override {
    if (!job.training || !job.training->epochs.is_known()) return Unknown{};
    return static_cast<double>(job.training->epochs.value()) - epochs_done;
  }

 private:
  RateTables tables_;
};

constexpr std::int64_t kMost = 1'000'000'000'000;

struct Columns {
  std::size_t name, submitted, steps, model, deadline, batch, tasks;
};
Result<Columns> columns_of(const CsvTable& table) {
  Columns columns{};
  const bool real = table.find_column("real_iteration").has_value();
  const auto found = table.columns({{"job_id", &columns.name},
                                    {"submit_time", &columns.submitted},
                                    {real ? "real_iteration" : "iteration", &columns.steps},
                                    {"model_name", &columns.model},
                                    {"ddl", &columns.deadline},
                                    {"batch_size", &columns.batch},
                                    {"num_gpu", &columns.tasks}});
  if (!found) return found.error();
  return columns;
}

// What the line says in numbers.
struct Line {
  std::int64_t submitted, steps, deadline, batch, tasks;
};
Result<Line> read_line(const CsvTable& table, const Columns& columns) {
  const auto submitted = table.count_within(columns.submitted, 0, 1'000'000'000);
  if (!submitted) return submitted.error();
  const auto deadline = table.count_within(columns.deadline, *submitted + 1, 2'000'000'000);
  if (!deadline) return deadline.error();
  const auto steps = table.count_within(columns.steps, 1, kMost);
  if (!steps) return steps.error();
  const auto batch = table.count_within(columns.batch, 1, kMost);
  if (!batch) return batch.error();
  const auto tasks = table.count_within(columns.tasks, 1, 1'024);
  if (!tasks) return tasks.error();
  return Line{*submitted, *steps, *deadline, *batch, *tasks};
}

std::shared_ptr<const JobSpec> job_spec(const CsvTable& table, const Columns& columns,
                                        const Line& line, const RateTable& rates) {
  JobSpec job;
  job.name = std::string(table.field(columns.model)) + "-" + std::string(table.field(columns.name));
  DeviceRequest device;
  device.device_class = "gpu";
  device.count = 1;
  Role role;
  role.count = rates.rbegin()->first;
  role.preferred = static_cast<std::int32_t>(line.tasks);
  role.each.devices.push_back(std::move(device));
  job.roles.push_back(std::move(role));
  TrainingDeclaration training;
  training.program = std::string(table.field(columns.model));
  training.initial_batch = training.batch = training.max_batch = training.max_local_batch =
      line.batch;
  training.epochs = line.steps;
  training.deadline = Duration::seconds(line.deadline - line.submitted);
  job.training = std::move(training);
  return std::make_shared<const JobSpec>(std::move(job));
}

Result<TrainingArrival> read_job(const CsvTable& table, const Columns& columns,
                                 const RateTables& tables, std::int64_t origin, const Line& line,
                                 Duration restart) {
  const std::string_view model = table.field(columns.model);
  const auto found = tables.find(model);
  if (found == tables.end()) {
    std::vector<std::string_view> names;
    for (const auto& [name, rates] : tables) names.push_back(name);
    return table.error(columns.model, quote(model) + " was not measured on this cluster",
                       "name one of the tables' files" + nearest_hint(model, names));
  }
  const auto rates = found->second.find(line.batch);
  if (rates == found->second.end()) {
    return table.error(columns.batch, quote(table.field(columns.batch)) + " was not measured",
                       "use a batch of the table of " + quote(model));
  }
  if (line.tasks < rates->second->begin()->first || line.tasks > rates->second->rbegin()->first) {
    return table.error(columns.tasks, "so many devices were not measured",
                       "use a number that the table of " + quote(model) + " has");
  }
  TrainingArrival arrival;
  arrival.at = Instant{} + Duration::seconds(line.submitted - origin);
  arrival.spec = job_spec(table, columns, line, *rates->second);
  arrival.make_process = [rates = rates->second, line, restart] {
    return std::make_unique<ScalingProcess>(rates, line.steps, line.batch, restart);
  };
  return arrival;
}

// Empty, or "nan", or 0: this size was not run.
Result<Known<double>> read_rate(const CsvTable& table, std::size_t column) {
  const std::string_view text = table.field(column);
  if (text.empty() || text == "nan") return Known<double>{};
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc{} || end != text.data() + text.size() ||
      !(rate == 0 || (rate > 1e-9 && rate < 1e9))) {
    return table.error(column, quote(text) + " is no number of steps a second",
                       "give a number above 0, or nothing where it was not run");
  }
  if (rate == 0) return Known<double>{};
  return Known<double>(rate);
}

}  // namespace

Result<std::map<std::int64_t, std::shared_ptr<const RateTable>>> read_rate_table(
    std::string_view text, const std::string& file) {
  CsvTable table(text, file);
  const auto batch_column = table.column("global_batch_size");
  if (!batch_column) return batch_column.error();
  std::map<std::int64_t, std::shared_ptr<const RateTable>> by_batch;
  while (table.next()) {
    const auto batch = table.count_within(*batch_column, 1, kMost);
    if (!batch) return batch.error();
    RateTable rates;
    for (std::int32_t tasks = 1; tasks <= 1'024; tasks *= 2) {
      const auto column = table.find_column(std::to_string(tasks));
      if (!column) continue;
      const auto rate = read_rate(table, *column);
      if (!rate) return rate.error();
      if (rate->is_known()) rates.emplace(tasks, rate->value());
    }
    if (rates.empty())
      return table.error(*batch_column, "has no measurement", "give one size at least");
    by_batch[*batch] = std::make_shared<const RateTable>(std::move(rates));
  }
  if (table.failure()) return *table.failure();
  return by_batch;
}

Result<RateTables> read_rate_tables(const std::string& tables, ElasticFlowCluster cluster) {
  const std::filesystem::path folder = std::filesystem::path(tables) / hardware_of(cluster).folder;
  std::error_code failed;
  RateTables read;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() != ".csv") continue;
    const auto text = read_text_file(entry.path().string());
    if (!text) return text.error();
    auto rates = read_rate_table(*text, entry.path().string());
    if (!rates) return rates.error();
    read.emplace(entry.path().stem().string(), std::move(*rates));
  }
  if (failed || read.empty()) {
    Error error = invalid("no measurements (*.csv) in " + quote(folder.string()));
    error.field = "tables";
    error.hint = "give --set tables=FOLDER, the one that has throughputs_T4 and throughputs_A100";
    return error;
  }
  return read;
}

Result<TrainingWorkload> read_elasticflow_workload(std::string_view text, const std::string& file,
                                                   const RateTables& tables,
                                                   ElasticFlowCluster cluster, Duration restart) {
  CsvTable table(text, file);
  const auto columns = columns_of(table);
  if (!columns) return columns.error();
  TrainingWorkload workload;
  workload.name = file;
  workload.cluster = cluster_spec(hardware_of(cluster));
  workload.truth = std::make_shared<ElasticFlowTruth>(tables);
  std::int64_t origin = -1;
  std::int64_t before = 0;
  while (table.next()) {
    const auto line = read_line(table, *columns);
    if (!line) return line.error();
    if (origin < 0) origin = before = line->submitted;
    if (line->submitted < before) {
      return table.error(columns->submitted, "lies before that of the job above",
                         "list the jobs in the order of their times");
    }
    before = line->submitted;
    auto arrival = read_job(table, *columns, tables, origin, *line, restart);
    if (!arrival) return arrival.error();
    workload.arrivals.push_back(std::move(*arrival));
  }
  if (table.failure()) return *table.failure();
  return workload;
}

}  // namespace gridfold
