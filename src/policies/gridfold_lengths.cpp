#include "policies/gridfold_lengths.h"

#include <algorithm>

namespace gridfold {
namespace {

double seconds_run(const RoundJob& job) {
  const std::int32_t devices = job.spec->roles.front().count * job.devices_each();
  return static_cast<double>(job.executed_ns) * 1e-9 / devices;
}

}  // namespace

bool is_rigid(const JobSpec& job) { return job.roles.front().min == job.roles.front().count; }

void RunLengths::update(const RoundView& view) {
  std::map<JobId, Run> now;
  for (const RoundJob& job : view.jobs) {
    if (is_rigid(*job.spec)) now[job.id] = {seconds_run(job), !job.places.empty()};
    ended_.erase(job.id);  // it was stopped for a while
  }
  // When in the round it ended is not known: it had not when it was seen last, so
  // at most now.
  const double since = seen_.empty() ? 0 : (view.now - last_).in_seconds();
  for (const auto& [id, run] : seen_) {
    const double seconds = run.seconds + (run.runs ? since : 0);
    if (now.count(id) == 0 && seconds > 0) ended_[id] = seconds;
  }
  while (ended_.size() > kMostEnded) ended_.erase(ended_.begin());
  seen_ = std::move(now);
  last_ = view.now;
}

Known<double> RunLengths::seconds_left(const RoundJob& job) const {
  if (ended_.empty()) return Unknown{};
  const double ran = seconds_run(job);
  double all = 0;
  double rest = 0;
  double longer = 0;
  for (const auto& [id, seconds] : ended_) {
    all += seconds;
    if (seconds <= ran) continue;
    rest += seconds - ran;
    ++longer;
  }
  for (const auto& [id, run] : seen_) all += run.seconds;
  return (rest + all / static_cast<double>(ended_.size())) / (longer + 1);
}

}  // namespace gridfold
