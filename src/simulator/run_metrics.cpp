#include "simulator/run_metrics.h"

#include <algorithm>
#include <utility>

namespace gridfold {
namespace {

constexpr std::size_t kHashedAtOnce = 16384;  // bytes: hashing long runs is cheaper

}  // namespace

DurationSummary summarise(std::vector<Duration> values) {
  DurationSummary summary;
  summary.count = values.size();
  if (values.empty()) return summary;
  double sum = 0;
  for (const auto value : values) sum += value.in_seconds();
  // The smallest value that at least this share does not exceed.
  const auto percentile = [&](std::size_t per_cent) {
    const std::size_t rank = (values.size() * per_cent + 99) / 100 - 1;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(values.begin(), at, values.end());
    return at->in_seconds();
  };
  summary.mean_seconds = sum / static_cast<double>(values.size());
  summary.p50_seconds = percentile(50);
  summary.p99_seconds = percentile(99);
  return summary;
}

RunMetrics::RunMetrics(const Workload& workload, std::size_t expected_jobs) : workload_(workload) {
  jobs_.reserve(expected_jobs);
  history_.reserve(2 * expected_jobs);  // most have one task, which comes and goes
  for (const JobSpec& shape : workload.shapes) {
    std::vector<Held>& roles = held_.emplace_back();
    for (const Role& role : shape.roles) {
      Held held{0, role.each.cpu.value, static_cast<std::uint32_t>(role.count)};
      for (const auto& device : role.each.devices) {
        if (device.device_class == "gpu") held.gpu_thousandths += device.count * device.share.value;
      }
      roles.push_back(held);
    }
  }
}

void RunMetrics::submitted(std::uint32_t shape, Instant at, bool counted) {
  jobs_.push_back({shape, counted, JobState::kPending, at});
}

void RunMetrics::committed(Instant now, const Decisions& decisions) {
  if (!numbered_ && !decisions.changed_jobs.empty()) {
    first_id_ = decisions.changed_jobs.front().value;
    numbered_ = true;
  }
  for (const auto& decision : decisions.list) {
    append_canonical(decision, canonical_);
    if (const auto* launch = std::get_if<LaunchTask>(&decision)) {
      hold(now, launch->task, 1);
      touched_.push_back(launch->allocation.node);
    } else if (const auto* change = std::get_if<JobChanged>(&decision)) {
      job_changed(now, *change);
    } else if (const auto* preempted = std::get_if<Preempted>(&decision)) {
      gave_up_ += static_cast<std::int64_t>(preempted->victims.size());
    }
  }
  if (canonical_.size() >= kHashedAtOnce) hash_decisions();
}

void RunMetrics::hash_decisions() {
  decisions_.update(canonical_);
  canonical_.clear();
}

std::string RunMetrics::decisions_sha256() {
  hash_decisions();
  return decisions_.hex();
}

void RunMetrics::cleaned(Instant now, TaskId task) { hold(now, task, -1); }

void RunMetrics::hold(Instant now, TaskId task, std::int64_t sign) {
  const Held& held = held_by(task);
  usage_.gpu_thousandths += sign * held.gpu_thousandths;
  usage_.millicores += sign * held.millicores;
  usage_.at = now;
  if (!history_.empty() && history_.back().at == now) {
    history_.back() = usage_;
  } else {
    history_.push_back(usage_);
  }
}

const RunMetrics::Held& RunMetrics::held_by(TaskId task) const {
  const std::vector<Held>& roles = held_[jobs_[task.job.value - first_id_].shape];
  std::size_t role = 0;
  for (std::uint32_t index = task.index; index >= roles[role].tasks; ++role)
    index -= roles[role].tasks;
  return roles[role];
}

void RunMetrics::job_changed(Instant now, const JobChanged& change) {
  JobTimes& job = times(change.job);
  job.state = change.to;
  if (change.to == JobState::kRunning && job.started.is_never()) job.started = now;
  if (is_terminal(change.to)) {
    job.ended = now;
    last_end_ = now;
  }
}

std::vector<NodeId> RunMetrics::take_touched_nodes() {
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  return std::exchange(touched_, {});
}

RunMetrics::Counts RunMetrics::counts() const {
  Counts counts;
  counts.gave_up = gave_up_;
  for (const auto& job : jobs_) {
    ++counts.submitted;
    counts.succeeded += job.state == JobState::kSucceeded;
    counts.failed += job.state == JobState::kFailed;
    counts.cancelled += job.state == JobState::kCancelled;
  }
  return counts;
}

RunMetrics::Demand RunMetrics::gpu_demand() const {
  Demand demand;
  for (const auto& job : jobs_) {
    if (!job.counted) continue;
    const auto asked = device_thousandths(workload_.shapes[job.shape], "gpu");
    demand.offered += asked;
    if (job.state == JobState::kCancelled && job.started.is_never()) demand.blocked += asked;
  }
  return demand;
}

std::vector<Duration> RunMetrics::waits() const {
  std::vector<Duration> waits;
  waits.reserve(jobs_.size());
  for (const auto& job : jobs_) {
    if (job.counted && !job.started.is_never()) waits.push_back(job.started - job.submitted);
  }
  return waits;
}

std::vector<Duration> RunMetrics::completions() const {
  std::vector<Duration> completions;
  completions.reserve(jobs_.size());
  for (const auto& job : jobs_) {
    if (job.counted && !job.ended.is_never()) completions.push_back(job.ended - job.submitted);
  }
  return completions;
}

double RunMetrics::bounded_slowdown() const {
  constexpr double kShortestSeconds = 10;
  double sum = 0;
  std::int64_t ended = 0;
  for (const auto& job : jobs_) {
    if (!job.counted || job.ended.is_never() || job.started.is_never()) continue;
    const double ran = (job.ended - job.started).in_seconds();
    const double took = (job.ended - job.submitted).in_seconds();
    sum += std::max(1.0, took / std::max(ran, kShortestSeconds));
    ++ended;
  }
  return ended == 0 ? 0 : sum / static_cast<double>(ended);
}

double mean_usage(std::span<const UsagePoint> history, std::int64_t UsagePoint::*what, Instant from,
                  Instant to) {
  if (to <= from) return 0;
  double area = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Instant begins = std::max(history[i].at, from);
    const Instant ends = std::min(i + 1 < history.size() ? history[i + 1].at : to, to);
    if (ends > begins) area += static_cast<double>(history[i].*what) * (ends - begins).in_seconds();
  }
  return area / (to - from).in_seconds();
}

std::vector<double> mean_usage_by_stretch(std::span<const UsagePoint> history,
                                          std::int64_t UsagePoint::*what, Duration length) {
  if (history.empty()) return {};
  const Instant origin = history.front().at;
  const std::int64_t stretches = (history.back().at - origin).ns / length.ns + 1;
  std::vector<double> means(static_cast<std::size_t>(stretches), 0);
  for (std::size_t i = 0; i + 1 < history.size(); ++i) {
    // The time to the next change, cut at the borders of the stretches.
    Instant at = history[i].at;
    while (at < history[i + 1].at) {
      const std::int64_t stretch = (at - origin).ns / length.ns;
      const Instant border = origin + Duration{(stretch + 1) * length.ns};
      const Instant end = std::min(border, history[i + 1].at);
      means[static_cast<std::size_t>(stretch)] += static_cast<double>(history[i].*what) *
                                                  static_cast<double>((end - at).ns) /
                                                  static_cast<double>(length.ns);
      at = end;
    }
  }
  // The last stretch may be cut short.
  const std::int64_t covered = (history.back().at - origin).ns - (stretches - 1) * length.ns;
  if (covered > 0) {
    means.back() *= static_cast<double>(length.ns) / static_cast<double>(covered);
  } else {
    means.pop_back();
  }
  return means;
}

}  // namespace gridfold
