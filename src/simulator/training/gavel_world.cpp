#include "simulator/training/gavel_world.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/quote.h"
#include "planner/gang_bounds.h"
#include "policies/declared_rates.h"
#include "simulator/csv_table.h"
#include "simulator/training/rate_process.h"
#include "simulator/training/real_field.h"

namespace gridfold {
namespace {

constexpr std::string_view kSpread = "_unconsolidated";
constexpr std::int64_t kMostScale = 10'000;
constexpr std::int64_t kMostSteps = 1'000'000'000'000;
constexpr double kLatestSecond = 1e9;

ClusterSpec gavel_cluster(const GavelWorldOptions& options) {
  ClusterSpec cluster;
  cluster.name = "gavel";
  for (const auto& [model, count] : options.devices) {
    DeviceSpec device;
    device.device_class = "gpu";
    device.model = model;
    device.origin = DeviceOrigin::kEmulated;
    for (std::int32_t first = 0; first < count; first += options.node_devices) {
      NodeSpec node;
      node.name = model + "-" + std::to_string(first / options.node_devices);
      node.devices.assign(static_cast<std::size_t>(std::min(options.node_devices, count - first)),
                          device);
      cluster.nodes.push_back(std::move(node));
    }
  }
  return cluster;
}

struct RateColumns {
  std::size_t model, type, scale, other, rate;
};
struct JobColumns {
  std::size_t type, steps, scale, arrival;
};

std::shared_ptr<const JobSpec> job_spec(std::string name, std::string program, std::int32_t scale,
                                        std::int64_t steps,
                                        const std::vector<DeclaredRate>& rates) {
  JobSpec job;
  job.name = std::move(name);
  DeviceRequest device;
  device.device_class = "gpu";
  device.count = 1;
  Role role;
  role.count = scale;
  role.min = scale;
  role.preferred = scale;
  role.each.devices.push_back(std::move(device));
  job.roles.push_back(std::move(role));
  TrainingDeclaration& said = job.training.emplace();
  said.program = std::move(program);
  said.steps = steps;
  said.rates = rates;
  return std::make_shared<const JobSpec>(std::move(job));
}

// Rows of devices that are there, and enough of them.
std::vector<DeclaredRate> usable(const std::vector<DeclaredRate>& rates,
                                 const GavelWorldOptions& options) {
  std::vector<DeclaredRate> rows;
  for (const DeclaredRate& rate : rates) {
    const bool is_there =
        std::any_of(options.devices.begin(), options.devices.end(), [&](const GavelDevices& d) {
          return d.model == rate.device_model && d.count >= rate.tasks;
        });
    const bool fits = rate.nodes > 1 || rate.tasks <= options.node_devices;
    if (is_there && fits && rate.steps_per_second > 0) rows.push_back(rate);
  }
  return rows;
}

// Seconds on an equal share of the devices of each model, so many in all.
Known<double> seconds_on_share(const JobSpec& job, const GavelWorldOptions& options,
                               double devices) {
  const std::int32_t tasks = job.roles.front().count;
  double all = 0;
  double rate = 0;
  for (const auto& [model, count] : options.devices) {
    all += count;
    rate +=
        count * declared_rate(*job.training, model, tasks > options.node_devices ? 2 : 1, tasks);
  }
  if (rate <= 0) return Unknown{};
  const double part = std::min(1.0, devices / tasks);
  return static_cast<double>(job.training->steps.value()) / (rate / all * part);
}

Result<JobColumns> job_columns(const CsvTable& table) {
  JobColumns columns{};
  if (auto found = table.columns({{"job_type", &columns.type},
                                  {"total_steps", &columns.steps},
                                  {"scale_factor", &columns.scale},
                                  {"arrival_time_s", &columns.arrival}});
      !found)
    return found.error();
  return columns;
}

}  // namespace

Result<GavelRates> read_gavel_rates(std::string_view text, const std::string& file) {
  CsvTable table(text, file);
  RateColumns columns{};
  if (auto found = table.columns({{"gpu_type", &columns.model},
                                  {"job_type", &columns.type},
                                  {"scale_factor", &columns.scale},
                                  {"other_job_type", &columns.other},
                                  {"steps_per_s", &columns.rate}});
      !found)
    return found.error();
  GavelRates rates;
  while (table.next()) {
    if (!table.field(columns.other).empty()) continue;
    const auto scale = table.count_within(columns.scale, 1, kMostScale);
    if (!scale) return scale.error();
    const auto rate = real_field(table, columns.rate);
    if (!rate) return rate.error();
    std::string_view model = table.field(columns.model);
    const bool is_spread = model.ends_with(kSpread);
    if (is_spread) model.remove_suffix(kSpread.size());
    const auto tasks = static_cast<std::int32_t>(*scale);
    rates[{std::string(table.field(columns.type)), tasks}].push_back(
        {std::string(model), is_spread ? 2 : 1, tasks, *rate});
  }
  if (table.failure()) return *table.failure();
  return rates;
}

Result<TrainingWorkload> read_gavel_workload(std::string_view text, const std::string& file,
                                             const GavelRates& rates,
                                             const GavelWorldOptions& options) {
  CsvTable table(text, file);
  const auto columns = job_columns(table);
  if (!columns) return columns.error();
  TrainingWorkload workload;
  workload.name = file;
  workload.cluster = gavel_cluster(options);
  workload.round = Duration::seconds(360);
  std::int64_t lines = 0;
  while (table.next()) {
    const auto steps = table.count_within(columns->steps, 1, kMostSteps);
    if (!steps) return steps.error();
    const auto scale = table.count_within(columns->scale, 1, kMostScale);
    if (!scale) return scale.error();
    const auto seconds = real_field(table, columns->arrival);
    if (!seconds) return seconds.error();
    if (*seconds > kLatestSecond)
      return table.error(columns->arrival, "is too late", "give at most 1e9 seconds");
    const std::string type(table.field(columns->type));
    const std::string name = "gavel-" + std::to_string(lines++);
    const auto known = rates.find({type, static_cast<std::int32_t>(*scale)});
    const auto rows =
        known == rates.end() ? std::vector<DeclaredRate>{} : usable(known->second, options);
    if (rows.empty()) {
      ++workload.dropped;
      continue;
    }
    TrainingArrival arrival;
    arrival.at = Instant{} + Duration{std::llround(*seconds * 1e9)};
    if (!workload.arrivals.empty() && arrival.at < workload.arrivals.back().at) {
      return table.error(columns->arrival, "lies before that of the job above",
                         "list the jobs in the order of their times");
    }
    arrival.spec = job_spec(name, type, static_cast<std::int32_t>(*scale), *steps, rows);
    arrival.make_process = [spec = arrival.spec, restart = options.restart] {
      return make_rate_process(spec, restart);
    };
    arrival.seconds_on_share = [spec = arrival.spec, options](double devices) {
      return seconds_on_share(*spec, options, devices);
    };
    workload.arrivals.push_back(std::move(arrival));
  }
  if (table.failure()) return *table.failure();
  return workload;
}

Result<TrainingBounds> gavel_bounds(const TrainingWorkload& workload,
                                    const GavelWorldOptions& options, Duration interval) {
  std::vector<std::int32_t> devices;
  for (const GavelDevices& type : options.devices) devices.push_back(type.count);
  std::vector<BoundGang> gangs;
  for (const TrainingArrival& arrival : workload.arrivals) {
    const TrainingDeclaration& said = *arrival.spec->training;
    BoundGang& gang = gangs.emplace_back();
    gang.arrival = (arrival.at - Instant{}).in_seconds();
    gang.devices = arrival.spec->roles.front().count;
    gang.steps = static_cast<double>(said.steps.value());
    for (const GavelDevices& type : options.devices) {
      double best = 0;
      for (const DeclaredRate& rate : said.rates) {
        if (rate.device_model == type.model) best = std::max(best, rate.steps_per_second);
      }
      gang.rates.push_back(best);
    }
  }
  TrainingBounds bounds;
  const auto makespan = makespan_bound(gangs, devices);
  if (!makespan) return makespan.error();
  bounds.makespan_seconds = *makespan;
  CompletionBoundOptions own;
  own.round = workload.round.in_seconds();
  own.interval = interval.in_seconds();
  own.intervals = static_cast<std::int32_t>(Duration::hours(24).ns / interval.ns);
  const auto mean = mean_completion_bound(gangs, devices, own);
  if (!mean) return mean.error();
  bounds.completion_mean_seconds = *mean;
  return bounds;
}

}  // namespace gridfold
