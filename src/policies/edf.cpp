#include "policies/edf.h"

#include <algorithm>
#include <numeric>

#include "policies/round_pool.h"
#include "policies/settings.h"

namespace gridfold {
namespace {

Instant deadline_of(const RoundJob& job) {
  if (!job.spec->training || !job.spec->training->deadline.is_known()) return Instant::never();
  return job.submitted_at + job.spec->training->deadline.value();
}

}  // namespace

Result<EdfOptions> read_edf_options(const PolicyOptions& options) {
  SettingsReader settings("edf", options.settings);
  EdfOptions own;
  own.round = settings.duration("round", options.round);
  if (auto error = settings.finish()) return *error;
  return own;
}

RoundPlan Edf::plan(const RoundView& view) {
  std::vector<std::size_t> order(view.jobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return deadline_of(view.jobs[a]) < deadline_of(view.jobs[b]);
  });
  // First who runs, on all devices free; then those that stay keep their places.
  RoundPool trial(view);
  std::vector<std::size_t> running;
  for (const std::size_t i : order) {
    const auto places = trial.consolidated(view.jobs[i], preferred_tasks(*view.jobs[i].spec));
    if (places.empty()) continue;
    trial.take(view.jobs[i], places);
    running.push_back(i);
  }
  RoundPool pool(view);
  for (const std::size_t i : running) pool.take(view.jobs[i], view.jobs[i].places);
  RoundPlan plan;
  for (const std::size_t i : running) {
    const RoundJob& job = view.jobs[i];
    std::vector<RoundPlace> places = job.places;
    if (places.empty()) places = pool.consolidated(job, preferred_tasks(*job.spec));
    if (places.empty()) continue;  // those that stay lie too scattered for it
    if (job.places.empty()) pool.take(job, places);
    plan.assignments.push_back({job.id, std::move(places)});
  }
  steps_ = static_cast<std::int64_t>(view.jobs.size() * view.nodes.size());
  return plan;
}

}  // namespace gridfold
