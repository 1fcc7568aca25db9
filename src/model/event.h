// What happened: the engine's only input besides the time. Events are facts;
// the same fact told twice, late, or of an older attempt has no effect.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/node_pool.h"
#include "model/node_window.h"
#include "model/queue.h"
#include "model/record.h"
#include "model/report.h"
#include "model/solve.h"
#include "model/usage_record.h"

namespace gridfold {

// --- from the backends ---

// A node appeared, came back, or changed. Devices keep their order.
struct NodeJoined {
  NodeSpec spec;
};
// A node is out of reach. Fenced: it is certain that nothing runs there any
// more (powered off, rebooted, or past the deadline that the node itself
// enforces). Unfenced: tasks may still run; their allocations stay.
enum class Fencing : std::uint8_t { kFenced, kUnfenced };
struct NodeLost {
  std::string node;
  Fencing fencing = Fencing::kUnfenced;
};
// A node that was to boot will not; nothing of it is there.
struct NodeBootFailed {
  std::string node;
  std::string message;
};
struct TaskStarted {
  TaskId task;
  std::uint32_t attempt = 0;
};
// The task's first process has ended; its tree may still be there.
struct TaskExited {
  TaskId task;
  std::uint32_t attempt = 0;
  ExitStatus status;
};
// Nothing of the attempt is left on the node, except what `dirty_devices`
// names (bit i: device i of the node could not be cleared and is quarantined).
struct TaskCleaned {
  TaskId task;
  std::uint32_t attempt = 0;
  std::uint64_t dirty_devices = 0;
};
// The backend could not start the attempt; nothing of it is left. A fault of
// the node counts against the node (and drains it when repeated), a fault of
// the job (no such program) fails the task.
enum class LaunchFault : std::uint8_t { kNode, kJob };
struct LaunchFailed {
  TaskId task;
  std::uint32_t attempt = 0;
  std::string message;
  LaunchFault fault = LaunchFault::kNode;
};

// What the attempt said of itself since its last report, the latest of each
// kind; its backend bounds how often. A hint: it may be lost.
struct TaskReported {
  TaskId task;
  std::uint32_t attempt = 0;
  TaskReport report;
};

// --- from the executor ---

// The answer to a Solve of this engine.
struct Solved {
  std::uint64_t id = 0;
  std::shared_ptr<const SolveAnswer> answer;
};

// --- from users and operators ---

struct JobSubmitted {
  JobId id;
  std::string uid;
  std::shared_ptr<const JobSpec> spec;
  std::vector<DependencyRecord> waits_for;  // parents that have not ended yet
  bool held = false;
  // A parent ended long ago in a way that the edge does not accept: the job
  // ends at once, for this reason.
  std::optional<Reason> never;
};
struct JobCancelRequested {
  JobId job;
  std::string by;
};
struct JobHoldRequested {
  JobId job;
  std::string by;
};
struct JobReleaseRequested {
  JobId job;
  std::string by;
};
struct JobRequeueRequested {
  JobId job;
  std::string by;
};
// Other values for what a user asked for; those not named stay.
struct JobChangeRequested {
  JobId job;
  std::optional<WorkloadClass> workload_class;
  // Of its array, all of it: so many of its jobs at a time; 0: any number.
  std::optional<std::int32_t> array_limit;
  std::string by;
};
struct NodeDrainRequested {
  std::string node;
  bool drained = true;
  std::string by;
};
// One queue is so from now on.
struct QueueConfigured {
  QueueSpec spec;
};
// All queues are so from now on; those not named are removed.
struct QueuesConfigured {
  QueueConfiguration configuration;
};

// Configuration: all windows that are known now, in place of those known before.
struct WindowsPlanned {
  std::vector<NodeWindow> windows;
};

// Likewise all pools of nodes that the backend can boot. After the nodes that were
// stored.
struct PoolsPlanned {
  std::vector<NodePool> pools;
};

// --- from the store, by way of the control loop ---

// A record as it was stored, at start-up. Nodes before jobs.
struct NodeRestored {
  NodeRecord record;
};
struct JobRestored {
  JobRecord record;
};
// What a queue or tenant had held lately, as it was stored. After nodes, before
// jobs.
struct UsageRestored {
  UsageRecord usage;
};
// Jobs that have ended, in the order of their ends: for what is learned from
// them. After jobs.
struct HistoryRestored {
  std::vector<JobRecord> ended;
};
// The turn's decisions are durable.
struct TurnCommitted {
  std::uint64_t turn = 0;
};
// The turn was not stored: it and all later turns are undone, in order. The
// loop tells the facts of those turns again.
struct TurnRejected {
  std::uint64_t turn = 0;
};

using Event = std::variant<NodeJoined, NodeLost, TaskStarted, TaskExited, TaskCleaned, LaunchFailed,
                           JobSubmitted, JobCancelRequested, JobHoldRequested, JobReleaseRequested,
                           JobRequeueRequested, NodeDrainRequested, QueueConfigured,
                           QueuesConfigured, NodeRestored, JobRestored, TurnCommitted, TurnRejected,
                           Solved, TaskReported, WindowsPlanned, PoolsPlanned, NodeBootFailed,
                           UsageRestored, HistoryRestored, JobChangeRequested>;

}  // namespace gridfold
