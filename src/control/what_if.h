// What would be otherwise if something were changed: two forward runs from the
// same state, one as it is and one with the changes made at once.
//
//   const auto problem = WhatIfProblem::make(snapshot, outcomes, make_policies, {}, question);
//   if (!problem) return problem.error();          // names the field of the question
//   const auto answer = (*problem)->answer();      // pure, on any thread
//   answer->now.mean_wait, answer->changed.mean_wait
//
// Nothing new comes in but what the question submits, and jobs run as long as
// RunOutcomes says. Bounded by events as a forward run is: where a run does not
// reach the horizon, both are judged up to where the shorter has come.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "control/forward_run.h"

namespace gridfold {

// Nodes that are there at once, each like the one that is named.
struct AddNodes {
  std::int64_t count = 0;
  std::string like;
};
// What runs there goes on; nothing new starts.
struct DrainNode {
  std::string node;
};
// Of a class of devices in thousandths, of "cpu" in thousandths of a core, of
// "memory" in bytes, of "running_jobs" in jobs.
struct SetQueueLimit {
  std::string queue;
  std::string resource;
  Limit<std::int64_t> amount;
};
// All at once, in this order.
struct SubmitJobs {
  std::vector<std::shared_ptr<const JobSpec>> specs;
};
// The policy of this name with its default settings.
struct UsePolicy {
  std::string policy;
};
using WhatIfChange = std::variant<AddNodes, DrainNode, SetQueueLimit, SubmitJobs, UsePolicy>;

inline constexpr std::int64_t kMostAddedNodes = 10'000;
inline constexpr std::size_t kMostWhatIfChanges = 1'000;
inline constexpr std::size_t kMostWhatIfJobs = 1'000;  // submitted by one change
inline constexpr Duration kDefaultHorizon = Duration::hours(24);
inline constexpr Duration kLongestHorizon = Duration::hours(24 * 366);

struct WhatIfQuestion {
  std::vector<WhatIfChange> changes;  // in this order; at least one
  Duration horizon = kDefaultHorizon;
};

// How one of the two runs went. Waits are those of the jobs that wait now, from
// now on; one that does not start counts with the whole horizon, so that both
// sides speak of the same jobs.
struct WhatIfSide {
  bool complete = false;  // it reached the horizon
  std::int64_t starting = 0;
  Duration mean_wait{};
  Duration p95_wait{};
  std::int64_t devices = 0;  // thousandths, of nodes that are up or that tasks hold
  // Held part of the devices' time up to the horizon, in millionths; empty when
  // there are no devices.
  std::optional<std::int64_t> utilisation;
  std::vector<JobId> evicted;  // in order of time; one may be so again
};

// A job that the question submits.
struct WhatIfStart {
  JobId job;
  std::string name;
  Instant at = Instant::never();  // never(): not by the horizon
};

struct WhatIfAnswer final : SolveAnswer {
  std::shared_ptr<const EngineSnapshot> snapshot;
  Duration horizon{};        // that both sides are judged by
  std::int64_t waiting = 0;  // jobs that wait now, without those that are held
  WhatIfSide now;
  WhatIfSide changed;
  std::vector<WhatIfStart> submitted;  // in order of the question
};

class WhatIfProblem final : public SolveProblem {
 public:
  // Errors name the field: "changes[1].add_nodes.like".
  static Result<std::shared_ptr<const WhatIfProblem>> make(
      std::shared_ptr<const EngineSnapshot> snapshot, RunOutcomes outcomes,
      MakePolicies make_policies, ForwardOptions options, const WhatIfQuestion& question);

  std::int64_t steps() const override { return now_.steps() + changed_.steps(); }
  std::shared_ptr<const SolveAnswer> solve() const override { return answer(); }
  std::shared_ptr<const WhatIfAnswer> answer() const;

 private:
  // What the changes come to.
  struct Plan {
    std::vector<Event> events;
    std::vector<WhatIfStart> submitted;  // not yet looked for
    std::int64_t added_devices = 0;      // thousandths
    MakePolicies make_policies;
  };
  class Planner;

  WhatIfProblem(std::shared_ptr<const EngineSnapshot> snapshot, const RunOutcomes& outcomes,
                const MakePolicies& make_policies, const ForwardOptions& options, Plan plan);

  std::shared_ptr<const EngineSnapshot> snapshot_;  // shared with both runs
  Duration horizon_;
  Plan plan_;
  ForwardRun now_;
  ForwardRun changed_;
};

}  // namespace gridfold
