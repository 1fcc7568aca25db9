// Watches a run through what the control loop commits and what the cluster
// reports, and sums it up at the end. It decides nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "model/decision.h"
#include "model/event.h"
#include "simulator/workload.h"

namespace gridfold {

// Held by tasks from one instant on.
struct UsagePoint {
  Instant at{};
  std::int64_t gpu_thousandths = 0;
  std::int64_t millicores = 0;
};

// Mean and percentiles of a set of durations. Empty sets have none.
struct DurationSummary {
  std::size_t count = 0;
  double mean_seconds = 0;
  double p50_seconds = 0;
  double p99_seconds = 0;
};
DurationSummary summarise(std::vector<Duration> values);

class RunMetrics {
 public:
  explicit RunMetrics(const Workload& workload, std::size_t expected_jobs = 0);

  // One job more of this shape of the workload, in the order of submission, before the turn that
  // takes it in; its number is the next after that of the one before. `counted` jobs enter the
  // waiting and completion times.
  void submitted(std::uint32_t shape, Instant at, bool counted);
  void committed(Instant now, const Decisions& decisions);
  void cleaned(Instant now, TaskId task);

  // --- So far ---
  JobId first_id() const { return JobId(first_id_); }
  // Whether the job submitted as `index`-th has this number.
  bool is_numbered(std::size_t index, JobId id) const { return id == id_of(index); }
  JobId id_of(std::size_t index) const { return JobId(first_id_ + index); }
  const UsagePoint& usage() const { return usage_; }
  std::string decisions_sha256();
  // Nodes that got a task since the last call.
  std::vector<NodeId> take_touched_nodes();

  // --- At the end ---
  struct Counts {
    std::int64_t submitted = 0, succeeded = 0, failed = 0, cancelled = 0;
    std::int64_t gave_up = 0;  // times that a job lost its place to another
  };
  Counts counts() const;
  // Of what counted jobs asked for, thousandths of GPUs: all of it, and that of
  // jobs that were cancelled before they started.
  struct Demand {
    std::int64_t offered = 0, blocked = 0;
  };
  Demand gpu_demand() const;
  std::vector<Duration> waits() const;        // of counted jobs that ran: arrival to running
  std::vector<Duration> completions() const;  // of counted jobs that ended: arrival to end
  // Mean over counted jobs that ended of (waiting + running) / max(running, 10 s),
  // at least 1; 0 when none ended.
  double bounded_slowdown() const;
  Instant last_end() const { return last_end_; }
  // Changes of usage in order of time, one an instant.
  std::span<const UsagePoint> history() const { return history_; }

 private:
  struct JobTimes {
    std::uint32_t shape = 0;
    bool counted = false;
    JobState state = JobState::kPending;
    Instant submitted{};
    Instant started = Instant::never();
    Instant ended = Instant::never();
  };
  // What one task of a role holds, and how many tasks the role has.
  struct Held {
    std::int64_t gpu_thousandths = 0;
    std::int64_t millicores = 0;
    std::uint32_t tasks = 0;
  };
  const Held& held_by(TaskId task) const;
  JobTimes& times(JobId id) { return jobs_[id.value - first_id_]; }
  void hash_decisions();
  void hold(Instant now, TaskId task, std::int64_t sign);
  void job_changed(Instant now, const JobChanged& change);

  const Workload& workload_;
  std::vector<std::vector<Held>> held_;  // by shape and role
  std::vector<JobTimes> jobs_;           // by number, from first_id_ on
  std::uint64_t first_id_ = 0;           // known from the first turn on that takes in jobs
  bool numbered_ = false;
  UsagePoint usage_;
  std::vector<UsagePoint> history_;
  std::vector<NodeId> touched_;
  std::int64_t gave_up_ = 0;
  Instant last_end_{};
  Sha256 decisions_;
  std::string canonical_;  // of decisions not yet hashed
};

// Mean of a usage over [from, to) by time.
double mean_usage(std::span<const UsagePoint> history, std::int64_t UsagePoint::*what, Instant from,
                  Instant to);
// Means over stretches of `length` > 0 one after another, from the first change
// to the last.
std::vector<double> mean_usage_by_stretch(std::span<const UsagePoint> history,
                                          std::int64_t UsagePoint::*what, Duration length);

}  // namespace gridfold
