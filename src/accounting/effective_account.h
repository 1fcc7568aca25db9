// Where the device-time went: told of every committed turn, it accounts each
// moment of each device to one part (accounting/parts.h). The simulator and the
// daemon use the same account.
//
//   EffectiveAccount account({.from = clock.now()});
//   control.on_committed = [&](Instant now, const Decisions& d) {
//     account.committed(now, engine, d);
//   };
//   EffectiveReport report = account.report(clock.now());
//
// Work is useful once it is safe: its job has succeeded, or it was saved. A
// save is what the job reports; else, with `checkpoint.interval`, each whole
// interval of the run; and a job with a `checkpoint` that reports nothing has
// saved all when it was asked to stop and ended by itself in time. Work of
// class `infer` is of use as it is done. Whether a device that is held was busy
// is not known here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "accounting/device_books.h"
#include "accounting/waiting_demand.h"
#include "base/id_map.h"
#include "model/decision.h"

namespace gridfold {

struct EffectiveOptions {
  // Only what lies in [from, to) is counted; what came of it may be learned later.
  Instant from{};
  Instant to = Instant::never();
  // Why jobs wait is asked so often, at most.
  Duration ask_interval = Duration::seconds(1);
};

struct EffectiveReport {
  Instant from{};
  Instant to{};
  struct OfClass {
    std::string device_class;
    EffectiveTotals totals;
  };
  std::vector<OfClass> classes;  // in the order in which they appeared
  EffectiveTotals all() const;
};

class EffectiveAccount {
 public:
  explicit EffectiveAccount(EffectiveOptions options) : options_(options) {}

  // The engine's records are those after the turn. The first call takes in all
  // that there is. A time before the last one counts as that.
  void committed(Instant now, const Engine& engine, const Decisions& decisions);
  // Until `now`; work that goes on is in progress.
  EffectiveReport report(Instant now) const;

 private:
  // What a task holds, and since when it has been working.
  struct Task {
    bool holds = false;
    bool works = false;
    bool shed = false;
    bool overhead = false;  // counted there
    TaskPhase phase = TaskPhase::kIdle;
    std::uint32_t attempt = 0;
    Allocation at;
    DeviceBooks::Taken taken;
    std::vector<ClassAmount> amounts;
    Instant since{};
  };
  // Work of an attempt that ended well in a run that goes on.
  struct Piece {
    Instant begin{};
    Instant end{};
    std::vector<ClassAmount> amounts;
  };
  struct Job {
    std::shared_ptr<const JobSpec> spec;
    bool waits = false;
    bool run_over = false;  // in this turn
    bool succeeded = false;
    Part cause = Part::kFailed;  // why the run is being stopped
    bool asked_to_stop = false;
    Instant started = Instant::never();
    Instant saved = Instant::never();
    std::vector<Task> tasks;
    std::vector<Piece> pieces;
  };
  // Amounts held by class that are not work.
  struct Overhead {
    std::int64_t starting = 0, clearing = 0, restart_wait = 0;
  };

  void begin(const Engine& engine);
  void advance(Instant now);
  void integrate(std::vector<EffectiveTotals>& totals, Instant from, Instant to) const;
  void see_change(const JobChanged& change);
  void see_ends(const JobRecord& record, Instant now);
  void see_begins(const JobRecord& record, Instant now);
  void end_work(Job& job, Task& task, const TaskRecord& record, Instant now);
  void end_run(Job& job, const JobRecord& record, Instant now);
  bool saved_when_asked(const Job& job) const;
  void count_overhead(Task& task, int sign);
  Instant safe_until(const Job& job, Instant now) const;
  void add(std::vector<EffectiveTotals>& totals, Part part, const std::vector<ClassAmount>& amounts,
           Instant begin, Instant end) const;
  void add_split(std::vector<EffectiveTotals>& totals, Instant safe, Part rest,
                 const Piece& piece) const;
  void see_queues(const Engine& engine);

  EffectiveOptions options_;
  bool begun_ = false;
  Instant now_{};
  Instant asked_at_ = Instant::never();
  DeviceBooks books_;
  WaitingDemand waiting_;
  IdMap<JobId, Job> jobs_;
  std::vector<Overhead> overhead_;          // by class
  std::vector<Limit<std::int64_t>> reach_;  // by class: what all queues may hold
  std::vector<EffectiveTotals> totals_;     // by class, until now_
};

}  // namespace gridfold
