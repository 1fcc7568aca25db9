#include "policies/deadline_jobs.h"

#include <algorithm>

#include "policies/round_room.h"

namespace gridfold {
namespace {

constexpr double kNoDeadline = 1e15;

double epochs_done(const RoundJob& job) {
  if (!job.history || !job.history->progress_epochs.is_known()) return 0;
  return job.history->progress_epochs.value();
}

std::vector<std::int32_t> packed(std::int32_t tasks, std::int32_t node_tasks) {
  std::vector<std::int32_t> places;
  for (; tasks > 0; tasks -= node_tasks) places.push_back(std::min(tasks, node_tasks));
  return places;
}

DeadlineJob unmeasured(const RoundJob& job, Instant now) {
  DeadlineJob told;
  told.id = job.id;
  told.devices_each = job.devices_each();
  told.held = task_count(job.places);
  told.until = kNoDeadline;
  if (job.spec->training && job.spec->training->deadline.is_known()) {
    told.until = (job.submitted_at + job.spec->training->deadline.value() - now).in_seconds();
  }
  return told;
}

}  // namespace

DeadlineJob true_deadline_job(const RoundJob& job, Instant now, std::int32_t node_devices,
                              const TrainingTruth& truth) {
  DeadlineJob told = unmeasured(job, now);
  if (!job.spec->training) return told;
  const Known<double> left = truth.remaining_steps(*job.spec, epochs_done(job));
  if (!left.is_known()) return told;
  told.left = left.value();
  const std::int32_t node_tasks = std::max(1, node_devices / told.devices_each);
  for (std::int32_t n = 1; n <= job.spec->roles.front().count; n *= 2) {
    const Known<double> step =
        truth.step_seconds(*job.spec, packed(n, node_tasks), {}, job.spec->training->batch);
    told.rates.push_back(step.is_known() && step.value() > 0 ? 1 / step.value() : 0);
  }
  return told;
}

DeadlineJob fitted_deadline_job(const RoundJob& job, Instant now, std::int32_t node_devices,
                                const GoodputPage& page, std::int32_t most_tasks, double left) {
  DeadlineJob told = unmeasured(job, now);
  told.left = left;
  if (!page.is_fitted()) return told;
  const std::int32_t node_tasks = std::max(1, node_devices / told.devices_each);
  for (std::int32_t n = 1; n <= most_tasks; n *= 2) {
    told.rates.push_back(page.goodput((n + node_tasks - 1) / node_tasks, n));
  }
  return told;
}

}  // namespace gridfold
