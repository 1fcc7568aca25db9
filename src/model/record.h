// What the scheduler knows of jobs, tasks and nodes: the truth that is stored.
// Everything else in the engine (free room, queue usage, parked groups,
// timers) is derived from these records and can be rebuilt from them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/job.h"
#include "model/node.h"
#include "model/reason.h"
#include "model/reservation.h"
#include "model/why_here.h"

namespace gridfold {

enum class JobState : std::uint8_t {
  kPending,
  kStarting,
  kRunning,
  kStopping,
  kSucceeded,
  kFailed,
  kCancelled,
};
// Lower-case words, as stored and shown: "pending", "running", …
std::string_view to_string(JobState state);
std::optional<JobState> parse_job_state(std::string_view text);
constexpr bool is_terminal(JobState s) { return s >= JobState::kSucceeded; }

// A task's phase and, with it, its allocation's state:
//   FREE -> HELD -> RUNNING -> CLEANING -> FREE
// Only the backend's word that nothing is left frees an allocation.
enum class TaskPhase : std::uint8_t {
  kIdle,      // holds nothing
  kHeld,      // holds its allocation; the launch is ordered or about to be
  kRunning,   // the backend said it runs
  kStopping,  // still runs; its stop is ordered
  kCleaning,  // the process has ended; the backend still clears up
  kBackoff,   // clean, keeps its allocation, waits to be restarted in place
  kDone,      // ended for good; holds nothing
  kWaiting,   // holds its allocation; is launched once the roles it starts after run
};
std::string_view to_string(TaskPhase phase);
std::optional<TaskPhase> parse_task_phase(std::string_view text);
constexpr bool holds_allocation(TaskPhase p) {
  return p == TaskPhase::kHeld || p == TaskPhase::kRunning || p == TaskPhase::kStopping ||
         p == TaskPhase::kCleaning || p == TaskPhase::kBackoff || p == TaskPhase::kWaiting;
}

// How a process ended. Exactly one of the two is meaningful: `signal` when it
// is not 0, else `code`.
struct ExitStatus {
  std::int32_t code = 0;
  std::int32_t signal = 0;
  bool out_of_memory = false;
  bool lost = false;  // nobody saw it end (node lost, shim lost)
  bool ok() const { return code == 0 && signal == 0 && !lost && !out_of_memory; }
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

inline constexpr std::int32_t kNoPartition = -1;

// What a task holds of its node. Bit i of `devices` is the node's device i; of
// each, `share` and `device_memory` are held. Where the task asked for a
// partition, `start` is the slot of its device at which that begins.
struct Allocation {
  NodeId node = NodeId::none();
  std::uint64_t devices = 0;
  std::int32_t start = kNoPartition;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

struct TaskRecord {
  TaskPhase phase = TaskPhase::kIdle;
  // Counts every launch of this task, from 1: the fencing epoch. A report or
  // an order of another attempt has no effect.
  std::uint32_t attempt = 0;
  std::int32_t retries = 0;               // restarts in place since the job last started
  Allocation allocation;                  // meaningful while holds_allocation(phase)
  std::optional<ExitStatus> exit;         // of the last attempt that ended
  Instant not_before = Instant::never();  // kBackoff: when to restart
  Instant started_at = Instant::never();  // of the current attempt
  // Of a role that others start after: since when it does not run, in this run.
  Instant down_since = Instant::never();
  // Leaves this run and gives its place up: it was stopped alone while its gang
  // goes on, or had ended before its gang lost a node.
  bool shed = false;
  // Claimed room: where this task will start once its victims have left, or the
  // place that it keeps while its gang is repaired.
  Allocation claim;
  WhyHere why;  // of the allocation; stays when the task has ended there
  friend bool operator==(const TaskRecord&, const TaskRecord&) = default;
};

// Why a running job is being stopped, and so what becomes of it then.
enum class StopCause : std::uint8_t {
  kNone,
  kCancel,
  kPreempt,
  kRequeue,
  kTimeLimit,
  kTaskFailed,
  kNodeLost,
  kResize,    // it goes on with other places, or waits for the next round
  kRoleDown,  // a role that others start after did not run for too long
};
std::string_view to_string(StopCause cause);
std::optional<StopCause> parse_stop_cause(std::string_view text);

// A dependency as the engine sees it: the parent by number, and its outcome
// once that is known.
struct DependencyRecord {
  JobId parent;
  DependencyCondition condition = DependencyCondition::kOk;
  friend bool operator==(const DependencyRecord&, const DependencyRecord&) = default;
};

// Whether a parent that ended in `state` after so many runs satisfies the edge.
// A job that never ran satisfies none.
constexpr bool is_satisfied(DependencyCondition condition, JobState state, std::int32_t runs) {
  if (runs == 0) return false;
  switch (condition) {
    case DependencyCondition::kOk: return state == JobState::kSucceeded;
    case DependencyCondition::kAny: return true;
    case DependencyCondition::kFailed: return state == JobState::kFailed;
  }
  return false;
}

// One step of a job at its places, as the model of communication expects it.
struct StepEstimate {
  Duration communication;  // what of it is not hidden behind the computing
  Duration step;
  friend bool operator==(const StepEstimate&, const StepEstimate&) = default;
};

// What was expected when the job was placed, with the traffic of that moment.
struct ExpectedCommunication {
  StepEstimate here;
  LinkKind slowest = LinkKind::kNvlink;   // bounds the longest exchange
  std::optional<StepEstimate> otherwise;  // the fastest of the other places considered
  friend bool operator==(const ExpectedCommunication&, const ExpectedCommunication&) = default;
};

struct JobRecord {
  JobId id;
  std::string uid;                      // UUIDv7, the public id
  std::shared_ptr<const JobSpec> spec;  // shared by the record's copies: immutable
  JobState state = JobState::kPending;
  StopCause stopping = StopCause::kNone;
  bool held = false;
  // It lost a node. While it stops its tasks keep their places, and while it
  // waits claims do, for a time (EngineOptions::gang_repair).
  bool repairing = false;
  Instant submitted_at{};
  Instant started_at = Instant::never();  // first task of the current run
  Instant ended_at = Instant::never();
  Duration waited{};  // pending time over all runs, up to the last start
  Instant pending_since{};
  std::int32_t evictions = 0;             // times it was preempted
  Instant evicted_at = Instant::never();  // the last of them
  Duration evicted_work{};                // how much of its run time that one lost
  Instant saved_at = Instant::never();    // its work up to then is safe, it said
  std::optional<Duration> save_time;      // one save, as learned from its last
  std::int32_t losses = 0;                // runs lost through no fault of its own
  std::int32_t runs = 0;                  // times the job was started
  std::int64_t executed_ns = 0;           // of a job of the rounds: device-ns of its ended runs
  // So many jobs of its array at a time, as it is now; 0: any number.
  std::int32_t array_limit = 0;
  // Room that is promised to it while it waits.
  std::optional<Reservation> reservation;
  // For how long it is expected to run, for planning; 0: its limit is all that
  // is known. A run that lasts longer makes it longer.
  Duration expected_run{};
  std::optional<Reason> reason;             // why it is in this state, where there is more to say
  std::vector<DependencyRecord> waits_for;  // edges not yet satisfied
  // Why its tasks lie in the domain they do; null where they were placed one by
  // one. Shared by the record's copies.
  std::shared_ptr<const WhyDomain> why_domain;
  std::vector<TaskRecord> tasks;
  // Of the current run; empty where the job does not say what it exchanges or
  // the links of its nodes are not known.
  std::optional<ExpectedCommunication> communication;
};

// Of a node that its backend can boot and switch off; all others are on.
enum class NodePower : std::uint8_t {
  kOn,
  kOff,
  kBooting,    // ordered; from then on until it joins
  kReleasing,  // takes no work any more; until its backend says that it is off
};
std::string_view to_string(NodePower power);
std::optional<NodePower> parse_node_power(std::string_view text);

// A node as stored: its spec is the backend's word, the rest is ours.
struct NodeRecord {
  NodeId id = NodeId::none();
  NodeSpec spec;
  bool up = false;
  bool drained = false;
  std::optional<Reason> reason;     // why drained or down
  std::uint64_t dirty_devices = 0;  // quarantined: clean-up failed
  // Of a node that belongs to a pool (node_pool.h).
  std::string pool;  // empty: it is always there, or out of reach
  NodePower power = NodePower::kOn;
  Instant power_since{};
  std::int32_t boot_failures = 0;  // in a row
};

}  // namespace gridfold
