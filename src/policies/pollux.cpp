#include "policies/pollux.h"

#include <algorithm>

#include "policies/round_room.h"
#include "policies/settings.h"
#include "policies/share_out.h"

namespace gridfold {
namespace {

// So that a job without devices has a finite cost.
constexpr double kFloor = 1e-3;
constexpr double kNotOffered = 1e9;  // more than any sum of costs

}  // namespace

Result<PolluxOptions> read_pollux_options(const PolicyOptions& options) {
  SettingsReader settings("pollux", options.settings);
  PolluxOptions own;
  own.round = settings.duration("round", options.round);
  own.restart = settings.duration("pollux.restart", own.restart);
  if (auto error = settings.finish()) return *error;
  return own;
}

double Pollux::Part::speedup(std::int32_t nodes, std::int32_t tasks) const {
  if (tasks == 0) return 0;
  if (fair_goodput <= 0) return tasks / fair_tasks;
  return page->goodput(nodes, tasks) / fair_goodput;
}

double Pollux::Part::cost(std::int32_t nodes, std::int32_t tasks, bool moved) const {
  const double factor = moved ? restart_factor : 1;
  return 1 / (speedup(nodes, tasks) * scale * factor + kFloor);
}

std::vector<Pollux::Part> Pollux::parts_of(const RoundView& view) const {
  const RoundMeasures measures = measures_of(view);
  std::vector<Part> parts;
  parts.reserve(view.jobs.size());
  for (const auto& job : view.jobs) {
    Part part;
    part.job = &job;
    part.page = &book_.page(job);
    const std::int32_t each = job.devices_each();
    part.node_tasks = measures.tasks_a_node(each);
    part.fair_tasks = measures.fair_tasks(each);
    if (part.page->is_fitted()) {
      part.fair_goodput = part.page->goodput(1, static_cast<std::int32_t>(part.fair_tasks));
    }
    part.scale = static_cast<double>(view.nodes.size()) * each / measures.devices;
    const double age = (view.now - job.submitted_at).in_seconds();
    const double delay = options_.restart.in_seconds();
    const double restarts = std::max(0, job.starts - 1);
    part.restart_factor = std::max(age - restarts * delay, 0.0) / (age + delay);
    part.most_tasks =
        std::min({std::max(2 * part.page->most_measured(), job.spec->roles.front().min),
                  job.spec->roles.front().count, measures.devices / each});
    parts.push_back(part);
  }
  return parts;
}

std::vector<SeatWish> Pollux::wishes(const std::vector<Part>& parts,
                                     const std::vector<std::int32_t>& tasks) {
  std::vector<SeatWish> wishes(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int32_t held = task_count(parts[i].job->places);
    wishes[i] = {parts[i].job, tasks[i], held > 0 && held == tasks[i]};
  }
  return wishes;
}

RoundPlan Pollux::plan(const RoundView& view) {
  steps_ = 0;
  if (view.jobs.empty() || view.nodes.empty()) return {};
  book_.update(view);
  const std::vector<Part> parts = parts_of(view);
  std::vector<ShareCurve> curves;
  curves.reserve(parts.size());
  for (const auto& part : parts) {
    const std::int32_t held = task_count(part.job->places);
    ShareCurve curve;
    curve.devices_each = part.job->devices_each();
    for (std::int32_t n = 0; n <= std::max(part.most_tasks, held); ++n) {
      const std::int32_t nodes = n == held && n > 0
                                     ? static_cast<std::int32_t>(part.job->places.size())
                                     : part.fewest_nodes(n);
      // Beyond one node whole ones only: what is left of a node that is shared
      // out finds nobody that it fits.
      const bool is_offered = n <= part.node_tasks || n % part.node_tasks == 0 || n == held;
      curve.costs.push_back(is_offered ? part.cost(nodes, n, n != held) : kNotOffered);
    }
    curves.push_back(std::move(curve));
  }
  const auto tasks = share_out(curves, device_count(view.nodes), steps_);
  const auto places = seat_best(
      view.nodes, wishes(parts, tasks),
      [&](std::size_t i, std::span<const RoundPlace> at) {
        const bool stays = std::equal(at.begin(), at.end(), parts[i].job->places.begin(),
                                      parts[i].job->places.end());
        return parts[i].cost(static_cast<std::int32_t>(at.size()), task_count(at), !stays);
      },
      steps_);
  RoundPlan plan;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!places[i].empty()) plan.assignments.push_back({parts[i].job->id, places[i]});
  }
  return plan;
}

}  // namespace gridfold
