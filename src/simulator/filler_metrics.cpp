#include "simulator/filler_metrics.h"

#include <algorithm>
#include <utility>

namespace gridfold {
namespace {

std::uint64_t key_of(TaskId task) { return task.job.value << 16 | task.index; }

}  // namespace

FillerMetrics::FillerMetrics(const Workload& workload, const ClusterSpec& cluster, Instant from,
                             Instant to, Duration interval, Duration cost)
    : workload_(workload), from_(from), to_(to), interval_(interval), cost_(cost) {
  for (const JobSpec& shape : workload.shapes)
    gpus_.push_back(device_thousandths(shape, "gpu") / std::max(shape.task_count(), 1));
  for (const NodeSpec& node : cluster.nodes) {
    rights_.emplace_back(node.devices.size(), 0);
    left_ += std::count_if(node.devices.begin(), node.devices.end(),
                           [](const DeviceSpec& device) { return device.device_class == "gpu"; });
  }
}

void FillerMetrics::submitted(std::uint32_t job, Instant at) {
  const std::uint32_t shape = workload_.jobs[job].shape;
  const bool filler = workload_.shapes[shape].workload_class == WorkloadClass::kFiller;
  jobs_.push_back({shape, filler, at});
}

Duration FillerMetrics::within(Instant from, Instant to) const {
  const Instant begin = std::max(from, from_);
  const Instant end = std::min(to, to_);
  return end > begin ? end - begin : Duration{};
}

// Up to now as much was left as before.
void FillerMetrics::pass(Instant now) {
  left_area_ += static_cast<double>(left_) * within(passed_, now).in_seconds();
  passed_ = now;
}

void FillerMetrics::committed(Instant now, JobId first, const Decisions& decisions) {
  const bool counts = now >= from_ && now < to_;
  for (const Decision& decision : decisions.list) {
    if (const auto* preempted = std::get_if<Preempted>(&decision)) {
      for (const JobId victim : preempted->victims)
        evictions_ += counts && jobs_[victim.value - first.value].filler;
      continue;
    }
    const auto* launch = std::get_if<LaunchTask>(&decision);
    if (launch == nullptr) continue;
    const Job& job = jobs_[launch->task.job.value - first.value];
    holdings_[key_of(launch->task)] = {launch->allocation, now};
    if (job.filler) {
      starts_ += counts;
      continue;
    }
    pass(now);
    auto& devices = rights_[launch->allocation.node.value];
    for (std::size_t d = 0; d < devices.size(); ++d) {
      if ((launch->allocation.devices >> d & 1) != 0 && devices[d]++ == 0) --left_;
    }
  }
}

void FillerMetrics::cleaned(Instant now, JobId first, TaskId task, Duration worked) {
  Job& job = jobs_[task.job.value - first.value];
  const auto found = holdings_.find(key_of(task));
  if (found == holdings_.end()) return;
  const Holding holding = found->second;
  holdings_.erase(found);
  if (!job.filler) {
    pass(now);
    auto& devices = rights_[holding.at.node.value];
    for (std::size_t d = 0; d < devices.size(); ++d) {
      if ((holding.at.devices >> d & 1) != 0 && --devices[d] == 0) ++left_;
    }
    return;
  }
  const Duration ran = now - holding.since;
  job.held = job.held + ran;
  job.last = now;
  if (ran <= Duration{}) return;
  // What was useful of the run lies evenly over it.
  const double gpus = static_cast<double>(gpus_[job.shape]);
  const double share = worked.in_seconds() / ran.in_seconds() * interval_.in_seconds() /
                       (interval_ + cost_).in_seconds();
  const double held = gpus * within(holding.since, now).in_seconds();
  held_area_ += held;
  useful_area_ += held * share;
}

FillerSummary FillerMetrics::summary(std::int64_t gpu_thousandths) {
  pass(std::max(passed_, to_));
  FillerSummary summary;
  std::vector<Duration> queueing;
  for (const Job& job : jobs_) {
    if (!job.filler || job.submitted < from_ || job.last.is_never()) continue;
    queueing.push_back(job.last - job.submitted - job.held);
  }
  summary.jobs = static_cast<std::int64_t>(queueing.size());
  summary.starts = starts_;
  summary.evictions = evictions_;
  summary.queueing = summarise(std::move(queueing));
  const double area = static_cast<double>(gpu_thousandths) * (to_ - from_).in_seconds();
  if (area <= 0) return summary;
  summary.held = held_area_ / area;
  summary.useful = useful_area_ / area;
  summary.left = left_area_ * 1000 / area;
  return summary;
}

}  // namespace gridfold
