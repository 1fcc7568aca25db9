// How a job goes from one state to the next: its launch, its stop, and its end.
#include <algorithm>
#include <utility>

#include "base/planted.h"
#include "engine/state.h"

namespace gridfold {

Reason never_met(const JobRecord& parent, DependencyCondition condition) {
  return Reason(ReasonCode::kDependencyNeverMet,
                {{"job", parent.uid}, {"condition", std::string(to_string(condition))}});
}

void Engine::State::change_state(EngineJob& job, JobState to, Reason reason) {
  const JobState from = job.record.state;
  queues.count_jobs(job.queue, is_active(to) - is_active(from),
                    (to == JobState::kPending) - (from == JobState::kPending));
  const bool was_sending = is_sending(job.record);
  job.record.state = to;
  job.record.reason = reason;
  // It begins once its places are in the record: note_expected().
  if (was_sending && !is_sending(job.record)) end_sending(job.record);
  out.list.emplace_back(JobChanged{job.record.id, from, to, std::move(reason)});
}

void Engine::State::launch(EngineJob& job, std::uint32_t index, std::int32_t feasible,
                           std::int64_t score) {
  TaskRecord& task = job.record.tasks[index];
  task.phase = TaskPhase::kHeld;
  ++task.attempt;
  task.not_before = Instant::never();
  task.started_at = Instant::never();
  if (task.down_since.is_never() && is_awaited(job, index)) {
    task.down_since = now;
    set_timer(job);
  }
  out.list.emplace_back(
      LaunchTask{{job.record.id, index}, task.attempt, task.allocation, feasible, score});
}

// Ends the current run. A cause that ends the job for good outranks one that
// would queue it again.
void Engine::State::begin_stop(EngineJob& job, StopCause cause, Reason reason) {
  JobRecord& record = job.record;
  const auto ends_job = [](StopCause c) {
    return c == StopCause::kCancel || c == StopCause::kTimeLimit || c == StopCause::kTaskFailed;
  };
  if (record.stopping != StopCause::kNone && (ends_job(record.stopping) || !ends_job(cause)))
    return;
  const bool is_repair = cause == StopCause::kNodeLost && may_be_repaired(job);
  if (!is_repair) drop_claims(job);
  leave_queue(job);
  // Only cancelling reaches a pending job: nothing to stop.
  if (record.state == JobState::kPending) return end(job, JobState::kCancelled, std::move(reason));
  record.stopping = cause;
  record.repairing = is_repair;
  change_state(job, JobState::kStopping, std::move(reason));
  for (std::uint32_t i = 0; i < record.tasks.size(); ++i) {
    TaskRecord& task = record.tasks[i];
    if (record.repairing && task.phase == TaskPhase::kCleaning && task.exit && task.exit->ok())
      task.shed = true;  // others may count on its place already
    if (task.phase == TaskPhase::kHeld || task.phase == TaskPhase::kRunning) {
      if (GRIDFOLD_PLANTED_BUG(orphan_on_cancel_during_start) && task.phase == TaskPhase::kHeld &&
          cause == StopCause::kCancel) {
        vacate(job, i);
        task.phase = TaskPhase::kIdle;
        continue;
      }
      task.phase = TaskPhase::kStopping;
      out.list.emplace_back(StopTask{{record.id, i}, task.attempt, cause});
      if (GRIDFOLD_PLANTED_BUG(release_before_death)) {
        vacate(job, i);
        task.phase = TaskPhase::kIdle;
      }
    } else if (task.phase == TaskPhase::kBackoff || task.phase == TaskPhase::kWaiting) {
      vacate(job, i);
      task.phase = TaskPhase::kIdle;
    }
    task.not_before = task.down_since = Instant::never();
    if (holds_allocation(task.phase) && is_leaving(record, task)) let_go(job, i);
  }
  set_timer(job);
  settle(job);
}

// Stops some tasks of a gang that goes on without them.
void Engine::State::shed(EngineJob& job, std::span<const std::uint32_t> tasks, Reason reason) {
  for (const std::uint32_t index : tasks) {
    TaskRecord& task = job.record.tasks[index];
    task.shed = true;
    task.phase = TaskPhase::kStopping;
    out.list.emplace_back(StopTask{{job.record.id, index}, task.attempt, StopCause::kPreempt});
    let_go(job, index);
  }
  job.record.reason = std::move(reason);
  settle(job);
}

// Moves the job on when its tasks allow it.
void Engine::State::settle(EngineJob& job) {
  JobRecord& record = job.record;
  if (record.stopping == StopCause::kNone) launch_followers(job);
  if (record.stopping == StopCause::kNone) {
    bool all_done = true;
    bool all_up = true;
    bool any = false;
    for (const TaskRecord& task : record.tasks) {
      if (task.phase == TaskPhase::kIdle) continue;  // not part of this run
      any = true;
      all_done &= task.phase == TaskPhase::kDone;
      all_up &= task.phase != TaskPhase::kHeld && task.phase != TaskPhase::kWaiting;
    }
    if (!any) return;
    if (all_done) {
      end(job, JobState::kSucceeded, Reason(ReasonCode::kCompleted));
    } else if (all_up && record.state == JobState::kStarting) {
      change_state(job, JobState::kRunning, Reason(ReasonCode::kStarted));
      record.reason.reset();
    }
    return;
  }
  for (const TaskRecord& task : record.tasks) {
    if (holds_allocation(task.phase)) return;
  }
  const StopCause cause = record.stopping;
  Reason reason = record.reason.value_or(Reason(ReasonCode::kCompleted));
  switch (cause) {
    case StopCause::kCancel: return end(job, JobState::kCancelled, std::move(reason));
    case StopCause::kTimeLimit:
    case StopCause::kTaskFailed: return end(job, JobState::kFailed, std::move(reason));
    case StopCause::kNone:
    case StopCause::kPreempt:
    case StopCause::kRequeue:
    case StopCause::kNodeLost:
    case StopCause::kResize:
    case StopCause::kRoleDown: break;
  }
  if (cause == StopCause::kNodeLost) {
    const bool goes_on = goes_on_after_loss(record);
    ++record.losses;
    if (!goes_on) return end(job, JobState::kFailed, std::move(reason));
  }
  if (cause == StopCause::kRoleDown && ++record.losses > kMaxLosses)
    return end(job, JobState::kFailed, std::move(reason));
  if (cause == StopCause::kPreempt) ++record.evictions;
  if (GRIDFOLD_PLANTED_BUG(double_count_at_requeue) && cause == StopCause::kRequeue)
    queues.charge(job.queue, *job.requests[0], record.tasks[0].allocation, +1);
  for (TaskRecord& task : record.tasks) {
    task.phase = TaskPhase::kIdle;
    task.shed = false;
    task.retries = 0;
    task.allocation = Allocation{};
    task.why = WhyHere{};
  }
  record.why_domain.reset();
  record.stopping = StopCause::kNone;
  record.communication.reset();
  record.started_at = Instant::never();
  record.pending_since = now;
  record.repairing &= has_claim(record);
  change_state(job, JobState::kPending, std::move(reason));
  set_timer(job);
  if (has_claim(record)) {
    begin_claiming(job);  // its places are waiting
    for (const TaskRecord& task : record.tasks) {
      // From now on until another time.
      if (record.repairing && !task.claim.node.is_none()) cluster.touch(task.claim.node);
    }
  } else {
    enter_queue(job);
  }
}

void Engine::State::end(EngineJob& job, JobState state, Reason reason) {
  JobRecord& record = job.record;
  leave_queue(job);
  drop_claims(job);
  if (job.by_rounds) rounds.jobs.erase(record.id);
  leave_array(job);
  for (const DependencyRecord& edge : record.waits_for)
    std::erase(children[edge.parent], record.id);
  record.waits_for.clear();
  record.ended_at = now;
  record.stopping = StopCause::kNone;
  change_state(job, state, std::move(reason));
  set_timer(job);
  ended.emplace_back(turn_number, record.id);

  // A job that never ran satisfies no edge.
  const auto it = children.find(record.id);
  if (it == children.end()) return;
  const std::vector<JobId> waiting = std::move(it->second);
  children.erase(it);
  for (const JobId id : waiting) {
    EngineJob* child = find(id);
    if (child == nullptr || is_terminal(child->record.state)) continue;
    touch(*child);
    for (auto edge = child->record.waits_for.begin(); edge != child->record.waits_for.end();) {
      if (edge->parent != record.id) {
        ++edge;
        continue;
      }
      if (!is_satisfied(edge->condition, state, record.runs)) {
        end(*child, JobState::kCancelled, never_met(record, edge->condition));
        break;
      }
      edge = child->record.waits_for.erase(edge);
    }
    if (!is_terminal(child->record.state) && child->record.waits_for.empty() && !child->record.held)
      enter_queue(*child);
  }
}

}  // namespace gridfold
