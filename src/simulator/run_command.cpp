#include "simulator/run_command.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <vector>

#include "base/quote.h"
#include "base/random.h"
#include "base/units.h"
#include "policies/registry.h"
#include "simulator/html_report.h"
#include "simulator/progress_bar.h"
#include "simulator/run_inputs.h"
#include "simulator/run_json.h"
#include "simulator/run_settings.h"
#include "simulator/simulation.h"
#include "simulator/training_json.h"
#include "simulator/training_run.h"
#include "simulator/training_worlds.h"
#include "simulator/user_limits.h"
#include "simulator/workload_variant.h"

namespace gridfold {
namespace {

constexpr std::uint64_t kMaxSeeds = 10'000;

struct Inputs : RunInputs {
  std::optional<Workload> then;
  std::optional<Workload> fillers;
};

// Those of the jobs that the run is about.
Workload selected(Workload workload, const RunSettings& settings) {
  if (settings.rights == RightsFilter::kAll && settings.largest_gpus == 0) return workload;
  return filtered(workload, [&](const TraceJob& job) {
    if (settings.rights == RightsFilter::kWithRights && job.best_effort) return false;
    const auto gpus = device_thousandths(workload.shapes[job.shape], "gpu");
    return settings.largest_gpus == 0 || gpus <= settings.largest_gpus * kWholeDevice.value;
  });
}

// What a seed makes of the inputs.
struct SeedInputs {
  Workload workload;
  std::vector<Arrival> arrivals;
  std::size_t counted_from = 0;
};

Result<std::vector<Arrival>> draw_arrivals(const Workload& workload, const Inputs& inputs,
                                           const RunSettings& settings, RandomStream& random) {
  const ClusterCapacity capacity = capacity_of(inputs.cluster);
  switch (settings.mode) {
    case RunMode::kTimes: return own_times(workload);
    case RunMode::kLoad:
      return draw_load(
          workload, capacity,
          {settings.load, settings.jobs, settings.longest_duration, settings.holding_mean}, random);
    case RunMode::kSaturation:
      if (inputs.then)
        return draw_drift(workload, *inputs.then, capacity, settings.arrived_thousandths, random);
      return draw_saturation(workload, capacity, settings.arrived_thousandths, random);
  }
  return internal("no such mode");
}

std::size_t counted_from(const std::vector<Arrival>& arrivals, const RunSettings& settings) {
  return arrivals.size() * static_cast<std::size_t>(settings.warm_up_thousandths) / 1000;
}

Result<SeedInputs> inputs_of_seed(const Inputs& inputs, const RunSettings& settings,
                                  std::uint64_t seed) {
  SeedInputs own{inputs.workload, {}, 0};
  if (settings.shuffled_mix) {
    RandomStream random(seed, "mix");
    own.workload = shuffled_mix(inputs.workload, random);
  }
  RandomStream random(seed, "arrivals");
  auto arrivals = draw_arrivals(own.workload, inputs, settings, random);
  if (!arrivals) return arrivals.error();
  own.arrivals = std::move(*arrivals);
  if (settings.limits == LimitSource::kRounded) {
    RandomStream limits(seed, "limits");
    give_limits(own.workload, own.arrivals, limits);
  }
  if (inputs.fillers) {
    RandomStream fillers(seed, "fillers");
    const auto come = draw_fillers(*inputs.fillers, capacity_of(inputs.cluster), settings.fillers,
                                   settings.longest_duration, own.arrivals.back().at, fillers);
    if (!come) return come.error();
    own.counted_from = counted_from(own.arrivals, settings);
    const Duration from = own.arrivals[own.counted_from].at;
    own.arrivals = merged(own.arrivals, *come, own.workload.jobs.size());
    own.counted_from = static_cast<std::size_t>(
        std::lower_bound(own.arrivals.begin(), own.arrivals.end(), from,
                         [](const Arrival& a, Duration at) { return a.at < at; }) -
        own.arrivals.begin());
    own.workload = joined(own.workload, *inputs.fillers);
    return own;
  }
  own.counted_from = counted_from(own.arrivals, settings);
  if (inputs.then) own.workload = joined(own.workload, *inputs.then);
  if (settings.consolidation.consolidate == Consolidate::kOn) {
    for (JobSpec& shape : own.workload.shapes) {
      shape.checkpoint = Checkpoint{};
      shape.checkpoint->interval = Duration::minutes(5);
    }
  }
  return own;
}

// Every shape as often as the workload has tasks of it.
std::vector<MixEntry> mix_of(const Workload& workload) {
  std::vector<std::int64_t> counts(workload.shapes.size(), 0);
  for (const auto& job : workload.jobs) ++counts[job.shape];
  std::vector<MixEntry> mix;
  for (std::size_t i = 0; i < workload.shapes.size(); ++i) {
    for (const auto& role : workload.shapes[i].roles) {
      mix.push_back({role.each, counts[i] * role.count});
    }
  }
  return mix;
}

SimulationOptions simulation_options(const SimRunOptions& options, const RunSettings& settings,
                                     const Workload& workload, std::uint64_t seed) {
  SimulationOptions simulation;
  simulation.policy = options.policy;
  simulation.policy_options.settings = settings.policy;
  if (settings.mix == MixSource::kTrace) {
    simulation.policy_options.known_mix = mix_of(workload);
  }
  simulation.engine.seed = seed;
  simulation.engine.tie_break = settings.tie_break;
  simulation.engine.backfill = settings.backfill;
  simulation.engine.fillers = settings.filler_options;
  simulation.engine.eviction.restart_cost = settings.fillers.restart;
  simulation.fillers = settings.fillers;
  simulation.engine.consolidation = settings.consolidation;
  simulation.run_times = settings.run_times;
  simulation.account = settings.account;
  simulation.doctor = settings.doctor;
  simulation.estimates = settings.estimates;
  simulation.latencies = settings.latencies;
  simulation.leave_when_full = settings.when_full == WhenFull::kLeave;
  if (settings.mode == RunMode::kSaturation) {
    // One pod a second: the start of one is told with the arrival of the next.
    simulation.latencies.start_latency = Duration::seconds(1);
    simulation.record_to_per_cent = static_cast<std::size_t>(settings.arrived_thousandths / 10);
  }
  return simulation;
}

Result<SimulationResult> run_seed(const SimRunOptions& options, const RunSettings& settings,
                                  const Inputs& inputs, std::uint64_t seed) {
  auto own = inputs_of_seed(inputs, settings, seed);
  if (!own) return own.error();
  SimulationInput input{inputs.cluster, own->workload, std::move(own->arrivals)};
  input.counted_from = own->counted_from;
  ProgressBar bar("seed " + std::to_string(seed));
  SimulationOptions simulation = simulation_options(options, settings, own->workload, seed);
  simulation.on_progress = [&bar](double share) { bar.show(share); };
  const std::unique_ptr<Store> store = options.make_store();
  return simulate(input, simulation, *store);
}

Error no_world(std::string_view field, std::string hint) {
  Error error = invalid("this run has no training world");
  error.field = std::string(field);
  error.hint = std::move(hint);
  return error;
}

Result<void> write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (file) return {};
  return from_errno(errno, "write " + path);
}

Result<TrainingResult> run_world_seed(const SimRunOptions& options, const RunSettings& settings,
                                      const TrainingWorkload& world, std::uint64_t seed) {
  TrainingRunOptions run;
  run.policy = options.policy;
  run.policy_settings = settings.policy;
  run.engine.seed = seed;
  run.engine.tie_break = settings.tie_break;
  run.latencies = settings.latencies;
  run.thinking = settings.policy_time;
  ProgressBar bar("seed " + std::to_string(seed));
  run.on_progress = [&bar](double share) { bar.show(share); };
  const std::unique_ptr<Store> store = options.make_store();
  return run_training(world, run, *store);
}

Result<std::string> run_world(const SimRunOptions& options, const RunSettings& settings,
                              const SeedRange& seeds) {
  if (!options.html_path.empty()) {
    Error error = invalid("there is no report with plots of a training world");
    error.field = "html";
    error.hint = "leave it out; --jobs FILE writes a line a job";
    return error;
  }
  const auto world = read_training_world(
      settings.world, {options.cluster, options.workload, settings.tables, settings.of_world});
  if (!world) return world.error();
  std::vector<TrainingSeedResult> results;
  std::string lines;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    auto result = run_world_seed(options, settings, *world, seed);
    if (!result) return result.error();
    if (lines.empty()) lines = training_jobs_csv(*result);  // of the first
    results.push_back({seed, std::move(*result)});
  }
  if (!options.jobs_path.empty()) {
    const auto written = write_file(options.jobs_path, lines);
    if (!written) return written.error();
  }
  return training_json({options.policy, settings.world, world->cluster.name, world->name},
                       options.seed, results);
}

}  // namespace

Result<SeedRange> parse_seeds(std::string_view text) {
  const std::size_t dots = text.find("..");
  const auto first = parse_count(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : parse_count(text.substr(dots + 2));
  if (first && last && *first <= *last && static_cast<std::uint64_t>(*last - *first) < kMaxSeeds) {
    return SeedRange{static_cast<std::uint64_t>(*first), static_cast<std::uint64_t>(*last)};
  }
  Error error = invalid(quote(text) + " is not a seed or a range of seeds");
  error.field = "seed";
  error.hint = "give 7, or 1..10 with the smaller first and at most " + std::to_string(kMaxSeeds);
  return error;
}

Result<std::string> run_simulation(const SimRunOptions& options) {
  const auto seeds = parse_seeds(options.seed);
  if (!seeds) return seeds.error();
  const auto settings = parse_run_settings(options.set);
  if (!settings) return settings.error();
  if (!settings->world.empty()) return run_world(options, *settings, *seeds);
  if (!options.jobs_path.empty()) return no_world("jobs", "leave it out, or give --set world=NAME");
  if (options.cluster.empty()) return no_world("cluster", "give --cluster");
  const auto began = std::chrono::steady_clock::now();
  auto read = read_run_inputs(options.cluster, options.workload, settings->mode);
  if (!read) return read.error();
  Inputs inputs{std::move(*read), std::nullopt};
  if (!settings->then.empty()) {
    auto then = read_run_workload(options.cluster, settings->then, capacity_of(inputs.cluster));
    if (!then) return then.error();
    inputs.then = std::move(*then);
  }
  if (!settings->fillers.workload.empty()) {
    auto list =
        read_run_workload(options.cluster, settings->fillers.workload, capacity_of(inputs.cluster));
    if (!list) return list.error();
    inputs.fillers = as_fillers(*list, settings->fillers);
  }
  inputs.workload = selected(std::move(inputs.workload), *settings);
  const std::chrono::duration<double> reading = std::chrono::steady_clock::now() - began;

  RunDescription description{options.policy,
                             *settings,
                             inputs.cluster.name,
                             inputs.workload.name,
                             capacity_of(inputs.cluster),
                             static_cast<std::int64_t>(inputs.workload.jobs.size()),
                             reading.count()};
  std::vector<SeedResult> results;
  for (std::uint64_t seed = seeds->first; seed <= seeds->last; ++seed) {
    auto result = run_seed(options, *settings, inputs, seed);
    if (!result) return result.error();
    if (!results.empty()) {
      // Only the first run is plotted point by point.
      result->usage.clear();
      result->waits.clear();
    }
    results.push_back({seed, std::move(*result)});
  }
  if (!options.html_path.empty()) {
    const auto written = write_file(options.html_path, html_report(description, results));
    if (!written) return written.error();
  }
  return run_json(description, options.seed, results);
}

}  // namespace gridfold
