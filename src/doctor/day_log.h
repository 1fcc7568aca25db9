// Notes what happens, so that it can be let happen again: told of every
// committed turn and every report of a job.
//
//   DayLog log(options);
//   control.on_committed = [&](Instant now, const Decisions& d) { log.committed(now, engine, d); };
//   log.reported(event);                        // as it comes in from the backend
//   Day day = log.day(engine, clock.now());
//
// Bounded: what is older than the window is forgotten, and so are the oldest
// jobs where there are too many; the day then begins later. Kept in memory: a
// daemon that was restarted knows what happened since. A value.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "doctor/day.h"
#include "doctor/run_lengths.h"
#include "model/event.h"

namespace gridfold {

struct DayLogOptions {
  EngineOptions engine;  // those of the engine that decides
  MakePolicies make_policies;
  bool learned_run_times = false;
  Duration window = Duration::hours(24);
  std::size_t max_jobs = 50'000;
};

class DayLog {
 public:
  explicit DayLog(DayLogOptions options) : options_(std::move(options)) {}

  // The engine's records are those after the turn. The first call takes in all
  // that there is.
  void committed(Instant now, const Engine& engine, const Decisions& decisions);
  void reported(const TaskReported& report);

  // The last `window` before `now`, with the engine's queues and windows as they
  // are. A run that has not ended is guessed: the mean
  // of the longer ones of its name, or of all.
  // Queues and windows are those that the engine has now.
  Day day(const Engine& engine, Instant now) const;
  // Another part of what is remembered, as seen at `now`: with what became of its
  // jobs after it.
  Day day(const Engine& engine, Instant from, Instant to, Instant now) const;

 private:
  struct Share {
    std::int64_t sum = 0, count = 0;  // millionths
    void add(std::int64_t share);
    Known<std::int64_t> mean() const;
  };
  struct Job {
    std::shared_ptr<const JobSpec> spec;
    Instant since = Instant::never();  // could start
    Instant begun = Instant::never();  // the run under way
    Instant ended = Instant::never();
    Duration worked{};  // in runs before that, and kept
    bool started = false;
    Limit<Duration> limit;             // of its run, its own or its queue's
    Known<std::int64_t> devices_used;  // the most that any task said
    Share input, network;
  };
  // By name, and "" for all.
  using Lengths = std::map<std::string, RunLengths>;

  void see_node(const NodeRecord& node, Instant now);
  void see_job(const JobRecord& record, const Engine& engine, Instant now);
  void see_change(const JobChanged& change, Instant now);
  void forget(Instant now);
  static Duration ran(const Job& job, Instant now);
  static bool has_ended(const Job& job, Instant now);
  DayJob noted(const Job& job, const Day& day, Instant now, const Lengths& lengths) const;
  Lengths lengths(Instant now) const;

  DayLogOptions options_;
  bool begun_ = false;
  Instant since_{};
  std::map<JobId, Job> jobs_;
  std::map<NodeId, std::deque<DayNode>> nodes_;  // the first: as it was at since_, or before
};

}  // namespace gridfold
