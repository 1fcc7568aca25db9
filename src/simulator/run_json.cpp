#include "simulator/run_json.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "accounting/effective_json.h"
#include "base/json_writer.h"
#include "base/sha256.h"
#include "doctor/diagnosis_json.h"

namespace gridfold {
namespace {

// Figures are shown to the microsecond and the millionth.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

void write_description(JsonWriter& json, const RunDescription& description) {
  json.key("policy").string(description.policy);
  json.key("mode").string(to_string(description.settings.mode));
  json.key("tie_break").string(to_string(description.settings.tie_break));
  json.key("mix").string(description.settings.mix == MixSource::kTrace ? "trace" : "learned");
  if (description.settings.mode == RunMode::kLoad) {
    json.key("load").real(description.settings.load);
    json.key("when_full").string(to_string(description.settings.when_full));
  }
  if (description.settings.mode != RunMode::kSaturation) {
    json.key("backfill").string(to_string(description.settings.backfill.mode));
    json.key("backfill_order").string(to_string(description.settings.backfill.order));
    json.key("limits").string(to_string(description.settings.limits));
    json.key("run_times").string(to_string(description.settings.run_times));
  }
  json.key("mix_weights").string(description.settings.shuffled_mix ? "shuffled" : "listed");
  json.key("cluster").begin_object();
  json.key("name").string(description.cluster);
  json.key("nodes").number(description.capacity.nodes);
  json.key("gpus").number(description.capacity.gpu_thousandths / kWholeDevice.value);
  json.key("cpu_cores").real(static_cast<double>(description.capacity.millicores) / 1000);
  json.end_object();
  json.key("workload").begin_object();
  json.key("name").string(description.workload);
  json.key("jobs").number(description.workload_jobs);
  json.end_object();
}

void write_summary(JsonWriter& json, const std::string& name, const DurationSummary& summary) {
  const auto write = [&](const char* what, double value) {
    json.key(name + what);
    if (summary.count == 0) {
      json.null();
    } else {
      json.real(rounded(value));
    }
  };
  write("_mean_seconds", summary.mean_seconds);
  write("_p50_seconds", summary.p50_seconds);
  write("_p99_seconds", summary.p99_seconds);
}

void write_series(JsonWriter& json, std::string_view name, const std::vector<double>& values) {
  json.key(name).begin_array();
  for (const double value : values) json.real(rounded(value));
  json.end_array();
}

// `bound`: everything that work with rights to its place leaves as whole GPUs is
// used, and `useful` what is.
void write_fillers(JsonWriter& json, const RunDescription& description,
                   const SimulationResult& result) {
  const FillerSummary& fillers = *result.fillers;
  const double with_rights = result.gpu_utilisation - fillers.held;
  json.key("fillers").begin_object();
  json.key("load").real(description.settings.fillers.load);
  json.key("admission").string(to_string(description.settings.filler_options.admission));
  json.key("victims").string(to_string(description.settings.filler_options.victims));
  json.key("jobs").number(fillers.jobs);
  json.key("starts").number(fillers.starts);
  json.key("evictions").number(fillers.evictions);
  write_summary(json, "queueing", fillers.queueing);
  json.key("gpus_held_ratio").real(rounded(fillers.held));
  json.key("gpus_useful_ratio").real(rounded(fillers.useful));
  json.key("gpus_with_rights_ratio").real(rounded(with_rights));
  json.key("gpus_left_whole_ratio").real(rounded(fillers.left));
  json.key("all_useful_ratio").real(rounded(with_rights + fillers.useful));
  json.key("delayed_jobs").number(fillers.delayed);
  json.end_object();
}

void write_starts(JsonWriter& json, const StartScore& score);

void write_result(JsonWriter& json, const RunDescription& description,
                  const SimulationResult& result) {
  json.key("decisions_sha256").string(result.decisions_sha256);
  json.key("wall_seconds").real(rounded(result.wall_seconds));
  json.key("events").number(result.events);
  json.key("turns").number(result.turns);
  json.key("events_per_second")
      .real(result.wall_seconds > 0
                ? std::round(static_cast<double>(result.events) / result.wall_seconds)
                : 0);
  json.key("jobs").begin_object();
  json.key("submitted").number(result.counts.submitted);
  json.key("succeeded").number(result.counts.succeeded);
  json.key("failed").number(result.counts.failed);
  json.key("cancelled").number(result.counts.cancelled);
  json.key("waiting").number(result.waiting);
  json.key("infeasible").number(result.infeasible);
  json.key("gave_up_place").number(result.counts.gave_up);
  json.end_object();
  if (description.capacity.gpu_thousandths > 0) {
    json.key("gpu_allocated_ratio").real(rounded(result.gpu_allocated));
  }
  if (description.settings.mode == RunMode::kSaturation) {
    write_series(json, "gpu_allocated_ratio_by_arrived", result.gpu_allocated_by_arrived);
    json.key("fragmentation_ratio").real(rounded(result.fragmentation));
    write_series(json, "fragmentation_ratio_by_arrived", result.fragmentation_by_arrived);
    return;
  }
  write_summary(json, "wait", result.wait);
  write_summary(json, "jct", result.completion);
  json.key("bounded_slowdown_mean").real(rounded(result.bounded_slowdown));
  json.key("makespan_seconds").real(rounded(result.makespan.in_seconds()));
  if (description.settings.when_full == WhenFull::kLeave) {
    json.key("gpu_demand_blocked_ratio").real(rounded(result.gpu_demand_blocked));
  }
  if (description.capacity.gpu_thousandths > 0) {
    json.key("gpu_utilisation_mean_ratio").real(rounded(result.gpu_utilisation));
  }
  json.key("cpu_utilisation_mean_ratio").real(rounded(result.cpu_utilisation));
  if (result.fillers) write_fillers(json, description, result);
  if (result.effective.supplied > 0) {
    json.key("effective");
    write_effective(json, result.effective);
  }
  if (result.diagnosis) {
    json.key("doctor");
    write_diagnosis(json, *result.diagnosis);
  }
  if (description.settings.estimates > Duration{}) write_starts(json, result.starts);
}

// Where starts were estimated.
void write_starts(JsonWriter& json, const StartScore& score) {
  const auto share = [&](const char* name, std::int64_t part) {
    json.key(name).real(rounded(static_cast<double>(part) / static_cast<double>(score.estimates)));
  };
  json.key("start_estimates").begin_object();
  json.key("jobs").number(score.jobs).key("estimates").number(score.estimates);
  if (score.estimates > 0) {
    json.key("start_band_coverage_ratio").real(rounded(score.coverage()));
    json.key("start_band_first_coverage_ratio").real(rounded(score.first_coverage()));
    share("start_before_band_ratio", score.below);
    share("start_after_band_ratio", score.above);
    json.key("start_estimate_error_p50_seconds").real(rounded(summarise(score.errors).p50_seconds));
    json.key("start_band_width_p50_seconds").real(rounded(summarise(score.widths).p50_seconds));
  }
  json.end_object();
}

std::vector<double> mean_series(std::span<const SeedResult> results,
                                std::vector<double> SimulationResult::*series) {
  std::size_t length = 0;
  for (const auto& run : results) length = std::max(length, (run.result.*series).size());
  std::vector<double> mean(length, 0);
  for (const auto& run : results) {
    const auto& values = run.result.*series;
    for (std::size_t i = 0; i < values.size(); ++i) mean[i] += values[i];
  }
  for (double& value : mean) value /= static_cast<double>(results.size());
  return mean;
}

DurationSummary mean_summary(std::span<const SeedResult> results,
                             DurationSummary SimulationResult::*which) {
  DurationSummary mean;
  double runs = 0;
  for (const auto& run : results) {
    const DurationSummary& summary = run.result.*which;
    if (summary.count == 0) continue;
    ++runs;
    mean.count += summary.count;
    mean.mean_seconds += summary.mean_seconds;
    mean.p50_seconds += summary.p50_seconds;
    mean.p99_seconds += summary.p99_seconds;
  }
  if (runs == 0) return mean;
  mean.mean_seconds /= runs;
  mean.p50_seconds /= runs;
  mean.p99_seconds /= runs;
  return mean;
}

// Counts add up, shares and times are means over the runs.
void add_part(std::optional<FillerSummary>& sum, const FillerSummary& part, double runs) {
  if (!sum) sum.emplace();
  sum->jobs += part.jobs;
  sum->starts += part.starts;
  sum->evictions += part.evictions;
  sum->delayed += part.delayed;
  sum->held += part.held / runs;
  sum->useful += part.useful / runs;
  sum->left += part.left / runs;
  sum->queueing.count += part.queueing.count;
  sum->queueing.mean_seconds += part.queueing.mean_seconds / runs;
  sum->queueing.p50_seconds += part.queueing.p50_seconds / runs;
  sum->queueing.p99_seconds += part.queueing.p99_seconds / runs;
}

SimulationResult mean_of(std::span<const SeedResult> results) {
  SimulationResult mean;
  const double runs = static_cast<double>(results.size());
  std::string hashes;
  double makespan = 0;
  for (const auto& run : results) {
    const SimulationResult& result = run.result;
    hashes += result.decisions_sha256;
    mean.wall_seconds += result.wall_seconds;
    mean.events += result.events;
    mean.turns += result.turns;
    mean.counts.submitted += result.counts.submitted;
    mean.counts.succeeded += result.counts.succeeded;
    mean.counts.failed += result.counts.failed;
    mean.counts.cancelled += result.counts.cancelled;
    mean.counts.gave_up += result.counts.gave_up;
    mean.waiting += result.waiting;
    mean.infeasible += result.infeasible;
    makespan += static_cast<double>(result.makespan.ns) / runs;
    mean.gpu_allocated += result.gpu_allocated / runs;
    mean.gpu_utilisation += result.gpu_utilisation / runs;
    mean.cpu_utilisation += result.cpu_utilisation / runs;
    mean.gpu_demand_blocked += result.gpu_demand_blocked / runs;
    mean.fragmentation += result.fragmentation / runs;
    mean.bounded_slowdown += result.bounded_slowdown / runs;
    if (result.fillers) add_part(mean.fillers, *result.fillers, runs);
    mean.starts.add(result.starts);
    mean.effective.add(result.effective);
  }
  mean.effective.divide_by(static_cast<std::int64_t>(results.size()));
  mean.decisions_sha256 = sha256_hex(hashes);
  mean.makespan = Duration{static_cast<std::int64_t>(makespan)};
  mean.wait = mean_summary(results, &SimulationResult::wait);
  mean.completion = mean_summary(results, &SimulationResult::completion);
  mean.gpu_allocated_by_arrived = mean_series(results, &SimulationResult::gpu_allocated_by_arrived);
  mean.fragmentation_by_arrived = mean_series(results, &SimulationResult::fragmentation_by_arrived);
  return mean;
}

}  // namespace

std::string run_json(const RunDescription& description, std::string_view seed_text,
                     std::span<const SeedResult> results) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  write_description(json, description);
  json.key("reading_seconds").real(rounded(description.reading_seconds));
  if (results.size() == 1) {
    json.key("seed").number(results.front().seed);
    write_result(json, description, results.front().result);
  } else {
    json.key("seed").string(seed_text);
    write_result(json, description, mean_of(results));
    json.key("runs").begin_array();
    for (const auto& run : results) {
      json.begin_object().key("seed").number(run.seed);
      write_result(json, description, run.result);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  out += '\n';
  return out;
}

}  // namespace gridfold
