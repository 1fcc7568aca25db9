#include "policies/optimus.h"

#include <algorithm>
#include <numeric>

#include "policies/round_room.h"
#include "policies/settings.h"

namespace gridfold {
namespace {

std::int32_t most_tasks(const RoundJob& job) {
  const std::int32_t most = job.spec->roles.front().count;
  if (!job.spec->training) return most;
  const TrainingDeclaration& said = *job.spec->training;
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(most, std::max<std::int64_t>(1, said.batch / said.min_local_batch)));
}

// Whole nodes first.
std::vector<std::int32_t> packed(std::int32_t tasks, std::int32_t node_tasks) {
  std::vector<std::int32_t> placement;
  for (; tasks > 0; tasks -= node_tasks) placement.push_back(std::min(tasks, node_tasks));
  return placement;
}

double epochs_done(const RoundJob& job) {
  if (!job.history || !job.history->progress_epochs.is_known()) return 0;
  return job.history->progress_epochs.value();
}

std::int32_t largest_node(const RoundView& view) {
  std::int32_t most = 1;
  for (const auto& node : view.nodes) most = std::max(most, node.devices);
  return most;
}

}  // namespace

Result<OptimusOptions> read_optimus_options(const PolicyOptions& options) {
  SettingsReader settings("optimus", options.settings);
  OptimusOptions own;
  own.round = settings.duration("round", options.round);
  own.truth = options.truth;
  if (auto error = settings.finish()) return *error;
  if (own.truth == nullptr) {
    Error error = invalid("optimus knows the true times of steps, and nothing here tells them");
    error.field = "policy";
    error.hint = "use it in a training world that has them, such as --set world=pollux";
    return error;
  }
  return own;
}

double Optimus::gain(const RoundJob& job, std::int32_t tasks, std::int32_t node_tasks) const {
  if (tasks >= most_tasks(job) || !job.spec->training) return 0;
  const auto seconds = [&](std::int32_t n) {
    return options_.truth->step_seconds(*job.spec, packed(n, node_tasks), model_,
                                        job.spec->training->batch);
  };
  const Known<double> now = seconds(tasks);
  const Known<double> then = seconds(tasks + 1);
  const Known<double> left = options_.truth->remaining_steps(*job.spec, epochs_done(job));
  if (!now.is_known() || !then.is_known() || !left.is_known()) return 0;
  return (now.value() - then.value()) * left.value();
}

std::vector<std::int32_t> Optimus::share_out(const RoundView& view) {
  std::int32_t left = device_count(view.nodes);
  const std::int32_t node_devices = largest_node(view);
  std::vector<std::int32_t> tasks(view.jobs.size(), 0);
  std::vector<double> gains(view.jobs.size(), 0);
  const auto update = [&](std::size_t i) {
    const RoundJob& job = view.jobs[i];
    const std::int32_t each = job.devices_each();
    ++steps_;
    gains[i] = left < each ? 0 : gain(job, tasks[i], node_devices / each);
  };
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    const std::int32_t each = view.jobs[i].devices_each();
    if (each > left) continue;
    tasks[i] = 1;
    left -= each;
    update(i);
  }
  while (left > 0) {
    const auto best = std::max_element(gains.begin(), gains.end());
    if (best == gains.end() || *best <= 0) break;
    const auto i = static_cast<std::size_t>(best - gains.begin());
    ++tasks[i];
    left -= view.jobs[i].devices_each();
    update(i);
  }
  return tasks;
}

RoundPlan Optimus::plan(const RoundView& view) {
  steps_ = 0;
  if (!view.nodes.empty()) model_ = view.nodes.front().model;
  const std::vector<std::int32_t> tasks = share_out(view);
  RoundRoom room(view.nodes);
  std::vector<std::size_t> order(view.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tasks[a] < tasks[b]; });
  const auto stays = [&](std::size_t i) {
    return tasks[i] > 0 && task_count(view.jobs[i].places) == tasks[i];
  };
  for (const std::size_t i : order) {
    if (stays(i)) room.take(view.jobs[i].places, view.jobs[i].devices_each());
  }
  RoundPlan plan;
  for (const std::size_t i : order) {
    if (tasks[i] == 0) continue;
    const RoundJob& job = view.jobs[i];
    plan.assignments.push_back(
        {job.id, stays(i) ? job.places : room.take_emptiest(tasks[i], job.devices_each())});
  }
  return plan;
}

}  // namespace gridfold
