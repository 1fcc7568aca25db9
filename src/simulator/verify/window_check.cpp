#include "simulator/verify/window_check.h"

#include <algorithm>

namespace gridfold::verify {

Limit<Duration> known_run(const World& world, std::span<const QueueSpec> queues,
                          const JobSpec& job) {
  Limit<Duration> run = job.time_limit;
  if (run.is_unlimited()) run = world.backfill.default_run;
  for (const QueueSpec& queue : queues) {
    if (queue.name != job.queue || queue.longest_run.is_unlimited()) continue;
    if (run.is_unlimited() || queue.longest_run.bound() < run.bound()) run = queue.longest_run;
  }
  return run;
}

const NodeWindow* closing(const World& world, std::span<const QueueSpec> queues, const JobSpec& job,
                          std::size_t node, Instant now, Duration later) {
  const bool may_be_stopped =
      job.workload_class == WorkloadClass::kFiller || world.goes_by_rounds(job);
  const Limit<Duration> run = known_run(world, queues, job);
  const NodeWindow* first = nullptr;
  for (const NodeWindow& window : world.windows) {
    const auto& names = window.where.nodes;
    if (std::find(names.begin(), names.end(), world.nodes[node].name) == names.end()) continue;
    if (window.until <= now) continue;
    const bool is_in_it = window.from <= now;
    const bool lasts_into_it =
        !may_be_stopped && (run.is_unlimited() || window.from < now + run.bound() + later);
    if ((is_in_it || lasts_into_it) && (first == nullptr || window.from < first->from))
      first = &window;
  }
  return first;
}

}  // namespace gridfold::verify
