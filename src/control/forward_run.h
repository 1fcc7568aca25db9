// What will happen if nothing new comes in: the same engine, forked from the
// live state, run forward in virtual time. Tasks start at once, run as long as
// RunOutcomes says, and succeed; nodes stay as they are. One run serves all jobs.
//
//   const ForwardRun run(snapshot, outcomes, make_policies, options);
//   const auto answer = run.run();          // pure, on any thread
//   for (const ForwardStart& start : answer->starts) …
//
// Bounded by events, never by time: whatever is not reached by then is not in
// the answer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "control/engine_fork.h"
#include "control/run_outcomes.h"
#include "model/solve.h"

namespace gridfold {

struct ForwardOptions {
  // Events of the engine: starts, ends, stops, timers.
  std::int64_t max_events = 1'000'000;
  // Of jobs about whose run time nothing is known.
  Duration default_run = kDefaultRun;
  // The run goes on until every job that can start has started; with kToTheEnd
  // until nothing happens any more.
  enum class Until : std::uint8_t { kAllStarted, kToTheEnd } until = Until::kAllStarted;
  // Nothing is looked at that comes later than this after the snapshot.
  Limit<Duration> horizon;
};

// A job that was pending has started.
struct ForwardStart {
  JobId job;
  Instant at{};
  friend bool operator==(const ForwardStart&, const ForwardStart&) = default;
};

// From `at` on so much is held by tasks: thousandths of devices of all classes,
// and thousandths of cores.
struct ForwardUsage {
  Instant at{};
  std::int64_t devices = 0;
  std::int64_t cpu = 0;
};

struct ForwardAnswer final : SolveAnswer {
  Instant from{};
  Revision revision = 0;             // of the snapshot
  Instant reached{};                 // the last time that was looked at
  bool complete = false;             // nothing was left out for want of events
  std::int64_t events = 0;           // taken
  std::vector<ForwardStart> starts;  // in order of job
  std::vector<JobId> evicted;        // in order of time; one may be so again
  std::vector<ForwardUsage> usage;   // in order of time, one an instant

  // never(): it does not start within the horizon.
  Instant start_of(JobId job) const;
};

class ForwardRun final : public SolveProblem {
 public:
  ForwardRun(std::shared_ptr<const EngineSnapshot> snapshot, RunOutcomes outcomes,
             MakePolicies make_policies, ForwardOptions options)
      : snapshot_(std::move(snapshot)),
        outcomes_(std::move(outcomes)),
        make_policies_(std::move(make_policies)),
        options_(options) {}

  // As if it used all its events, each of which costs the engine some
  // microseconds.
  std::int64_t steps() const override { return options_.max_events * 10'000; }
  std::shared_ptr<const SolveAnswer> solve() const override { return run(); }
  // `more` comes after the snapshot's jobs, in the first step.
  std::shared_ptr<const ForwardAnswer> run(std::vector<Event> more = {}) const;

 private:
  std::shared_ptr<const EngineSnapshot> snapshot_;
  RunOutcomes outcomes_;
  MakePolicies make_policies_;
  ForwardOptions options_;
};

}  // namespace gridfold
