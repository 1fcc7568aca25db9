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

Reason never_met(const JobRecord& parent, DependencyCondition condition) {
  return Reason(ReasonCode::kDependencyNeverMet,
                {{"job", parent.uid}, {"condition", std::string(to_string(condition))}});
}

// Whether jobs of the queue wait elsewhere, are charged elsewhere or end at
// another time when it changes so: not where only amounts differ.
bool moves_jobs(const std::optional<QueueSpec>& before, const std::optional<QueueSpec>& after) {
  if (!before || !after) return true;
  QueueSpec same = *after;
  same.open = before->open;
  same.limit = before->limit;
  same.guaranteed = before->guaranteed;
  same.weight = before->weight;
  if (same.each_tenant.empty() == before->each_tenant.empty())
    same.each_tenant = before->each_tenant;
  return same != *before;
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
            bool learned = false;
            for (std::size_t r = 0; r < job.requests.size(); ++r) {
              for (std::int32_t i = 0; i < e.spec->roles[r].count; ++i)
                learned |= policy->observe(*job.requests[r]);
            }
            if (learned) forget_scores();
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
            attach(job);
          },
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
          [&](const TurnCommitted& e) { commit_until(e.turn); },
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

// As it was before the turn, which may change it more than once.
void Engine::State::save_queue(const std::string& name) {
  const auto is_it = [&](const QueueChange& saved) { return saved.first == name; };
  if (std::none_of(turn->queues.begin(), turn->queues.end(), is_it))
    turn->queues.emplace_back(name, queues.configured(name));
}

// Changes whatever differs between what there is and this configuration.
void Engine::State::take_over(const QueueConfiguration& configuration) {
  std::map<std::string, QueueSpec> named;
  for (const QueueSpec& spec : configuration.queues) named[spec.name] = spec;
  std::vector<QueueChange> changes;
  for (const QueueSpec& known : queues.specs()) {
    const auto it = named.find(known.name);
    if (it == named.end()) {
      changes.emplace_back(known.name, std::nullopt);
    } else {
      if (it->second != known) changes.emplace_back(known.name, it->second);
      named.erase(it);
    }
  }
  for (auto& [name, spec] : named) changes.emplace_back(name, std::move(spec));
  for (const QueueChange& change : changes) save_queue(change.first);
  if (!queues.shares_as(configuration)) {
    if (!turn->sharing) turn->sharing = queues.sharing();
    queues.share_as(configuration);
  }
  if (!changes.empty()) configure_queues(changes);
}

// Takes over the queues' new configurations. What follows from them for jobs,
// their places in the order and where they are charged, is made anew: for the
// jobs of queues of which more than amounts has changed, or for all when queues
// begin or cease to take turns. One look at all jobs serves all changes.
void Engine::State::configure_queues(std::span<const QueueChange> changes) {
  std::set<QueueId> anew;
  for (const auto& [name, spec] : changes) {
    const QueueId queue = queues.intern(name);
    if (moves_jobs(queues.configured(name), spec)) anew.insert(queue);
  }
  // Whether jobs of it, and of those beneath it, may use some models only decides
  // who goes by rounds.
  const auto limits_models = [](const std::optional<QueueSpec>& spec) {
    return spec && (names_models(spec->limit.devices) || names_models(spec->each_tenant.devices));
  };
  const bool all =
      queues.takes_turns_with(changes) != queues.takes_turns() ||
      std::any_of(changes.begin(), changes.end(), [&](const QueueChange& change) {
        return limits_models(queues.configured(change.first)) != limits_models(change.second);
      });
  std::vector<EngineJob*> moved;
  if (all || !anew.empty()) {
    for (EngineJob* job : jobs.in_order()) {
      if (all || anew.contains(queues.queue_of(job->queue))) moved.push_back(job);
    }
  }
  for (EngineJob* job : moved) {
    if (job->record.reservation) touch(*job);
    detach(*job);
  }
  for (const auto& [name, spec] : changes) spec ? queues.configure(*spec) : queues.remove(name);
  recent_shapes.clear();
  for (EngineJob* job : moved) attach(*job);
  regroup();
  quota_freed = true;
}

void Engine::State::begin_claiming(EngineJob& job) {
  if (claiming.insert(key_of(job)).second) queues.count_claiming(job.queue, +1);
}

void Engine::State::end_claiming(EngineJob& job) {
  if (!claiming.empty() && claiming.erase(key_of(job)) > 0) queues.count_claiming(job.queue, -1);
}

// --- Allocations ---

void Engine::State::hold(EngineJob& job, std::uint32_t index) {
  const TaskRecord& task = job.record.tasks[index];
  const Request& request = request_of(job, index);
  cluster.take(task.allocation, {job.record.id, index}, request,
               is_leaving(job.record, task) ? Cluster::Staying::kLeaves : Cluster::Staying::kStays);
  queues.charge(job.queue, request, task.allocation, +1);
  if (is_filler(job)) ++filler_holdings;
}

void Engine::State::release(EngineJob& job, std::uint32_t index) {
  const TaskRecord& task = job.record.tasks[index];
  cluster.give_back(task.allocation.node, {job.record.id, index});
  queues.charge(job.queue, request_of(job, index), task.allocation, -1);
  if (is_filler(job)) --filler_holdings;
  if (!pools.empty()) pools.left(task.allocation.node, now);
  freed.push_back(task.allocation.node);
  quota_freed = true;
}

// The holding will go. That alone may leave more for others: where room is
// promised, what was promised from the free part can now come from this one;
// and together with the fillers' it may be what others need to evict them.
void Engine::State::vacate(EngineJob& job, std::uint32_t index) {
  const Request& request = request_of(job, index);
  if (job.by_rounds) job.record.executed_ns += executed_ns(job, index);
  release(job, index);
  keep_place(job, index);
  if (policy->departed(request)) forget_scores();
}

void Engine::State::let_go(EngineJob& job, std::uint32_t index) {
  const NodeId node = job.record.tasks[index].allocation.node;
  cluster.set_staying(node, {job.record.id, index}, Cluster::Staying::kLeaves);
  if (!cluster.claims(node).empty() || filler_holdings > 0 || queues.any_preempts())
    freed.push_back(node);
}

void Engine::State::book_claim(EngineJob& job, std::uint32_t index) {
  const Request& request = request_of(job, index);
  const Allocation& claim = job.record.tasks[index].claim;
  cluster.claim(claim, {job.record.id, index}, request);
  queues.charge(job.queue, request, claim, +1);
}

void Engine::State::unbook_claim(EngineJob& job, std::uint32_t index) {
  const Allocation& claim = job.record.tasks[index].claim;
  cluster.unclaim(claim.node, {job.record.id, index});
  queues.charge(job.queue, request_of(job, index), claim, -1);
  if (!pools.empty()) pools.left(claim.node, now);
  freed.push_back(claim.node);
  quota_freed = true;
}

// The job is no longer promised any room, and is not in the queue either.
void Engine::State::drop_claims(EngineJob& job) {
  end_claiming(job);
  for (std::uint32_t i = 0; i < job.record.tasks.size(); ++i) {
    Allocation& claim = job.record.tasks[i].claim;
    if (claim.node.is_none()) continue;
    unbook_claim(job, i);
    claim = Allocation{};
  }
  if (std::exchange(job.record.repairing, false)) set_timer(job);
}

// --- Jobs ---

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
