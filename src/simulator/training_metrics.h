// What a run of a training world comes to: job completion times and what goes
// with them, from the committed decisions and the cluster's word.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "model/decision.h"
#include "model/event.h"
#include "simulator/run_metrics.h"
#include "simulator/training_workload.h"

namespace gridfold {

struct TrainedJob {
  std::string name;
  Instant submitted{};
  Instant started = Instant::never();  // its first start
  Instant ended = Instant::never();    // never(): it has not finished
  std::int32_t starts = 0;
  double device_seconds = 0;                // held by its tasks
  Known<double> productive_device_seconds;  // of these: it made progress
  double active_jobs = 0;  // mean number of jobs that had come and not ended, while it was one
  Known<double> finish_time_ratio;
  Known<Duration> deadline;  // from its submission
  bool met_deadline() const {
    return deadline.is_known() && !ended.is_never() && ended - submitted <= deadline.value();
  }
};

struct TrainingResult {
  std::vector<TrainedJob> jobs;  // in the order of submission
  std::string decisions_sha256;
  std::int64_t turns = 0;
  std::int64_t rounds = 0;    // in which the policy was asked
  std::int64_t devices = 0;   // of the cluster
  std::int64_t dropped = 0;   // jobs of the workload that can never run
  TrainingBounds bounds;      // of the workload
  double policy_seconds = 0;  // of real time, spent by the policy
  double wall_seconds = 0;

  std::int64_t finished() const;
  std::int64_t restarts() const;           // starts beyond each job's first
  DurationSummary completion() const;      // of the finished, submission to end
  Duration makespan() const;               // first submission to last end
  double held_ratio() const;               // device-time held, of the cluster's over the makespan
  Known<double> productive_ratio() const;  // likewise; unknown unless all jobs say
  std::int64_t deadlines() const;
  std::int64_t deadlines_met() const;
  // The worst and the mean; unknown where the world says nothing of any job.
  Known<double> worst_finish_time_ratio() const;
  Known<double> mean_finish_time_ratio() const;
};

class TrainingMetrics {
 public:
  explicit TrainingMetrics(const TrainingWorkload& workload);

  // The next of the workload's arrivals has this number.
  void submitted(Instant now, JobId id);
  void committed(Instant now, const Decisions& decisions);
  void cleaned(Instant now, TaskId task);
  // Whether all jobs of the workload have ended.
  bool all_ended() const { return ended_ == workload_.arrivals.size(); }
  // `process` gives a job as it really was.
  TrainingResult sum_up(const std::function<const TrainingProcess*(JobId)>& process);

 private:
  struct Job {
    TrainedJob known;
    std::vector<Instant> held_since;  // by task; never(): it holds nothing
    std::int64_t devices_each = 0;
    double active_at_submission = 0;  // see active_seconds_
    bool has_ended = false;
  };
  Job& job(JobId id) { return jobs_[id.value - first_id_]; }
  void note_active(Instant now, int change);
  void ended(Instant now, Job& job, bool finished);

  const TrainingWorkload& workload_;
  std::vector<Job> jobs_;
  std::uint64_t first_id_ = 0;
  std::size_t ended_ = 0;
  // Integral of the number of active jobs over time.
  double active_seconds_ = 0;
  std::int64_t active_ = 0;
  Instant active_since_{};
  Sha256 decisions_;
};

// One line a job, with a header line; times in seconds.
std::string training_jobs_csv(const TrainingResult& result);

}  // namespace gridfold
