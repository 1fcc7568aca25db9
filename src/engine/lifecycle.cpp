// What events and timers do to jobs, tasks and nodes: the state machine.
//
//   job   Pending -> Starting -> Running -> (Stopping -> Pending | ...) -> Succeeded | Failed |
//   Cancelled task  idle -> held -> running -> (stopping) -> cleaning -> done | idle | backoff ->
//   held
//
// A fact that does not fit the record (an older attempt, a phase gone by) has
// no effect: it was told late or twice.
#include <algorithm>
#include <cassert>
#include <utility>

#include "base/planted.h"
#include "engine/lost_work.h"
#include "engine/state.h"

namespace gridfold {
namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

bool retries_on(const Retry& retry, RetryCause cause) {
  return std::find(retry.on.begin(), retry.on.end(), cause) != retry.on.end();
}

Reason task_failure(std::uint32_t task, const ExitStatus& status) {
  const std::int64_t index = task;
  if (status.out_of_memory) return Reason(ReasonCode::kOutOfMemory, {{"task", index}});
  if (status.signal != 0) {
    return Reason(ReasonCode::kTaskFailed,
                  {{"task", index}, {"signal", std::int64_t{status.signal}}});
  }
  return Reason(ReasonCode::kTaskFailed,
                {{"task", index}, {"exit_code", std::int64_t{status.code}}});
}

Duration backoff_of(const Retry& retry, std::int32_t retries, Duration longest) {
  Duration wait = retry.backoff;
  for (std::int32_t i = 1; i < retries && wait < longest; ++i) wait = wait + wait;
  return std::min(wait, longest);
}

}  // namespace

void Engine::State::apply(const Event& event) {
  // The task's record, if the fact is of its present attempt and in one of the
  // phases named.
  const auto live = [&](TaskId id, std::uint32_t attempt,
                        std::initializer_list<TaskPhase> phases) -> EngineJob* {
    EngineJob* job = find(id.job);
    if (job == nullptr || id.index >= job->record.tasks.size()) return nullptr;
    const TaskRecord& task = job->record.tasks[id.index];
    const bool other = GRIDFOLD_PLANTED_BUG(older_epoch_accepted) ? task.attempt < attempt
                                                                  : task.attempt != attempt;
    if (other) return nullptr;
    return std::find(phases.begin(), phases.end(), task.phase) == phases.end() ? nullptr : job;
  };

  std::visit(
      Overloaded{
          [&](const NodeJoined& e) {
            const auto known = cluster.find(e.spec.name);
            NodeRecord record;
            if (known) {
              record = cluster.record(*known);
              if (record.up && record.spec == e.spec) return;
              touch_node(*known);
              if (record.spec != e.spec) forget_places(*known);
              if (record.reason && record.reason->code == ReasonCode::kNodeLost)
                record.reason.reset();
            }
            record.spec = e.spec;
            record.up = true;
            if (record.power == NodePower::kOff || record.power == NodePower::kBooting) {
              record.power = NodePower::kOn;
              record.power_since = now;
              record.boot_failures = 0;
            }
            const NodeId id = put_node(record);
            pools.note(id, now);
            windows.nodes_changed();
            if (!known) turn->nodes.emplace_back(id, std::nullopt);
            freed.push_back(id);
          },
          [&](const NodeLost& e) {
            const auto id = cluster.find(e.node);
            if (!id) return;
            NodeRecord record = cluster.record(*id);
            // A node of a pool that is off for certain can be booted again.
            const bool is_off =
                e.fencing == Fencing::kFenced && !record.pool.empty() &&
                (record.power == NodePower::kOn || record.power == NodePower::kReleasing);
            if (record.up || is_off) {
              touch_node(*id);
              record.up = false;
              if (!record.drained && !is_off)
                record.reason = Reason(ReasonCode::kNodeLost, {{"node", e.node}});
              cluster.set_status(record);
              if (is_off) {
                set_power(*id, NodePower::kOff, record.boot_failures);
                freed.push_back(*id);
              }
            }
            if (e.fencing == Fencing::kUnfenced && !GRIDFOLD_PLANTED_BUG(requeue_when_unreachable))
              return;
            // Nothing runs there any more: what was held is free, and its jobs
            // start again elsewhere.
            std::vector<TaskId> lost;
            for (const Holding& holding : cluster.holdings(*id)) lost.push_back(holding.task());
            std::sort(lost.begin(), lost.end());
            for (const TaskId task : lost) {
              EngineJob* job = find(task.job);
              if (job != nullptr && holds_allocation(job->record.tasks[task.index].phase))
                task_lost(*job, task.index, Reason(ReasonCode::kNodeLost, {{"node", e.node}}));
            }
          },
          [&](const NodeBootFailed& e) {
            const auto id = cluster.find(e.node);
            if (id && cluster.record(*id).power == NodePower::kBooting) boot_failed(*id);
          },
          [&](const TaskStarted& e) {
            EngineJob* job = live(e.task, e.attempt, {TaskPhase::kHeld});
            if (GRIDFOLD_PLANTED_BUG(late_message_revives) && job == nullptr)
              job = live(e.task, e.attempt, {TaskPhase::kCleaning});
            if (job == nullptr) return;
            touch(*job);
            TaskRecord& task = job->record.tasks[e.task.index];
            task.phase = TaskPhase::kRunning;
            task.started_at = now;
            if (!std::exchange(task.down_since, Instant::never()).is_never()) set_timer(*job);
            if (GRIDFOLD_PLANTED_BUG(quota_charged_after_start))
              queues.charge(job->queue, request_of(*job, e.task.index), task.allocation, +1);
            settle(*job);
          },
          [&](const TaskExited& e) {
            EngineJob* job = live(e.task, e.attempt,
                                  {TaskPhase::kHeld, TaskPhase::kRunning, TaskPhase::kStopping});
            if (job == nullptr) return;
            touch(*job);
            TaskRecord& task = job->record.tasks[e.task.index];
            task.exit = e.status;
            task.phase = TaskPhase::kCleaning;
            if (task.started_at.is_never()) task.started_at = now;
            if (job->record.stopping != StopCause::kNone || task.shed) return;
            const Retry& retry = job->record.spec->retry;
            if (e.status.ok()) {
              task.down_since = Instant::never();
              let_go(*job, e.task.index);
            } else if (e.status.lost) {
              begin_stop(*job, StopCause::kNodeLost,
                         Reason(ReasonCode::kNodeLost,
                                {{"node", cluster.record(task.allocation.node).spec.name}}));
            } else if (task.retries < retry.max &&
                       retries_on(retry, e.status.out_of_memory ? RetryCause::kOutOfMemory
                                                                : RetryCause::kFailure)) {
              ++task.retries;
              if (task.down_since.is_never() && is_awaited(*job, e.task.index)) {
                task.down_since = now;
                set_timer(*job);
              }
              task.not_before = now + backoff_of(retry, task.retries, options.max_backoff);
            } else {
              begin_stop(*job, StopCause::kTaskFailed, task_failure(e.task.index, e.status));
            }
          },
          [&](const TaskCleaned& e) {
            EngineJob* job = live(e.task, e.attempt, {TaskPhase::kCleaning});
            if (job == nullptr) return;
            touch(*job);
            TaskRecord& task = job->record.tasks[e.task.index];
            if (e.dirty_devices != 0) {
              const NodeId node = task.allocation.node;
              touch_node(node);
              NodeRecord record = cluster.record(node);
              record.dirty_devices |= e.dirty_devices;
              cluster.set_status(record);
              // It cannot restart in place on a device that is not clean.
              if (!task.not_before.is_never()) {
                begin_stop(*job, StopCause::kRequeue,
                           Reason(ReasonCode::kDeviceDirty,
                                  {{"node", record.spec.name},
                                   {"devices", static_cast<std::int64_t>(e.dirty_devices)}}));
              }
            }
            if (job->record.stopping == StopCause::kNone && !task.not_before.is_never()) {
              task.phase = TaskPhase::kBackoff;
              set_timer(*job);
              return;
            }
            vacate(*job, e.task.index);
            task.phase = job->record.stopping == StopCause::kNone && !task.shed ? TaskPhase::kDone
                                                                                : TaskPhase::kIdle;
            task.shed = false;
            settle(*job);
          },
          [&](const LaunchFailed& e) {
            EngineJob* job = live(e.task, e.attempt,
                                  {TaskPhase::kHeld, TaskPhase::kRunning, TaskPhase::kStopping});
            if (job == nullptr) return;
            touch(*job);
            TaskRecord& task = job->record.tasks[e.task.index];
            const NodeId node = task.allocation.node;
            vacate(*job, e.task.index);
            task.phase = TaskPhase::kIdle;
            const Reason reason(ReasonCode::kLaunchFailed,
                                {{"task", std::int64_t{e.task.index}},
                                 {"node", cluster.record(node).spec.name},
                                 {"message", e.message}});
            if (e.fault == LaunchFault::kNode) node_fault(node, e.message);
            const bool was_shed = std::exchange(task.shed, false);
            if (job->record.stopping == StopCause::kNone && !was_shed) {
              begin_stop(
                  *job,
                  e.fault == LaunchFault::kNode ? StopCause::kRequeue : StopCause::kTaskFailed,
                  reason);
            } else {
              settle(*job);
            }
          },
          [&](const JobSubmitted& e) {
            if (jobs.has(e.id)) return;
            EngineJob& job = jobs.add(e.id);
            JobRecord& record = job.record;
            record.id = e.id;
            record.uid = e.uid;
            record.spec = e.spec;
            record.held = e.held;
            record.array_limit = e.spec->array_limit;
            record.submitted_at = now;
            record.pending_since = now;
            // A parent that stood before it in this step may have ended already.
            std::optional<Reason> never = e.never;
            for (const DependencyRecord& edge : e.waits_for) {
              const EngineJob* parent = find(edge.parent);
              if (parent == nullptr || !is_terminal(parent->record.state)) {
                record.waits_for.push_back(edge);
              } else if (!is_satisfied(edge.condition, parent->record.state, parent->record.runs)) {
                never = never_met(parent->record, edge.condition);
              }
            }
            record.tasks.resize(static_cast<std::size_t>(e.spec->task_count()));
            predict_run_time(record);
            turn->jobs.add(e.id);
            job.saved_in_turn = turn_number;
            attach(job);
            if (tell_policy(*e.spec, job.shape->requests)) forget_scores();
            out.list.emplace_back(JobChanged{e.id, JobState::kPending, JobState::kPending,
                                             Reason(ReasonCode::kNotYetConsidered)});
            if (never) end(job, JobState::kCancelled, std::move(*never));
          },
          [&](const JobCancelRequested& e) {
            EngineJob* job = find(e.job);
            if (job == nullptr || is_terminal(job->record.state)) return;
            touch(*job);
            begin_stop(*job, StopCause::kCancel, Reason(ReasonCode::kCancelledBy, {{"by", e.by}}));
          },
          [&](const JobHoldRequested& e) {
            EngineJob* job = find(e.job);
            if (job == nullptr || job->record.state != JobState::kPending || job->record.held)
              return;
            touch(*job);
            drop_claims(*job);
            leave_queue(*job);
            job->record.held = true;
            job->record.reason = Reason(ReasonCode::kHeld, {{"by", e.by}});
          },
          [&](const JobReleaseRequested& e) {
            EngineJob* job = find(e.job);
            if (job == nullptr || !job->record.held) return;
            touch(*job);
            job->record.held = false;
            job->record.reason.reset();
            if (job->record.waits_for.empty()) enter_queue(*job);
          },
          [&](const JobRequeueRequested& e) {
            EngineJob* job = find(e.job);
            if (job == nullptr || is_terminal(job->record.state) ||
                job->record.state == JobState::kPending)
              return;
            touch(*job);
            begin_stop(*job, StopCause::kRequeue, Reason(ReasonCode::kRequeued, {{"by", e.by}}));
          },
          [&](const JobChangeRequested& e) { change_job(e); },
          [&](const NodeDrainRequested& e) {
            const auto id = cluster.find(e.node);
            if (!id || cluster.record(*id).drained == e.drained) return;
            touch_node(*id);
            NodeRecord record = cluster.record(*id);
            record.drained = e.drained;
            record.reason.reset();
            if (e.drained) {
              record.reason = Reason(ReasonCode::kDrainedBy, {{"by", e.by}});
              out.list.emplace_back(NodeDrained{*id, *record.reason});
            } else {
              record.dirty_devices = 0;  // the operator's word that it is fit again
            }
            cluster.set_status(record);
            freed.push_back(*id);
          },
          [&](const QueueConfigured& e) {
            const QueueChange change{e.spec.name, e.spec};
            save_queue(e.spec.name);
            configure_queues({&change, 1});
          },
          [&](const QueuesConfigured& e) { take_over(e.configuration); },
          [&](const NodeRestored& e) {
            NodeRecord record = e.record;
            record.up = false;  // until its backend says otherwise
            cluster.put(record);
            windows.nodes_changed();
          },
          [&](const JobRestored& e) {
            if (jobs.has(e.record.id)) return;
            EngineJob& job = jobs.add(e.record.id);
            job.record = e.record;
            queues.set_charging(QueueTree::Charging::kRestored);
            attach(job);
          },
          [&](const UsageRestored& e) { queues.restore_usage(e.usage); },
          [&](const HistoryRestored& e) { learn_from(e.ended); },
          [&](const Solved& e) {
            // Of this engine's last questions; told again after a rejected turn.
            if (e.id == 0) return;
            if (e.id == awaited_plan) {
              awaited_plan = 0;
              if (policy->adopt(*e.answer)) forget_scores();
            } else if (e.id == awaited_run_times) {
              awaited_run_times = 0;
              run_times->adopt(*e.answer);
            } else if (e.id == rounds.awaited) {
              rounds.awaited = 0;
              rounds.adopted = e.id;
              rounds.adopted_in = turn_number;
              adopt_round(static_cast<const RoundAnswer&>(*e.answer));
            }
          },
          [&](const TaskReported& e) {
            EngineJob* job = live(e.task, e.attempt, {TaskPhase::kRunning, TaskPhase::kStopping});
            if (job != nullptr) take_report(*job, e.task.index, e.report);
          },
          [&](const WindowsPlanned& e) { plan_windows(e.windows); },
          [&](const PoolsPlanned& e) { plan_pools(e.pools); },
          [&](const TurnCommitted& e) {
            commit_until(e.turn);
            queues.usage_is_stored();
          },
          [&](const TurnRejected& e) { undo_from(e.turn); },
      },
      event);
}

void Engine::State::fire_timers() {
  while (!timers.empty() && timers.begin()->first <= now) {
    EngineJob& job = jobs.at(timers.begin()->second);
    touch(job);
    JobRecord& record = job.record;
    if (record.state == JobState::kPending) {
      if (record.repairing) give_up_repair(job);
      set_timer(job);
      continue;
    }
    const std::optional<Duration> limit = run_limit(job);
    if (limit && record.started_at + *limit <= now) {
      begin_stop(job, StopCause::kTimeLimit,
                 Reason(ReasonCode::kTimeLimit, {{"limit_ns", limit->ns}}));
    } else if (!stop_if_role_is_down(job)) {
      for (std::uint32_t i = 0; i < record.tasks.size(); ++i) {
        TaskRecord& task = record.tasks[i];
        if (task.phase != TaskPhase::kBackoff || task.not_before > now) continue;
        if (!cluster.record(task.allocation.node).up) {
          begin_stop(job, StopCause::kNodeLost,
                     Reason(ReasonCode::kNodeLost,
                            {{"node", cluster.record(task.allocation.node).spec.name}}));
          break;
        }
        launch(job, i, 0, 0);
      }
    }
    // No longer safe: those who may stop it look again.
    if (safe_until(record, options.eviction) <= now && record.evictions > 0) {
      for (const TaskRecord& task : record.tasks) {
        if (holds_allocation(task.phase)) freed.push_back(task.allocation.node);
      }
    }
    set_timer(job);
  }
}

// The task is gone without a word of its own; nothing is left of it.
void Engine::State::task_lost(EngineJob& job, std::uint32_t index, Reason reason) {
  touch(job);
  TaskRecord& task = job.record.tasks[index];
  if (task.phase != TaskPhase::kCleaning && task.phase != TaskPhase::kWaiting)
    task.exit = ExitStatus{0, 0, false, true};
  const bool was_over = task.phase == TaskPhase::kCleaning && task.not_before.is_never();
  const bool stopping = job.record.stopping != StopCause::kNone || task.shed;
  if (!stopping && !was_over) job.record.repairing = may_be_repaired(job);
  vacate(job, index);
  task.not_before = Instant::never();
  task.phase = was_over && !stopping ? TaskPhase::kDone : TaskPhase::kIdle;
  task.shed = false;
  if (stopping || was_over) {
    settle(job);
  } else {
    begin_stop(job, StopCause::kNodeLost, std::move(reason));
  }
}

// A node that fails to launch again and again is drained, with the reason.
void Engine::State::node_fault(NodeId node, const std::string& message) {
  std::deque<Instant>& times = launch_failures[node];
  times.push_back(now);
  while (!times.empty() && now - times.front() > options.launch_failure_window) times.pop_front();
  if (static_cast<std::int32_t>(times.size()) < options.launch_failures_to_drain) return;
  if (cluster.record(node).drained) return;
  touch_node(node);
  NodeRecord record = cluster.record(node);
  record.drained = true;
  record.reason =
      Reason(ReasonCode::kLaunchFailures, {{"count", static_cast<std::int64_t>(times.size())},
                                           {"window_ns", options.launch_failure_window.ns},
                                           {"message", message}});
  cluster.set_status(record);
  out.list.emplace_back(NodeDrained{node, *record.reason});
  times.clear();
}

}  // namespace gridfold
