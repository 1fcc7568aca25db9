// Repair of a gang that lost a node. It is stopped whole, for the rest of a gang
// fails or hangs without the lost tasks, and waits; for a time its places stay
// promised to it, those on the lost node as well, should that come back. While it
// stops its tasks do not count as leaving; each place becomes a claim when its
// task is gone, so nobody slips in between.
//
// Whenever room is freed it is tried again, after jobs of a higher priority and
// before fresh ones of its own: as a whole and without its claims, so that
// topology, quotas and promises to others hold as for any start, and it may go
// where it never was. Its claims only keep others out meanwhile.
#include <algorithm>

#include "engine/state.h"

namespace gridfold {

bool Engine::State::may_be_repaired(const EngineJob& job) const {
  return options.gang_repair > Duration{} && !job.by_rounds && !is_filler(job) &&
         job.record.spec->task_count() > 1 && goes_on_after_loss(job.record);
}

Instant Engine::State::repair_until(const JobRecord& record) const {
  return record.pending_since + options.gang_repair;
}

// The task has left a place that may do for its next run.
void Engine::State::keep_place(EngineJob& job, std::uint32_t index) {
  TaskRecord& task = job.record.tasks[index];
  const NodeId node = task.allocation.node;
  const bool is_clean = (cluster.record(node).dirty_devices & task.allocation.devices) == 0;
  if (!job.record.repairing || task.shed || !is_clean) return;
  task.claim = task.allocation;
  book_claim(job, index);
}

// Off the books for a trial, and back; the record still has them.
void Engine::State::lift_claims(EngineJob& job) {
  end_claiming(job);
  for (std::uint32_t i = 0; i < job.record.tasks.size(); ++i) {
    const Allocation& claim = job.record.tasks[i].claim;
    if (claim.node.is_none()) continue;
    cluster.unclaim(claim.node, {job.record.id, i});
    queues.charge(job.queue, request_of(job, i), claim, -1);
  }
}

void Engine::State::put_claims_back(EngineJob& job) {
  for (std::uint32_t i = 0; i < job.record.tasks.size(); ++i) {
    if (!job.record.tasks[i].claim.node.is_none()) book_claim(job, i);
  }
  begin_claiming(job);
}

// The node is not what it was: what was kept there may not be there any more.
void Engine::State::forget_places(NodeId node) {
  const std::set<PendingKey> all = claiming;
  for (const PendingKey& key : all) {
    EngineJob& job = jobs.at(key.job);
    if (!job.record.repairing) {
      // What has booted for it is not what its pool was to have.
      const auto& tasks = job.record.tasks;
      const bool counts_on_it =
          cluster.record(node).power == NodePower::kBooting &&
          std::any_of(tasks.begin(), tasks.end(),
                      [&](const TaskRecord& task) { return task.claim.node == node; });
      if (!counts_on_it) continue;
      touch(job);
      drop_claims(job);
      enter_queue(job);
      continue;
    }
    for (std::uint32_t i = 0; i < job.record.tasks.size(); ++i) {
      if (job.record.tasks[i].claim.node != node) continue;
      touch(job);
      unbook_claim(job, i);
      job.record.tasks[i].claim = Allocation{};
    }
    if (has_claim(job.record)) continue;
    drop_claims(job);
    enter_queue(job);
  }
}

// It has found its room; its claims are lifted.
void Engine::State::end_repair(EngineJob& job) {
  touch(job);
  for (TaskRecord& task : job.record.tasks) {
    if (!task.claim.node.is_none()) freed.push_back(task.claim.node);
    task.claim = Allocation{};
  }
  job.record.repairing = false;
  quota_freed = true;
}

void Engine::State::give_up_repair(EngineJob& job) {
  touch(job);
  drop_claims(job);
  job.record.reason =
      Reason(ReasonCode::kRepairGivenUp, {{"after_ns", (now - job.record.pending_since).ns}});
  out.list.emplace_back(
      JobChanged{job.record.id, JobState::kPending, JobState::kPending, *job.record.reason});
  enter_queue(job);
}

// --- Each cycle ---

void Engine::State::gather_repairs() {
  repairs.clear();
  if (freed.empty() && !quota_freed) return;
  for (const PendingKey& key : claiming) {
    if (jobs.at(key.job).record.repairing) repairs.insert(key);
  }
}

// Those that come before this fresh job, or all that are left.
void Engine::State::repair_ahead_of(const PendingKey* fresh) {
  while (!repairs.empty()) {
    const PendingKey key = *repairs.begin();
    if (fresh != nullptr && is_lower(key, *fresh)) return;
    repairs.erase(repairs.begin());
    EngineJob& job = jobs.at(key.job);
    if (job.record.repairing) repair(job);
  }
}

bool Engine::State::repair(EngineJob& job) {
  ++work.jobs_tried;
  const bool planned = options.backfill.mode != BackfillMode::kNone;
  // What a trial takes and gives back is no news.
  const std::set<JobId> shaken = plans.timeline.shaken();
  const bool had_gained = plans.timeline.has_gained();
  lift_claims(job);
  std::vector<JobId> aside;
  if (planned) aside = set_aside(job, Aside::kEqualAndLower);
  bool done = false;
  std::vector<std::int64_t> target;
  if (admit(job, target)) {
    look_ahead_for(job);
    if (has_slots(job)) {
      if (planned) plans.timeline.follow(now);
      const Placement placement = planned ? place_beside(job, target, nullptr) : place(job, target);
      done = !placement.tasks.empty();
      if (done) {
        end_repair(job);
        start(job, placement);
      }
    }
    if (!done && (!planned || filler_holdings > 0 || may_reclaim(job))) done = preempt_for(job);
  }
  if (!done) {
    put_claims_back(job);
    if (planned) {
      plans.timeline.follow(now);
      plans.timeline.shaken() = shaken;
      if (!had_gained) plans.timeline.forget_gain();
    }
  }
  book_again(aside);
  return done;
}

// --- Claims that others may take ---

// Lifts the claims of gangs that the job could stop if they ran.
std::vector<EngineJob*> Engine::State::lift_claims_for(const EngineJob& by) {
  std::vector<EngineJob*> lifted;
  const std::set<PendingKey> all = claiming;
  for (const PendingKey& key : all) {
    EngineJob& other = jobs.at(key.job);
    if (!other.record.repairing || !may_take_claims(by, other)) continue;
    lift_claims(other);
    lifted.push_back(&other);
  }
  return lifted;
}

bool Engine::State::may_take_claims(const EngineJob& by, const EngineJob& of) const {
  const EvictionRight right = right_to_evict(by, of);
  return right == EvictionRight::kPriority || right == EvictionRight::kReclaim;
}

// A higher job has taken its room: each keeps what is left of its claims.
void Engine::State::keep_claims_left(const std::vector<EngineJob*>& lifted) {
  Cluster::Scratch book;
  for (EngineJob* job : lifted) {
    touch(*job);
    bool any = false;
    for (std::uint32_t i = 0; i < job->record.tasks.size(); ++i) {
      Allocation& claim = job->record.tasks[i].claim;
      if (claim.node.is_none()) continue;
      cluster.planned(claim.node, book);
      if (Cluster::fits_exactly(book.room(), request_of(*job, i), claim)) {
        book_claim(*job, i);
        any = true;
      } else {
        freed.push_back(claim.node);
        claim = Allocation{};
      }
    }
    if (any) {
      begin_claiming(*job);
      continue;
    }
    job->record.repairing = false;
    set_timer(*job);
    enter_queue(*job);
  }
  quota_freed |= !lifted.empty();
}

// So many tasks of its minimum have no place kept on a node that takes work.
std::int64_t Engine::State::missing_tasks(const EngineJob& job) const {
  std::int64_t missing = 0;
  std::size_t index = 0;
  for (const Role& role : job.record.spec->roles) {
    std::int64_t kept = 0;
    for (std::int32_t i = 0; i < role.count; ++i, ++index) {
      const NodeId node = job.record.tasks[index].claim.node;
      kept += !node.is_none() && cluster.usable(node);
    }
    missing += std::max<std::int64_t>(role.min - kept, 0);
  }
  return missing;
}

Reason Engine::State::repair_reason(const EngineJob& job) const {
  std::int64_t kept = 0;
  for (const TaskRecord& task : job.record.tasks)
    kept += !task.claim.node.is_none() && cluster.usable(task.claim.node);
  return Reason(
      ReasonCode::kWaitsForRepair,
      {{"tasks", missing_tasks(job)}, {"kept", kept}, {"until_ns", repair_until(job.record).ns}});
}

}  // namespace gridfold
