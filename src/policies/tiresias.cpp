#include "policies/tiresias.h"

#include <algorithm>

#include "policies/round_pool.h"
#include "policies/round_room.h"
#include "policies/settings.h"

namespace gridfold {
namespace {

std::int32_t chosen_tasks(const RoundJob& job) {
  return static_cast<std::int32_t>(preferred_tasks(*job.spec));
}

// Index of the job in the view, which is in order of ids; its size when absent.
std::size_t index_of(const RoundView& view, JobId id) {
  const auto found =
      std::lower_bound(view.jobs.begin(), view.jobs.end(), id,
                       [](const RoundJob& job, JobId wanted) { return job.id < wanted; });
  if (found == view.jobs.end() || found->id != id) return view.jobs.size();
  return static_cast<std::size_t>(found - view.jobs.begin());
}

}  // namespace

Result<TiresiasOptions> read_tiresias_options(const PolicyOptions& options) {
  SettingsReader settings("tiresias", options.settings);
  TiresiasOptions own;
  own.demotion = settings.duration("tiresias.demotion", own.demotion);
  own.round = settings.duration("round", options.round);
  if (auto error = settings.finish()) return *error;
  return own;
}

void Tiresias::update_queues(const RoundView& view) {
  std::erase_if(demoted_, [&](JobId id) { return index_of(view, id) == view.jobs.size(); });
  for (const auto& job : view.jobs) {
    if (job.executed_ns < options_.demotion.ns) continue;
    if (std::find(demoted_.begin(), demoted_.end(), job.id) == demoted_.end()) {
      demoted_.push_back(job.id);
    }
  }
}

std::vector<std::size_t> Tiresias::order(const RoundView& view) const {
  std::vector<std::size_t> second;
  std::vector<bool> is_second(view.jobs.size(), false);
  for (const JobId id : demoted_) {
    second.push_back(index_of(view, id));
    is_second[second.back()] = true;
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    if (!is_second[i]) order.push_back(i);
  }
  order.insert(order.end(), second.begin(), second.end());
  return order;
}

RoundPlan Tiresias::plan(const RoundView& view) {
  update_queues(view);
  steps_ = 0;
  const std::vector<std::size_t> served = order(view);
  std::int32_t left = device_count(view.nodes);
  std::vector<std::size_t> running;
  for (const std::size_t i : served) {
    const std::int32_t devices = chosen_tasks(view.jobs[i]) * view.jobs[i].devices_each();
    if (devices > left) continue;
    left -= devices;
    running.push_back(i);
  }
  RoundRoom room(view.nodes);
  for (const std::size_t i : running) {
    room.take(view.jobs[i].places, view.jobs[i].devices_each());
  }
  RoundPlan plan;
  for (const std::size_t i : running) {
    ++steps_;
    const RoundJob& job = view.jobs[i];
    plan.assignments.push_back(
        {job.id, job.places.empty() ? room.take_emptiest(chosen_tasks(job), job.devices_each())
                                    : job.places});
  }
  return plan;
}

}  // namespace gridfold
