#include "simulator/bound_command.h"

#include <array>
#include <chrono>
#include <cmath>

#include "base/decimal.h"
#include "base/enum_names.h"
#include "base/json_writer.h"
#include "base/quote.h"
#include "planner/packing_bound.h"
#include "simulator/packing_input.h"
#include "simulator/run_inputs.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 3> kKindNames = {"lossless", "arrived", "kept"};

using WallClock = std::chrono::steady_clock;

double seconds_since(WallClock::time_point start) {
  return std::chrono::duration<double>(WallClock::now() - start).count();
}

// Figures are shown to the millionth.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

void write_bound(JsonWriter& json, const PackingBound& bound, double wall_seconds) {
  json.key("gpu_allocated_ratio").real(rounded(bound.ratio()));
  json.key("configuration_ratio").real(rounded(bound.configuration_ratio));
  json.key("reached_ratio").real(rounded(bound.reached_ratio));
  json.key("fluid_ratio").real(rounded(bound.fluid_ratio));
  json.key("rounds").number(bound.rounds);
  json.key("patterns").number(bound.patterns);
  json.key("wall_seconds").real(rounded(wall_seconds));
}

Result<PackingBound> solve(PackingBounds& bounds, BoundKind kind, double arrived,
                           const std::optional<KeptShare>& kept) {
  switch (kind) {
    case BoundKind::kLossless: return bounds.lossless();
    case BoundKind::kArrived: return bounds.arrived(arrived);
    case BoundKind::kKept: return bounds.kept(arrived, *kept);
  }
  return internal("no such bound");
}

// One object of the array `bounds`.
Result<void> add_bound(JsonWriter& json, PackingBounds& bounds, BoundKind kind, double arrived,
                       const std::optional<KeptShare>& kept) {
  const auto start = WallClock::now();
  const auto bound = solve(bounds, kind, arrived, kept);
  if (!bound) return bound.error().with_context("bound " + std::string(to_string(kind)));
  json.begin_object().key("kind").string(to_string(kind));
  if (kind != BoundKind::kLossless) json.key("arrived_ratio").real(arrived);
  if (kind == BoundKind::kKept) {
    json.key("kept_ratio").real(kept->share).key("kept_at_ratio").real(kept->at);
  }
  write_bound(json, *bound, seconds_since(start));
  json.end_object();
  return {};
}

Result<void> add_bounds(JsonWriter& json, PackingBounds& bounds, const SimBoundOptions& options) {
  for (const BoundKind kind : options.kinds) {
    if (kind == BoundKind::kLossless) {
      const auto added = add_bound(json, bounds, kind, 0, {});
      if (!added) return added;
      continue;
    }
    for (const double arrived : options.arrived) {
      const auto added = add_bound(json, bounds, kind, arrived, options.kept);
      if (!added) return added;
    }
  }
  return {};
}

}  // namespace

std::string_view to_string(BoundKind kind) { return name_of(kKindNames, kind); }
std::optional<BoundKind> parse_bound_kind(std::string_view text) {
  return value_of<BoundKind>(kKindNames, text);
}

Result<double> parse_devices_share(std::string_view text) {
  std::string_view rest = text;
  const auto decimal = take_decimal(rest);
  if (decimal && rest.empty()) {
    const Scaled millionths = scale(*decimal, 1'000'000);
    if (millionths.fault == ScaleFault::kNone && millionths.value > 0) {
      return static_cast<double>(millionths.value) / 1e6;
    }
  }
  return not_a("a share of the cluster's GPUs", text, "it must be a number above 0",
               "write 1.3 for 130 %, with at most six decimals");
}

Result<KeptShare> parse_kept(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) {
    return not_a("a share held at a share arrived", text, "there is no '@'",
                 "write 0.947@0.95: 94.7 % were allocated when 95 % had been asked for");
  }
  const auto share = parse_devices_share(text.substr(0, at));
  if (!share) return share.error();
  const auto arrived = parse_devices_share(text.substr(at + 1));
  if (!arrived) return arrived.error();
  return KeptShare{*share, *arrived};
}

Result<std::string> run_bound(const SimBoundOptions& options) {
  const auto inputs = read_run_inputs(options.cluster, options.workload, RunMode::kSaturation);
  if (!inputs) return inputs.error();
  auto problem = packing_problem_of(inputs->cluster, inputs->workload);
  if (!problem) return problem.error();
  const auto start = WallClock::now();
  auto bounds = PackingBounds::make(std::move(*problem));
  if (!bounds) return bounds.error().with_context(inputs->workload.name);

  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("cluster").string(inputs->cluster.name);
  json.key("workload").string(inputs->workload.name);
  json.key("gpus").number(static_cast<std::int64_t>(bounds->problem().devices()));
  json.key("node_types").number(bounds->problem().nodes.size());
  json.key("task_classes").number(bounds->problem().classes.size());
  json.key("tasks_that_fit_no_node").number(tasks_that_fit_no_node(bounds->problem()));
  json.key("bounds").begin_array();
  const auto added = add_bounds(json, *bounds, options);
  if (!added) return added.error();
  json.end_array();
  json.key("wall_seconds").real(rounded(seconds_since(start)));
  json.end_object();
  return text + "\n";
}

}  // namespace gridfold
