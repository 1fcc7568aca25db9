// What became of the fillers of a run, and of the devices that work with rights
// to its place left to them. Within a stretch of time, the counted one.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/decision.h"
#include "simulator/run_metrics.h"
#include "simulator/workload.h"

namespace gridfold {

struct FillerSummary {
  std::int64_t jobs = 0;       // that came in the stretch
  std::int64_t starts = 0;     // in it
  std::int64_t evictions = 0;  // likewise
  DurationSummary queueing;    // of those jobs: pending, before and after evictions
  // Of the cluster's GPUs, mean over the stretch.
  double held = 0;  // by fillers
  double useful =
      0;            // of that, work that did not have to be done again, without saves and restarts
  double left = 0;  // whole GPUs on which no work with rights to its place is
  std::int64_t delayed = 0;  // counted jobs with rights to their place that waited
};

class FillerMetrics {
 public:
  // `interval` and `cost` of saving as in FillerSettings.
  FillerMetrics(const Workload& workload, const ClusterSpec& cluster, Instant from, Instant to,
                Duration interval, Duration cost);

  // As RunMetrics: each job once, in order; then every launch and every end of a
  // task. `worked`: of the job's duration, since that launch.
  void submitted(std::uint32_t job, Instant at);
  void committed(Instant now, JobId first, const Decisions& decisions);
  void cleaned(Instant now, JobId first, TaskId task, Duration worked);

  FillerSummary summary(std::int64_t gpu_thousandths);

 private:
  struct Job {
    std::uint32_t shape = 0;
    bool filler = false;
    Instant submitted{};
    Duration held{};
    Instant last = Instant::never();  // left its place
  };
  struct Holding {
    Allocation at;
    Instant since{};
  };
  Duration within(Instant from, Instant to) const;
  void pass(Instant now);

  const Workload& workload_;
  std::vector<std::int64_t> gpus_;  // by shape, thousandths a task
  Instant from_, to_;
  Duration interval_, cost_;
  std::vector<Job> jobs_;
  std::unordered_map<std::uint64_t, Holding> holdings_;  // by job and task
  std::vector<std::vector<std::int32_t>> rights_;        // by node and GPU: tasks with rights there
  std::int64_t left_ = 0;                                // GPUs without any
  Instant passed_{};
  double left_area_ = 0;  // GPUs times seconds
  double held_area_ = 0;  // thousandths times seconds, as the next
  double useful_area_ = 0;
  std::int64_t starts_ = 0, evictions_ = 0;
};

}  // namespace gridfold
