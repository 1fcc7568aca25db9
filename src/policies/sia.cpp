#include "policies/sia.h"

#include <algorithm>
#include <cmath>

#include "policies/declared_rates.h"
#include "policies/round_room.h"
#include "policies/settings.h"
#include "policies/type_seating.h"

namespace gridfold {
namespace {

bool is_power_of_two(std::int32_t n) { return (n & (n - 1)) == 0; }

// A configuration of the paper: or the number that the job has anyway.
bool is_offered(const RoundJob& job, const RoundType& type, std::int32_t tasks) {
  if (!may_have(job, tasks)) return false;
  if (declares_rates(*job.spec)) return true;
  const std::int32_t node_tasks = std::max(1, type.node_devices / job.devices_each());
  return tasks < node_tasks ? is_power_of_two(tasks) : tasks % node_tasks == 0;
}

}  // namespace

Result<SiaOptions> read_sia_options(const PolicyOptions& options) {
  SettingsReader settings("sia", options.settings);
  SiaOptions own;
  own.round = settings.duration("round", options.round);
  own.restart = settings.duration("restart", own.restart);
  own.power = -static_cast<double>(
                  settings.number("sia.power_percent", std::lround(-own.power * 100), 1, 1000)) /
              100;
  own.idle_cost = static_cast<double>(settings.number(
                      "sia.idle_percent", std::lround(own.idle_cost * 100), 1, 10'000)) /
                  100;
  if (auto error = settings.finish()) return *error;
  return own;
}

double Sia::speed(const Part& part, const RoundType& type, std::int32_t nodes,
                  std::int32_t tasks) const {
  if (!declares_rates(*part.job->spec) && !part.page->is_fitted()) return tasks;
  return speed_on(*part.job, *part.page, type, nodes, tasks);
}

double Sia::cost(const Part& part, const RoundType& type, std::int32_t nodes, std::int32_t tasks,
                 bool moved) const {
  if (tasks == 0 || part.least_speed <= 0) return options_.idle_cost;
  const double of_least = speed(part, type, nodes, tasks) / part.least_speed;
  const double left = of_least * (moved ? part.restart_factor : 1);
  return left > 0 ? std::pow(left, options_.power) : kNotOffered;
}

Sia::Part Sia::part_of(const RoundView& view, const RoundJob& job,
                       const std::vector<RoundType>& types) const {
  Part part;
  part.job = &job;
  part.page = &book_.page(job);
  const double age = (view.now - job.submitted_at).in_seconds();
  const double delay = options_.restart.in_seconds();
  part.restart_factor =
      std::max(age - std::max(0, job.starts - 1) * delay, 0.0) / std::max(age + delay, 1e-9);
  // To a job that waits the restart costs the same whatever it is given: else a
  // young one that was stopped would be dearer than lambda, and wait for ever.
  if (job.places.empty()) part.restart_factor = 1;
  const std::int32_t count = job.spec->roles.front().count;
  part.most_tasks = declares_rates(*job.spec)
                        ? count
                        : std::min(count, std::max(2 * part.page->most_measured(), 1));
  part.held = task_count(job.places);
  part.held_type = type_of(types, job);
  for (const RoundType& type : types) {
    if (!may_run_on(job, type)) continue;
    for (std::int32_t n = 1; n <= part.most_tasks; ++n) {
      if (!is_offered(job, type, n)) continue;
      const double at = speed(part, type, type.fewest_nodes(n, job.devices_each()), n);
      if (at > 0 && (part.least_speed <= 0 || at < part.least_speed)) part.least_speed = at;
    }
  }
  return part;
}

ShareCurve Sia::curve_of(const Part& part, const std::vector<RoundType>& types,
                         std::size_t type) const {
  const RoundJob& job = *part.job;
  ShareCurve curve;
  curve.devices_each = job.devices_each();
  curve.costs.push_back(options_.idle_cost);
  if (!may_run_on(job, types[type])) return curve;
  for (std::int32_t n = 1; n <= std::max(part.most_tasks, part.held); ++n) {
    const bool stays = n == part.held && type == part.held_type;
    const std::int32_t nodes = stays ? static_cast<std::int32_t>(job.places.size())
                                     : types[type].fewest_nodes(n, curve.devices_each);
    curve.costs.push_back(stays || is_offered(job, types[type], n)
                              ? cost(part, types[type], nodes, n, !stays)
                              : kNotOffered);
  }
  return curve;
}

RoundPlan Sia::plan(const RoundView& view) {
  steps_ = 0;
  if (view.jobs.empty() || view.nodes.empty()) return {};
  book_.update(view);
  const std::vector<RoundType> types = types_of(view.nodes);
  std::vector<std::int32_t> devices;
  for (const RoundType& type : types) devices.push_back(type.devices);
  std::vector<Part> parts;
  std::vector<std::vector<ShareCurve>> curves(view.jobs.size());
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    parts.push_back(part_of(view, view.jobs[i], types));
    for (std::size_t t = 0; t < types.size(); ++t)
      curves[i].push_back(curve_of(parts[i], types, t));
  }
  const std::vector<TypeChoice> choices = choose_types(curves, devices, steps_);
  std::vector<TypeSeat> seats;
  for (std::size_t i = 0; i < parts.size(); ++i) seats.push_back({parts[i].job, choices[i]});
  return seat_types(
      types, seats,
      [&](std::size_t i, std::span<const RoundPlace> at) {
        const auto& held = parts[i].job->places;
        const bool stays = std::equal(at.begin(), at.end(), held.begin(), held.end());
        return cost(parts[i], types[choices[i].type], static_cast<std::int32_t>(at.size()),
                    task_count(at), !stays);
      },
      steps_);
}

}  // namespace gridfold
