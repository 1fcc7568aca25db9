#include "control/reconcile.h"

#include <map>
#include <set>

namespace gridfold {
namespace {

using Seen = std::map<std::pair<TaskId, std::uint32_t>, const ObservedTask*>;

// What the engine missed of an attempt that both sides know.
void tell(const TaskRecord& task, const ObservedTask& seen, Reconciliation& out) {
  const bool ended_here = task.phase == TaskPhase::kCleaning || !holds_allocation(task.phase);
  switch (seen.phase) {
    case ObservedTask::Phase::kStarting: break;
    case ObservedTask::Phase::kRunning:
      if (task.phase == TaskPhase::kHeld)
        out.events.emplace_back(TaskStarted{seen.task, seen.attempt});
      break;
    case ObservedTask::Phase::kExited:
    case ObservedTask::Phase::kCleaned:
      if (!ended_here) out.events.emplace_back(TaskExited{seen.task, seen.attempt, seen.status});
      if (seen.phase == ObservedTask::Phase::kCleaned)
        out.events.emplace_back(TaskCleaned{seen.task, seen.attempt, seen.dirty_devices});
      break;
    case ObservedTask::Phase::kLaunchFailed:
      if (!ended_here)
        out.events.emplace_back(
            LaunchFailed{seen.task, seen.attempt, seen.launch_message, seen.launch_fault});
      break;
  }
  const bool still_there =
      seen.phase == ObservedTask::Phase::kStarting || seen.phase == ObservedTask::Phase::kRunning;
  if (task.phase == TaskPhase::kStopping && still_there)
    out.stop.push_back({seen.task, seen.attempt});
}

// What to make of an attempt that the backend does not know (any more).
void miss(TaskId id, const TaskRecord& task, HeldOrders held, Reconciliation& out) {
  if (task.phase == TaskPhase::kHeld && held == HeldOrders::kMayBeLost) {
    out.launch.push_back({id, task.attempt});
    return;
  }
  switch (task.phase) {
    case TaskPhase::kHeld:
    case TaskPhase::kRunning:
    case TaskPhase::kStopping:
      out.events.emplace_back(TaskExited{id, task.attempt, ExitStatus{0, 0, false, true}});
      out.events.emplace_back(TaskCleaned{id, task.attempt});
      break;
    case TaskPhase::kCleaning: out.events.emplace_back(TaskCleaned{id, task.attempt}); break;
    case TaskPhase::kIdle:
    case TaskPhase::kBackoff:
    case TaskPhase::kWaiting:
    case TaskPhase::kDone: break;
  }
}

std::set<NodeId> nodes_held(std::span<const JobRecord* const> jobs) {
  std::set<NodeId> held;
  for (const JobRecord* job : jobs) {
    for (const TaskRecord& task : job->tasks) {
      if (holds_allocation(task.phase)) held.insert(task.allocation.node);
    }
  }
  return held;
}

}  // namespace

Reconciliation reconcile(std::span<const JobRecord* const> jobs, std::span<const NodeRecord> nodes,
                         const Observation& observed, HeldOrders held) {
  Reconciliation out;
  std::set<std::string_view> reachable;
  std::map<std::string_view, const NodeRecord*> known;
  for (const NodeRecord& node : nodes) known[node.spec.name] = &node;
  for (const NodeSpec& spec : observed.nodes) {
    reachable.insert(spec.name);
    const auto it = known.find(spec.name);
    if (it == known.end() || !it->second->up || it->second->spec != spec)
      out.events.emplace_back(NodeJoined{spec});
  }
  // The word that a node is off may have been lost, or told while no daemon
  // listened: as long as something is held there it is told again.
  const std::set<std::string_view> fenced(observed.fenced.begin(), observed.fenced.end());
  const std::set<NodeId> held_nodes = nodes_held(jobs);
  for (const NodeRecord& node : nodes) {
    if (fenced.count(node.spec.name) != 0) {
      const bool is_on = !node.pool.empty() &&
                         (node.power == NodePower::kOn || node.power == NodePower::kReleasing);
      if (node.up || is_on || held_nodes.count(node.id) != 0)
        out.events.emplace_back(NodeLost{node.spec.name, Fencing::kFenced});
    } else if (node.up && reachable.count(node.spec.name) == 0) {
      out.events.emplace_back(NodeLost{node.spec.name, Fencing::kUnfenced});
    }
  }

  // Boots are ordered again after a start only: later the word that one has failed
  // may be on its way, and one that is lost is given up in time.
  for (const NodeRecord& node : nodes) {
    if (held == HeldOrders::kMayBeLost && node.power == NodePower::kBooting &&
        reachable.count(node.spec.name) == 0)
      out.boot.push_back(node.id);
    if (node.power == NodePower::kReleasing && fenced.count(node.spec.name) == 0)
      out.release.push_back(node.id);
  }

  Seen seen;
  for (const ObservedTask& task : observed.tasks) seen[{task.task, task.attempt}] = &task;
  for (const JobRecord* job : jobs) {
    for (std::uint32_t i = 0; i < job->tasks.size(); ++i) {
      const TaskRecord& task = job->tasks[i];
      if (!holds_allocation(task.phase)) continue;
      if (reachable.count(nodes[task.allocation.node.value].spec.name) == 0) continue;
      const TaskId id{job->id, i};
      const auto it = seen.find({id, task.attempt});
      if (it == seen.end()) {
        miss(id, task, held, out);
      } else {
        // In these phases the attempt has ended and is on record.
        if (task.phase == TaskPhase::kBackoff || task.phase == TaskPhase::kWaiting) continue;
        tell(task, *it->second, out);
        seen.erase(it);
      }
    }
  }
  // Strangers: an older attempt, or one whose job is not (or no longer) ours.
  for (const auto& [key, task] : seen) {
    if (task->phase == ObservedTask::Phase::kCleaned ||
        task->phase == ObservedTask::Phase::kLaunchFailed) {
      out.forget.push_back({key.first, key.second});
    } else {
      out.kill.push_back({key.first, key.second, task->node, "KILL", Duration{}});
    }
  }
  return out;
}

}  // namespace gridfold
