// Tries out, on a copy of the engine, what would let a waiting job start now.
//
//   StartProbe probe(*snapshot, make_policies());
//   for (const StartChange& change : probe.changes_for(job)) …   // the smallest first
//
// Each change is tried as such: the copy takes it in, decides, and is set back.
// Amounts are found by bisection, so they are the largest that will do where a
// smaller one does whenever a larger one does. One thread at a time.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "control/engine_fork.h"
#include "control/start_change.h"

namespace gridfold {

class StartProbe {
 public:
  // Of pending jobs whose room is promised already (claims) nothing is asked.
  StartProbe(std::shared_ptr<const EngineSnapshot> snapshot, MakePolicies make_policies);

  // Empty when no single change would do, or there is no such job that waits.
  std::vector<StartChange> changes_for(JobId job);
  // Steps of the engine so far.
  std::int64_t steps() const { return steps_; }

 private:
  // Of a change: the job starts, or is promised the room of these.
  struct Outcome {
    std::vector<JobId> victims;
    std::vector<Reason> reasons;  // why not, where it does not
    bool starts = false;
  };
  void copy_engine();
  Outcome try_out(const StartChange& change, const JobRecord& job);
  bool starts(StartChange& change, const JobRecord& job);
  // Sets `to` to the largest multiple of `unit` from `least` up to below `from`
  // with which the job starts; false when there is none.
  bool bisect(StartChange& change, const JobRecord& job, std::int64_t least, std::int64_t unit);

  using Found = std::vector<StartChange>;
  void add_tasks(const JobRecord& job, Found& found);
  void add_devices(const JobRecord& job, Found& found);
  void add_amounts(const JobRecord& job, Found& found);
  void add_domains(const JobRecord& job, Found& found);
  void add_models(const JobRecord& job, Found& found);
  void add_time_limit(const JobRecord& job, Found& found);
  void add_queue_limits(const JobRecord& job, Found& found);
  void add_priority(const JobRecord& job, Found& found);

  std::shared_ptr<const EngineSnapshot> snapshot_;
  MakePolicies make_policies_;
  std::optional<Engine> engine_;
  JobId unused_ = JobId(0);  // beyond all jobs
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
