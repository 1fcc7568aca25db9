// Room is taken from those who must give way (eviction_rights.h). Whom to stop
// and where the job then fits is one question (victims.h); the answer is tried
// out on the books, with the placer that places everything else, and taken
// whole: room that the victims leave is earmarked until the job starts, so
// nobody slips in between.
#include <algorithm>
#include <set>

#include "base/planted.h"
#include "engine/absence.h"
#include "engine/lost_work.h"
#include "engine/state.h"

namespace gridfold {

bool Engine::State::may_evict(const EngineJob& job) const {
  return !is_filler(job) && (filler_holdings > 0 || may_evict_by_priority(job) || may_reclaim(job));
}

// Candidates and what leaves already, as of now.
void Engine::State::gather_victims(const std::function<bool(const EngineJob&)>& may_stop,
                                   Stop stop) {
  pool.leaving.clear();
  pool.candidates.clear();
  pool.groups.clear();
  leavers.clear();
  // By what the nodes hold, not by the jobs: most of those may be waiting.
  holders.clear();
  for (std::uint32_t n = 0; n < cluster.size(); ++n) {
    for (const Holding& holding : cluster.holdings(NodeId(n))) holders.push_back(holding.job);
  }
  std::sort(holders.begin(), holders.end());
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  for (const JobId id : holders) {
    EngineJob* job = &jobs.at(id);
    const JobRecord& record = job->record;
    if (record.stopping == StopCause::kNone && may_stop(*job)) add_candidates(*job, stop);
    for (std::uint32_t i = 0; i < record.tasks.size(); ++i) {
      const TaskRecord& task = record.tasks[i];
      if (holds_allocation(task.phase) && is_leaving(record, task))
        leavers.push_back({{record.id, i}, task.allocation, &request_of(*job, i)});
    }
  }
}

// The job as a whole, and each of its tasks that its gang could do without.
void Engine::State::add_candidates(const EngineJob& job, Stop stop) {
  const JobRecord& record = job.record;
  const auto first = static_cast<std::uint32_t>(pool.leaving.size());
  std::int64_t weight = 0;
  std::vector<VictimCandidate> surplus;
  std::uint32_t index = 0;
  for (std::size_t r = 0; r < record.spec->roles.size(); ++r) {
    const Role& role = record.spec->roles[r];
    const std::int64_t each = weight_of(role.each);
    const auto group = static_cast<std::int32_t>(pool.groups.size());
    const std::size_t surplus_before = surplus.size();
    // Rounds decide themselves how large their jobs are.
    const bool may_shed = role.min < role.count && stop == Stop::kToWait && !job.by_rounds;
    std::int32_t running = 0;
    for (std::int32_t k = 0; k < role.count; ++k, ++index) {
      const TaskRecord& task = record.tasks[index];
      if (!holds_allocation(task.phase) || is_leaving(record, task)) continue;
      weight += each;
      const auto at = static_cast<std::uint32_t>(pool.leaving.size());
      pool.leaving.push_back({task.allocation.node, index, job.requests[r], task.allocation.devices,
                              task.allocation.start});
      if (task.phase != TaskPhase::kHeld && task.phase != TaskPhase::kRunning) continue;
      ++running;
      if (may_shed && role.multiple_of == 1)
        surplus.push_back({record.id, lost_by_shedding(each, options.eviction),
                           record.spec->priority, at, at + 1, group});
    }
    if (running > role.min && surplus.size() > surplus_before) {
      pool.groups.push_back(running - role.min);
    } else {
      surplus.resize(surplus_before);
    }
  }
  const auto last = static_cast<std::uint32_t>(pool.leaving.size());
  if (first == last) return;
  const bool by_age =
      stop == Stop::kToWait && is_filler(job) && options.fillers.victims == VictimOrder::kYoungest;
  const std::int64_t lost = by_age ? lost_by_age(record, now)
                            : stop == Stop::kToWait
                                ? lost_by_stopping(record, weight, now, options.eviction)
                                : lost_by_moving(record, weight, now, options.eviction);
  pool.candidates.push_back({record.id, lost, record.spec->priority, first, last});
  pool.candidates.insert(pool.candidates.end(), surplus.begin(), surplus.end());
}

std::optional<VictimAnswer> Engine::State::find_victims(
    const EngineJob& job, std::function<bool(std::span<const std::uint32_t>)> accepts) {
  std::vector<GangPart> parts;
  const auto& roles = job.record.spec->roles;
  for (std::size_t r = 0; r < roles.size(); ++r)
    parts.push_back({job.requests[r], roles[r].min, roles[r].min});
  std::vector<NodeId> nodes;
  for (const Leaver& leaver : leavers) nodes.push_back(leaver.at.node);
  return victim_search.find({parts, &job.record.spec->topology, &pool, nodes,
                             options.eviction.search_steps, std::move(accepts)});
}

// What leaves with these candidates; each task once.
std::vector<Engine::State::Leaver> Engine::State::leaving_with(
    std::span<const std::uint32_t> victims) const {
  std::vector<Leaver> list;
  // A set that is tried out may have a job in it and a part of that job besides.
  std::set<TaskId> known;
  for (const std::uint32_t victim : victims) {
    const JobId job = pool.candidates[victim].job;
    for (const Leaving& one : pool.leaving_of(victim)) {
      const TaskId task{job, one.task};
      if (known.insert(task).second)
        list.push_back({task, {one.node, one.devices, one.start}, one.request});
    }
  }
  return list;
}

// Where the job's minimum would go without these victims and without whatever
// leaves already; nothing when it would not fit, or break a promise. The books
// stay as they are.
std::vector<Engine::State::Placed> Engine::State::place_without(
    EngineJob& job, std::span<const std::uint32_t> victims) {
  const Absence leaving(*this, leavers, Cluster::Staying::kLeaves);
  const Absence doomed(*this, leaving_with(victims), Cluster::Staying::kStays);
  std::vector<std::int64_t> least;
  for (const Role& role : job.record.spec->roles) least.push_back(role.min);
  std::vector<Placed> placed = options.backfill.mode == BackfillMode::kNone
                                   ? place(job, least).tasks
                                   : place_within_promises(job, least, nullptr, kVictimsTake).tasks;
  for (auto it = placed.rbegin(); it != placed.rend(); ++it)
    cluster.give_back(it->allocation.node, {job.record.id, it->task});
  return placed;
}

// What gangs under repair keep is taken before anybody is stopped.
bool Engine::State::preempt_for(EngineJob& job) {
  if (!may_evict(job)) return false;
  look_ahead_for(job);
  const std::vector<EngineJob*> lifted = lift_claims_for(job);
  bool done = false;
  std::vector<std::int64_t> target;
  if (!lifted.empty() && has_slots(job) && admit(job, target)) {
    const Placement placement = options.backfill.mode == BackfillMode::kNone
                                    ? place(job, target)
                                    : place_beside(job, target, nullptr);
    done = !placement.tasks.empty();
    if (done) {
      if (job.record.repairing) end_repair(job);
      start(job, placement);
    }
  }
  if (!done) done = evict_for(job);
  if (done) {
    keep_claims_left(lifted);
  } else {
    for (EngineJob* other : lifted) put_claims_back(*other);
  }
  return done;
}

bool Engine::State::evict_for(EngineJob& job) {
  look_ahead_for(job, kVictimsTake);
  gather_victims(
      [&](const EngineJob& other) {
        const EvictionRight right = right_to_evict(job, other);
        return right != EvictionRight::kNone && right != EvictionRight::kNotYet;
      },
      Stop::kToWait);
  Accepts keeps;  // promises, if there are any
  if (!plans.reserved.empty())
    keeps = [&](std::span<const std::uint32_t> victims) {
      return !place_without(job, victims).empty();
    };
  auto found = find_victims_within_rights(job, keeps);
  if (!found) return false;
  if (GRIDFOLD_PLANTED_BUG(bystander_evicted)) {
    for (std::uint32_t other = 0; other < pool.candidates.size(); ++other) {
      const auto& victims = found->victims;
      const bool fresh = std::none_of(victims.begin(), victims.end(), [&](std::uint32_t victim) {
        return pool.candidates[victim].job == pool.candidates[other].job;
      });
      if (fresh && pool.candidates[other].group < 0) {
        found->victims.push_back(other);
        break;
      }
    }
  }
  const std::vector<Placed> placed = place_without(job, found->victims);
  if (placed.empty()) return false;
  std::set<JobId> taken_back;  // told before the job's claim is counted
  for (const std::uint32_t victim : found->victims) {
    const JobId id = pool.candidates[victim].job;
    if (right_to_evict(job, jobs.at(id)) == EvictionRight::kReclaim) taken_back.insert(id);
  }
  claim_places(job, placed);
  std::vector<JobId> victims;
  for (const std::uint32_t victim : found->victims) victims.push_back(pool.candidates[victim].job);
  std::sort(victims.begin(), victims.end());
  victims.erase(std::unique(victims.begin(), victims.end()), victims.end());
  out.list.emplace_back(Preempted{job.record.id, victims});
  stop_victims(job, found->victims, taken_back);
  return true;
}

// That the job could start in the place of others, were those not safe for now.
std::optional<Reason> Engine::State::safe_victims(const EngineJob& job) {
  if (!may_evict_by_priority(job) && !may_reclaim(job)) return std::nullopt;
  bool any = false;
  gather_victims(
      [&](const EngineJob& other) {
        const EvictionRight right = right_to_evict(job, other);
        any |= right == EvictionRight::kNotYet;
        return right != EvictionRight::kNone;
      },
      Stop::kToWait);
  if (!any) return std::nullopt;
  look_ahead_for(job, kVictimsTake);
  const auto found = find_victims_within_rights(job, {});
  windows.close_before(now);
  if (!found) return std::nullopt;
  std::string names;
  Instant until{};
  JobId last = JobId::none();
  for (const std::uint32_t number : found->victims) {
    const EngineJob& victim = jobs.at(pool.candidates[number].job);
    if (victim.record.id == last || right_to_evict(job, victim) != EvictionRight::kNotYet) continue;
    last = victim.record.id;
    names += (names.empty() ? "" : ",") + victim.record.uid;
    until = std::max(until, safe_until(victim.record, options.eviction));
  }
  if (names.empty()) return std::nullopt;
  return Reason(ReasonCode::kVictimsSafe, {{"victims", names}, {"until_ns", until.ns}});
}

// Its places are promised to the job, which waits for them to be left.
void Engine::State::claim_places(EngineJob& job, const std::vector<Placed>& placed) {
  touch(job);
  leave_queue(job);
  if (job.record.repairing) end_repair(job);
  for (const Placed& at : placed) {
    job.record.tasks[at.task].claim = at.allocation;
    book_claim(job, at.task);
    freed.push_back(at.allocation.node);  // perhaps it can start at once
  }
  begin_claiming(job);
}

void Engine::State::stop_victims(const EngineJob& by, std::span<const std::uint32_t> victims,
                                 const std::set<JobId>& taken_back) {
  std::vector<VictimCandidate> doomed;
  for (const std::uint32_t victim : victims) doomed.push_back(pool.candidates[victim]);
  std::sort(doomed.begin(), doomed.end(), [](const VictimCandidate& a, const VictimCandidate& b) {
    return std::pair(a.job, a.first) < std::pair(b.job, b.first);
  });
  for (auto it = doomed.begin(); it != doomed.end();) {
    EngineJob& victim = jobs.at(it->job);
    touch(victim);
    if (it->group < 0) {
      Reason why(ReasonCode::kPreempted, {{"by", by.record.uid}});
      if (taken_back.count(it->job) > 0)
        why = Reason(ReasonCode::kReclaimed,
                     {{"by", by.record.uid}, {"queue", by.record.spec->queue}});
      evict(victim, std::move(why));
      ++it;
      continue;
    }
    std::vector<std::uint32_t> tasks;
    for (; it != doomed.end() && it->job == victim.record.id; ++it)
      tasks.push_back(pool.leaving[it->first].task);
    shed(victim, tasks,
         Reason(ReasonCode::kShed,
                {{"by", by.record.uid}, {"tasks", static_cast<std::int64_t>(tasks.size())}}));
  }
}

void Engine::State::evict(EngineJob& job, Reason reason) {
  job.record.evicted_at = now;
  job.record.evicted_work = unsaved_work(job.record, now);
  begin_stop(job, StopCause::kPreempt, std::move(reason));
}

}  // namespace gridfold
