// What the engine wants: values, each with its reason. Orders (LaunchTask,
// StopTask) go to the backend once the turn is committed; the rest is the
// record of what was decided and why.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/record.h"
#include "model/solve.h"

namespace gridfold {

struct LaunchTask {
  TaskId task;
  std::uint32_t attempt = 0;
  Allocation allocation;
  // Why here: so many nodes could have held the task, and this one's score
  // under the policy was the best.
  std::int32_t feasible_nodes = 0;
  std::int64_t score = 0;
};
struct StopTask {
  TaskId task;
  std::uint32_t attempt = 0;
  StopCause cause = StopCause::kNone;
};
// The job's state changed, for this reason.
struct JobChanged {
  JobId job;
  JobState from = JobState::kPending;
  JobState to = JobState::kPending;
  Reason reason;
};
// `job` will start where `victims` are being stopped; their room is earmarked.
struct Preempted {
  JobId job;
  std::vector<JobId> victims;
};
struct NodeDrained {
  NodeId node;
  Reason reason;
};

// The backend is to boot the node, for this job; none: so many are kept on.
struct BootNode {
  NodeId node;
  JobId job;
};
// It is to be switched off.
enum class ReleaseCause : std::uint8_t { kIdle, kBootTimeout };
struct ReleaseNode {
  NodeId node;
  ReleaseCause cause = ReleaseCause::kIdle;
};

using Decision =
    std::variant<LaunchTask, StopTask, JobChanged, Preempted, NodeDrained, BootNode, ReleaseNode>;

// One turn's outcome.
struct Decisions {
  std::uint64_t turn = 0;
  std::vector<Decision> list;
  // Records that differ from what is stored; sorted, each once.
  std::vector<JobId> changed_jobs;
  std::vector<NodeId> changed_nodes;
  // To be computed; no part of what is stored.
  std::vector<Solve> solves;
  // Of the changed jobs those that the turn took in; sorted.
  std::vector<JobId> new_jobs;
  // Of the changed jobs those that ask for something else than is stored; each once.
  std::vector<JobId> changed_specs;

  // Empties it and keeps its memory.
  void clear() {
    turn = 0;
    list.clear();
    changed_jobs.clear();
    changed_nodes.clear();
    new_jobs.clear();
    changed_specs.clear();
    solves.clear();
  }
  bool is_new(JobId job) const { return std::binary_search(new_jobs.begin(), new_jobs.end(), job); }
};

// A canonical byte form, appended to `out`: equal decisions give equal bytes
// on every machine. The decision hash is SHA-256 over these.
void append_canonical(const Decision& decision, std::string& out);

}  // namespace gridfold
