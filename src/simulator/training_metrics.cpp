#include "simulator/training_metrics.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

namespace gridfold {
namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}
std::string seconds(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

}  // namespace

std::int64_t TrainingResult::finished() const {
  return std::count_if(jobs.begin(), jobs.end(),
                       [](const TrainedJob& job) { return !job.ended.is_never(); });
}

std::int64_t TrainingResult::restarts() const {
  std::int64_t sum = 0;
  for (const TrainedJob& job : jobs) sum += std::max(job.starts - 1, 0);
  return sum;
}

DurationSummary TrainingResult::completion() const {
  std::vector<Duration> times;
  for (const TrainedJob& job : jobs) {
    if (!job.ended.is_never()) times.push_back(job.ended - job.submitted);
  }
  return summarise(std::move(times));
}

Duration TrainingResult::makespan() const {
  Instant last{};
  for (const TrainedJob& job : jobs) {
    if (!job.ended.is_never()) last = std::max(last, job.ended);
  }
  return jobs.empty() || last < jobs.front().submitted ? Duration{} : last - jobs.front().submitted;
}

double TrainingResult::held_ratio() const {
  const double all = static_cast<double>(devices) * makespan().in_seconds();
  double held = 0;
  for (const TrainedJob& job : jobs) held += job.device_seconds;
  return all > 0 ? held / all : 0;
}

Known<double> TrainingResult::productive_ratio() const {
  const double all = static_cast<double>(devices) * makespan().in_seconds();
  double productive = 0;
  for (const TrainedJob& job : jobs) {
    if (!job.productive_device_seconds.is_known()) return {};
    productive += job.productive_device_seconds.value();
  }
  return all > 0 ? productive / all : 0;
}

std::int64_t TrainingResult::deadlines() const {
  return std::count_if(jobs.begin(), jobs.end(),
                       [](const TrainedJob& job) { return job.deadline.is_known(); });
}

std::int64_t TrainingResult::deadlines_met() const {
  return std::count_if(jobs.begin(), jobs.end(),
                       [](const TrainedJob& job) { return job.met_deadline(); });
}

Known<double> TrainingResult::worst_finish_time_ratio() const {
  Known<double> worst;
  for (const TrainedJob& job : jobs) {
    if (!job.finish_time_ratio.is_known()) continue;
    if (!worst.is_known() || job.finish_time_ratio.value() > worst.value())
      worst = job.finish_time_ratio;
  }
  return worst;
}

Known<double> TrainingResult::mean_finish_time_ratio() const {
  double sum = 0;
  std::int64_t count = 0;
  for (const TrainedJob& job : jobs) {
    if (!job.finish_time_ratio.is_known()) continue;
    sum += job.finish_time_ratio.value();
    ++count;
  }
  if (count == 0) return {};
  return sum / static_cast<double>(count);
}

TrainingMetrics::TrainingMetrics(const TrainingWorkload& workload) : workload_(workload) {}

void TrainingMetrics::note_active(Instant now, int change) {
  active_seconds_ += static_cast<double>(active_) * (now - active_since_).in_seconds();
  active_since_ = now;
  active_ += change;
}

void TrainingMetrics::submitted(Instant now, JobId id) {
  const TrainingArrival& arrival = workload_.arrivals[jobs_.size()];
  if (jobs_.empty()) first_id_ = id.value;
  assert(id.value == first_id_ + jobs_.size());
  Job& added = jobs_.emplace_back();
  added.known.name = arrival.spec->name;
  added.known.submitted = arrival.at;
  if (arrival.spec->training) added.known.deadline = arrival.spec->training->deadline;
  added.held_since.assign(static_cast<std::size_t>(arrival.spec->task_count()), Instant::never());
  for (const DeviceRequest& device : arrival.spec->roles.front().each.devices)
    added.devices_each += device.count;
  note_active(now, +1);
  added.active_at_submission = active_seconds_;
}

void TrainingMetrics::committed(Instant now, const Decisions& decisions) {
  std::string canonical;
  for (const Decision& decision : decisions.list) {
    append_canonical(decision, canonical);
    if (const auto* launch = std::get_if<LaunchTask>(&decision)) {
      job(launch->task.job).held_since[launch->task.index] = now;
    } else if (const auto* change = std::get_if<JobChanged>(&decision)) {
      Job& changed = job(change->job);
      if (change->to == JobState::kStarting && change->from == JobState::kPending) {
        ++changed.known.starts;
        if (changed.known.started.is_never()) changed.known.started = now;
      }
      if (is_terminal(change->to)) ended(now, changed, change->to == JobState::kSucceeded);
    }
  }
  decisions_.update(canonical);
}

void TrainingMetrics::cleaned(Instant now, TaskId task) {
  Job& holder = job(task.job);
  Instant& since = holder.held_since[task.index];
  if (since.is_never()) return;
  holder.known.device_seconds +=
      (now - since).in_seconds() * static_cast<double>(holder.devices_each);
  since = Instant::never();
}

void TrainingMetrics::ended(Instant now, Job& ended_job, bool finished) {
  if (ended_job.has_ended) return;
  ended_job.has_ended = true;
  ++ended_;
  note_active(now, -1);
  TrainedJob& known = ended_job.known;
  const double life = (now - known.submitted).in_seconds();
  known.active_jobs = life > 0 ? (active_seconds_ - ended_job.active_at_submission) / life : 1;
  if (finished) known.ended = now;
}

TrainingResult TrainingMetrics::sum_up(
    const std::function<const TrainingProcess*(JobId)>& process) {
  TrainingResult result;
  result.dropped = workload_.dropped;
  result.bounds = workload_.bounds;
  for (const NodeSpec& node : workload_.cluster.nodes)
    result.devices += static_cast<std::int64_t>(node.devices.size());
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    TrainedJob& known = jobs_[i].known;
    if (const TrainingProcess* real = process(JobId(first_id_ + i))) {
      const Known<double> productive = real->productive_seconds();
      if (productive.is_known())
        known.productive_device_seconds =
            productive.value() * static_cast<double>(jobs_[i].devices_each);
    }
    const auto& alone = workload_.arrivals[i].seconds_on_share;
    if (alone && !known.ended.is_never()) {
      const double share = static_cast<double>(result.devices) / std::max(known.active_jobs, 1.0);
      const Known<double> fair = alone(share);
      if (fair.is_known() && fair.value() > 0)
        known.finish_time_ratio = (known.ended - known.submitted).in_seconds() / fair.value();
    }
    result.jobs.push_back(std::move(known));
  }
  result.decisions_sha256 = decisions_.hex();
  return result;
}

std::string training_jobs_csv(const TrainingResult& result) {
  std::string out =
      "name,submitted_seconds,started_seconds,ended_seconds,jct_seconds,starts,device_seconds,"
      "active_jobs,finish_time_ratio,deadline_met\n";
  const auto since_origin = [](Instant at) {
    return at.is_never() ? std::string() : seconds((at - Instant{}).in_seconds());
  };
  for (const TrainedJob& job : result.jobs) {
    out +=
        job.name + "," + since_origin(job.submitted) + "," + since_origin(job.started) + "," +
        since_origin(job.ended) + "," +
        (job.ended.is_never() ? std::string() : seconds((job.ended - job.submitted).in_seconds())) +
        "," + std::to_string(job.starts) + "," + seconds(job.device_seconds) + "," +
        number(job.active_jobs) + "," +
        (job.finish_time_ratio.is_known() ? number(job.finish_time_ratio.value()) : std::string()) +
        "," + (job.deadline.is_known() ? (job.met_deadline() ? "1" : "0") : "") + "\n";
  }
  return out;
}

}  // namespace gridfold
