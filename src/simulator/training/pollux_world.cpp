#include "simulator/training/pollux_world.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "base/quote.h"
#include "simulator/csv_table.h"
#include "simulator/nearest_hint.h"
#include "simulator/training/pollux_truth.h"

namespace gridfold {
namespace {

constexpr std::int32_t kNodes = 16;
constexpr std::int32_t kDevicesEach = 4;
constexpr const char* kDeviceModel = "T4";

ClusterSpec pollux_cluster() {
  ClusterSpec cluster;
  cluster.name = "pollux";
  DeviceSpec device;
  device.device_class = "gpu";
  device.model = kDeviceModel;
  device.origin = DeviceOrigin::kEmulated;
  for (std::int32_t i = 0; i < kNodes; ++i) {
    NodeSpec node;
    node.name = (i < 10 ? "node-0" : "node-") + std::to_string(i);
    node.devices.assign(kDevicesEach, device);
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

std::shared_ptr<const JobSpec> job_spec(std::string name, const PolluxProgram& program,
                                        std::int64_t tasks, std::int64_t batch) {
  JobSpec job;
  job.name = std::move(name);
  DeviceRequest device;
  device.device_class = "gpu";
  device.count = 1;
  Role role;
  role.count = program.most_tasks();
  role.preferred = static_cast<std::int32_t>(tasks);
  role.each.devices.push_back(std::move(device));
  job.roles.push_back(std::move(role));
  job.training = program.declaration(batch);
  return std::make_shared<const JobSpec>(std::move(job));
}

std::unique_ptr<TrainingProcess> make_process(const std::shared_ptr<const PolluxProgram>& program,
                                              const TrainingDeclaration& said,
                                              const PolluxWorldOptions& options) {
  const bool fixed = options.batch == BatchChoice::kFixed || program->pinned_batch > 0;
  return std::make_unique<TableProcess>(
      program, fixed ? make_fixed_agent(said) : make_adaptive_agent(said), options.process);
}

struct Columns {
  std::size_t name, time, application, replicas, batch;
};
Result<Columns> columns_of(const CsvTable& table) {
  Columns columns{};
  const std::pair<const char*, std::size_t*> wanted[] = {{"name", &columns.name},
                                                         {"time", &columns.time},
                                                         {"application", &columns.application},
                                                         {"num_replicas", &columns.replicas},
                                                         {"batch_size", &columns.batch}};
  for (const auto& [name, place] : wanted) {
    const auto found = table.column(name);
    if (!found) return found.error();
    *place = *found;
  }
  return columns;
}

// Seconds alone on whole numbers of devices, each worked out once. Any thread.
class AloneTable {
 public:
  explicit AloneTable(std::shared_ptr<const PolluxProgram> program)
      : program_(std::move(program)) {}

  Known<double> seconds_on(std::int32_t devices) {
    const std::scoped_lock lock(mutex_);
    const auto [entry, added] = seconds_.try_emplace(devices);
    if (added) entry->second = pollux_seconds_alone(*program_, devices);
    return entry->second;
  }

  // Between whole numbers the rate is linear.
  Known<double> seconds_on_share(double devices, Duration restart) {
    const auto low = static_cast<std::int32_t>(devices);
    const double share = devices - low;
    const auto high = seconds_on(low + 1);
    if (!high.is_known()) return Unknown{};
    if (low == 0) return restart.in_seconds() + high.value() / share;
    const auto least = seconds_on(low);
    if (!least.is_known()) return Unknown{};
    return restart.in_seconds() + 1 / ((1 - share) / least.value() + share / high.value());
  }

 private:
  std::shared_ptr<const PolluxProgram> program_;
  std::mutex mutex_;
  std::map<std::int32_t, Known<double>> seconds_;  // guarded by mutex_
};
using AloneTables = std::map<std::string, std::shared_ptr<AloneTable>, std::less<>>;

Result<TrainingArrival> read_job(const CsvTable& table, const Columns& columns,
                                 const PolluxPrograms& programs, const AloneTables& alone,
                                 const PolluxWorldOptions& options) {
  const auto found = programs.find(table.field(columns.application));
  if (found == programs.end()) {
    std::vector<std::string_view> names;
    for (const auto& [name, program] : programs) names.push_back(name);
    return table.error(
        columns.application,
        quote(table.field(columns.application)) + " is no program of this world",
        "name one of data/pollux/traces" + nearest_hint(table.field(columns.application), names));
  }
  const std::shared_ptr<const PolluxProgram> program = found->second;
  const auto at = table.count_within(columns.time, 0, 1'000'000'000);
  if (!at) return at.error();
  const auto replicas = table.count_within(columns.replicas, 1, program->most_tasks());
  if (!replicas) return replicas.error();
  const auto batch = table.count_within(columns.batch, program->curve.initial_batch(),
                                        program->curve.largest_batch());
  if (!batch) return batch.error();
  const std::int64_t used = program->pinned_batch > 0 ? program->pinned_batch : *batch;
  TrainingArrival arrival;
  arrival.at = Instant{} + Duration::seconds(*at);
  arrival.spec = job_spec(std::string(table.field(columns.name)), *program, *replicas, used);
  arrival.make_process = [program, spec = arrival.spec, options] {
    return make_process(program, *spec->training, options);
  };
  arrival.seconds_on_share = [table = alone.at(found->first),
                              restart = options.process.restart](double devices) {
    return table->seconds_on_share(devices, restart);
  };
  return arrival;
}

// Whole nodes first.
TasksByNode packed(std::int32_t tasks) {
  TasksByNode placement;
  for (; tasks > 0; tasks -= kDevicesEach) placement.push_back(std::min(tasks, kDevicesEach));
  return placement;
}

// Initial-batch steps a second at this batch; 0 where it was not measured.
double rate_at(const PolluxProgram& program, const TasksByNode& placement, std::int32_t tasks,
               std::int64_t batch, std::int32_t epoch) {
  const BatchSplit split = split_batch(program.declaration(batch), tasks, batch);
  const Known<StepTimes> times = program.steps.at(placement, split.local);
  const Known<double> gain =
      program.curve.gain(std::int64_t{tasks} * split.local * (split.accumulation + 1), epoch);
  if (!times.is_known() || !gain.is_known()) return 0;
  const auto [step, sync] = times.value();
  return gain.value() / (step + (step - sync) * split.accumulation);
}

double best_rate(const PolluxProgram& program, const TasksByNode& placement, std::int32_t tasks,
                 std::int32_t epoch) {
  if (program.pinned_batch > 0) {
    return rate_at(program, placement, tasks, program.pinned_batch, epoch);
  }
  const std::int64_t least =
      std::max(program.curve.initial_batch(), tasks * program.steps.least_local_batch());
  const std::int64_t most = program.curve.largest_batch();
  constexpr int kBatches = 24;
  double best = 0;
  for (int i = 0; i <= kBatches; ++i) {
    const double batch = static_cast<double>(least) *
                         std::pow(static_cast<double>(most) / static_cast<double>(least),
                                  static_cast<double>(i) / kBatches);
    best = std::max(best, rate_at(program, placement, tasks,
                                  std::min(most, static_cast<std::int64_t>(batch)), epoch));
  }
  return best;
}

}  // namespace

Known<double> pollux_seconds_alone(const PolluxProgram& program, std::int32_t devices) {
  const std::int32_t most = std::min(devices, program.most_tasks());
  double seconds = 0;
  std::vector<std::int32_t> sizes;
  for (std::int32_t n = 1; n <= most; n = n < 4 ? n + 1 : n + 4) sizes.push_back(n);
  if (sizes.back() != most) sizes.push_back(most);
  for (std::int32_t epoch = 0; epoch < program.curve.epochs(); ++epoch) {
    double best = 0;
    for (const std::int32_t n : sizes) {
      best = std::max(best, best_rate(program, packed(n), n, epoch));
    }
    if (best <= 0) return Unknown{};
    seconds +=
        (program.curve.progress_after(epoch + 1) - program.curve.progress_after(epoch)) / best;
  }
  return seconds;
}

Result<PolluxPrograms> read_pollux_programs(const std::string& traces) {
  PolluxPrograms programs;
  for (const std::string_view name : pollux_program_names()) {
    auto program = read_pollux_program(traces, name);
    if (!program) return program.error();
    programs.emplace(std::string(name), std::move(*program));
  }
  return programs;
}

Result<TrainingWorkload> read_pollux_workload(std::string_view text, const std::string& file,
                                              const PolluxPrograms& programs,
                                              const PolluxWorldOptions& options) {
  CsvTable table(text, file);
  const auto columns = columns_of(table);
  if (!columns) return columns.error();
  TrainingWorkload workload;
  workload.name = file;
  workload.cluster = pollux_cluster();
  workload.truth = std::make_shared<PolluxTruth>(programs);
  AloneTables alone;
  for (const auto& [name, program] : programs) {
    alone.emplace(name, std::make_shared<AloneTable>(program));
  }
  while (table.next()) {
    auto arrival = read_job(table, *columns, programs, alone, options);
    if (!arrival) return arrival.error();
    if (!workload.arrivals.empty() && arrival->at < workload.arrivals.back().at) {
      return table.error(columns->time, "lies before that of the job above",
                         "list the jobs in the order of their times");
    }
    workload.arrivals.push_back(std::move(*arrival));
  }
  if (table.failure()) return *table.failure();
  return workload;
}

}  // namespace gridfold
