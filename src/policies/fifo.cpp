#include "policies/fifo.h"

#include "policies/round_pool.h"
#include "policies/settings.h"

namespace gridfold {

Result<FifoOptions> read_fifo_options(const PolicyOptions& options) {
  SettingsReader settings("fifo", options.settings);
  FifoOptions own;
  own.round = settings.duration("round", options.round);
  if (auto error = settings.finish()) return *error;
  return own;
}

RoundPlan Fifo::plan(const RoundView& view) {
  const RoundPool whole(view);
  RoundPool pool(view);
  RoundPlan plan;
  for (const RoundJob& job : view.jobs) {
    if (job.places.empty()) continue;
    pool.take(job, job.places);
    plan.assignments.push_back({job.id, job.places});
  }
  steps_ = static_cast<std::int64_t>(view.jobs.size());
  for (const RoundJob& job : view.jobs) {
    if (!job.places.empty()) continue;
    steps_ += static_cast<std::int64_t>(view.nodes.size());
    const std::int64_t tasks = preferred_tasks(*job.spec);
    if (whole.room_for(job) < tasks) continue;  // even alone: it would stop all others for ever
    std::vector<RoundPlace> places = pool.consolidated(job, tasks);
    if (places.empty()) break;
    pool.take(job, places);
    plan.assignments.push_back({job.id, std::move(places)});
  }
  return plan;
}

}  // namespace gridfold
