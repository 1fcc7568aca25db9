#include "simulator/training_json.h"

#include <cmath>
#include <optional>
#include <vector>

#include "base/json_writer.h"

namespace gridfold {
namespace {

enum class Over : std::uint8_t { kMean, kSum };

// One figure of a run; empty: there is none.
struct Figure {
  std::string_view name;
  Over over;
  std::optional<double> (*of)(const TrainingResult&);
};

std::optional<double> known(const Known<double>& value) {
  return value.is_known() ? std::optional(value.value()) : std::nullopt;
}
std::optional<double> count(std::int64_t value) { return static_cast<double>(value); }

constexpr Figure kFigures[] = {
    {"wall_seconds", Over::kSum,
     [](const TrainingResult& r) { return std::optional(r.wall_seconds); }},
    {"policy_seconds", Over::kSum,
     [](const TrainingResult& r) { return std::optional(r.policy_seconds); }},
    {"turns", Over::kSum, [](const TrainingResult& r) { return count(r.turns); }},
    {"rounds", Over::kSum, [](const TrainingResult& r) { return count(r.rounds); }},
    {"jobs_submitted", Over::kSum,
     [](const TrainingResult& r) { return count(static_cast<std::int64_t>(r.jobs.size())); }},
    {"jobs_dropped", Over::kSum, [](const TrainingResult& r) { return count(r.dropped); }},
    {"jobs_finished", Over::kSum, [](const TrainingResult& r) { return count(r.finished()); }},
    {"jct_mean_seconds", Over::kMean,
     [](const TrainingResult& r) {
       return r.finished() ? std::optional(r.completion().mean_seconds) : std::nullopt;
     }},
    {"jct_p50_seconds", Over::kMean,
     [](const TrainingResult& r) {
       return r.finished() ? std::optional(r.completion().p50_seconds) : std::nullopt;
     }},
    {"jct_p99_seconds", Over::kMean,
     [](const TrainingResult& r) {
       return r.finished() ? std::optional(r.completion().p99_seconds) : std::nullopt;
     }},
    {"makespan_seconds", Over::kMean,
     [](const TrainingResult& r) { return std::optional(r.makespan().in_seconds()); }},
    {"jct_mean_bound_seconds", Over::kMean,
     [](const TrainingResult& r) { return known(r.bounds.completion_mean_seconds); }},
    {"makespan_bound_seconds", Over::kMean,
     [](const TrainingResult& r) { return known(r.bounds.makespan_seconds); }},
    {"restarts", Over::kSum, [](const TrainingResult& r) { return count(r.restarts()); }},
    {"finish_time_ratio_mean", Over::kMean,
     [](const TrainingResult& r) { return known(r.mean_finish_time_ratio()); }},
    {"finish_time_ratio_worst", Over::kMean,
     [](const TrainingResult& r) { return known(r.worst_finish_time_ratio()); }},
    {"deadlines", Over::kSum, [](const TrainingResult& r) { return count(r.deadlines()); }},
    {"deadlines_met", Over::kSum, [](const TrainingResult& r) { return count(r.deadlines_met()); }},
    // Who was refused or has not ended has missed its deadline.
    {"deadlines_met_ratio", Over::kMean,
     [](const TrainingResult& r) {
       return r.deadlines() > 0 ? std::optional(static_cast<double>(r.deadlines_met()) /
                                                static_cast<double>(r.deadlines()))
                                : std::nullopt;
     }},
    {"devices_held_ratio", Over::kMean,
     [](const TrainingResult& r) { return std::optional(r.held_ratio()); }},
    {"devices_productive_ratio", Over::kMean,
     [](const TrainingResult& r) { return known(r.productive_ratio()); }},
};

void write_value(JsonWriter& json, const Figure& figure, std::optional<double> value) {
  json.key(figure.name);
  if (!value) {
    json.null();
  } else if (*value == std::floor(*value) && std::abs(*value) < 1e15) {
    json.number(static_cast<std::int64_t>(*value));
  } else {
    json.real(std::round(*value * 1e6) / 1e6);
  }
}

void write_run(JsonWriter& json, const TrainingResult& result) {
  json.key("decisions_sha256").string(result.decisions_sha256);
  for (const Figure& figure : kFigures) write_value(json, figure, figure.of(result));
}

void write_means(JsonWriter& json, std::span<const TrainingSeedResult> results) {
  std::string hashes;
  for (const TrainingSeedResult& run : results) hashes += run.result.decisions_sha256;
  json.key("decisions_sha256").string(sha256_hex(hashes));
  for (const Figure& figure : kFigures) {
    double sum = 0;
    double having = 0;
    for (const TrainingSeedResult& run : results) {
      const auto value = figure.of(run.result);
      sum += value.value_or(0);
      having += value.has_value();
    }
    const bool any = having > 0;
    const double all = figure.over == Over::kSum ? sum : sum / std::max(having, 1.0);
    write_value(json, figure, any ? std::optional(all) : std::nullopt);
  }
}

}  // namespace

std::string training_json(const TrainingDescription& description, std::string_view seed_text,
                          std::span<const TrainingSeedResult> results) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.key("policy").string(description.policy);
  json.key("world").string(description.world);
  json.key("cluster").string(description.cluster);
  json.key("workload").string(description.workload);
  if (results.size() == 1) {
    json.key("seed").number(results.front().seed);
    write_run(json, results.front().result);
  } else {
    json.key("seed").string(seed_text);
    write_means(json, results);
    json.key("runs").begin_array();
    for (const TrainingSeedResult& run : results) {
      json.begin_object().key("seed").number(run.seed);
      write_run(json, run.result);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  out += '\n';
  return out;
}

}  // namespace gridfold
