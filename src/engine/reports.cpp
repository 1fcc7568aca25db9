// What running jobs say of themselves. Hints for estimates: a report changes no
// decision that was made, makes no turn that must be stored, and reaches the
// store with the next one that is.
#include <algorithm>

#include "engine/state.h"

namespace gridfold {
namespace {

// Sizes remembered of a job; the oldest make room.
constexpr std::size_t kMaxSizes = 256;

bool same_size(const StepMeasurement& a, const StepMeasurement& b) {
  return a.nodes == b.nodes && a.tasks == b.tasks && a.device_model == b.device_model &&
         a.local_batch == b.local_batch && a.accumulation == b.accumulation;
}

}  // namespace

void Engine::State::take_report(EngineJob& job, std::uint32_t task, const TaskReport& report) {
  static_cast<void>(task);  // whichever task knows speaks for the job
  if (job.by_rounds) remember_report(job, report);
  if (!report.saved) return;
  JobRecord& record = job.record;
  record.saved_at = now;
  if (report.save_time) record.save_time = *report.save_time;
  if (record.stopping == StopCause::kPreempt) {
    // It was asked to: nothing is lost after all.
    if (!report.save_time) record.save_time = now - record.evicted_at;
    record.evicted_work = {};
  }
  if (std::find(reported_jobs.begin(), reported_jobs.end(), record.id) == reported_jobs.end())
    reported_jobs.push_back(record.id);
}

// What a step took is told of the size that the job has now.
void Engine::State::remember_report(EngineJob& job, const TaskReport& report) {
  if (report.training) {
    job.history = report.training;
    return;
  }
  auto history = job.history ? std::make_shared<TrainingHistory>(*job.history)
                             : std::make_shared<TrainingHistory>();
  if (report.step) history->progress_steps = static_cast<double>(*report.step);
  if (report.batch) history->batch = *report.batch;
  const auto& declared = job.record.spec->training;
  if (report.noise_thousandths && declared && declared->initial_batch > 0) {
    history->gradient_square = 1;
    history->gradient_variance = static_cast<double>(*report.noise_thousandths) / 1000 /
                                 static_cast<double>(declared->initial_batch);
  }
  if (report.step_time) {
    StepMeasurement measured;
    std::set<NodeId> nodes;
    for (const TaskRecord& task : job.record.tasks) {
      if (!holds_allocation(task.phase)) continue;
      ++measured.tasks;
      nodes.insert(task.allocation.node);
    }
    if (nodes.empty()) return;
    measured.nodes = static_cast<std::int32_t>(nodes.size());
    const auto& devices = cluster.record(*nodes.begin()).spec.devices;
    if (!devices.empty()) measured.device_model = devices.front().model;
    measured.local_batch = history->batch / measured.tasks;
    measured.step = *report.step_time;
    measured.sync = report.sync_time.value_or(Duration{});
    auto& steps = history->steps;
    const auto known = std::find_if(steps.begin(), steps.end(), [&](const StepMeasurement& other) {
      return same_size(other, measured);
    });
    if (known != steps.end()) {
      *known = std::move(measured);
    } else {
      if (steps.size() == kMaxSizes) steps.erase(steps.begin());
      steps.push_back(std::move(measured));
    }
  }
  job.history = std::move(history);
}

}  // namespace gridfold
