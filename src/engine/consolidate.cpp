// Moves work that can be moved, so that a blocked job finds room in one place:
// each moved job is stopped and starts again where room was promised to it.
//
// What can be moved: running fillers, and running jobs with a `checkpoint`, that
// were not evicted or moved lately and of which no task has ended yet. What a move costs is the
// work it loses, saving and restarting; the moves are made only where the job that gains is worth
// more (ConsolidationOptions), all its victims find room elsewhere, and the hour's bound leaves so
// many. As with preemption the plan is made whole on the books and taken whole.
#include <algorithm>

#include "engine/absence.h"
#include "engine/lost_work.h"
#include "engine/state.h"

namespace gridfold {
namespace {

// Not once a task has ended: it would run again.
bool can_be_moved(const JobRecord& record) {
  return record.state == JobState::kRunning &&
         std::none_of(record.tasks.begin(), record.tasks.end(), has_ended) &&
         (record.spec->workload_class == WorkloadClass::kFiller || record.spec->checkpoint);
}

std::vector<std::int64_t> held_by_role(const JobRecord& record) {
  std::vector<std::int64_t> held;
  std::size_t index = 0;
  for (const Role& role : record.spec->roles) {
    held.push_back(0);
    for (std::int32_t k = 0; k < role.count; ++k, ++index)
      held.back() += holds_allocation(record.tasks[index].phase);
  }
  return held;
}

}  // namespace

// So many jobs may still be moved in this hour.
std::int64_t Engine::State::moves_left() {
  while (!moves.empty() && now - moves.front().second >= Duration::hours(1)) moves.pop_front();
  const ConsolidationOptions& bounds = options.consolidation;
  const std::int64_t share =
      static_cast<std::int64_t>(holders.size()) * bounds.moved_per_cent_an_hour / 100;
  return std::max<std::int64_t>(bounds.moves_an_hour, share) -
         static_cast<std::int64_t>(moves.size());
}

bool Engine::State::consolidate_for(EngineJob& job) {
  if (options.consolidation.consolidate == Consolidate::kOff || is_filler(job)) return false;
  gather_victims(
      [&](const EngineJob& other) {
        return can_be_moved(other.record) && !other.by_rounds &&
               safe_until(other.record, options.eviction) <= now;
      },
      Stop::kToMove);
  const std::int64_t left = moves_left();
  if (left <= 0 || pool.candidates.empty()) return false;
  std::int64_t weight = 0;
  for (const Role& role : job.record.spec->roles) weight += role.min * weight_of(role.each);
  const std::int64_t worth = weight * (options.consolidation.worth.ns / 1'000'000);
  Moves plan;
  const auto found = find_victims(job, [&](std::span<const std::uint32_t> victims) {
    std::int64_t lost = 0;
    for (const std::uint32_t victim : victims) lost += pool.candidates[victim].lost;
    if (victims.empty() || static_cast<std::int64_t>(victims.size()) > left || lost >= worth)
      return false;
    Moves moved = rehearse_moves(job, victims);
    if (moved.places.empty()) return false;
    plan = std::move(moved);
    return true;
  });
  if (!found) return false;
  claim_places(job, plan.own);
  std::vector<JobId> movers;
  for (const auto& [id, places] : plan.places) movers.push_back(id);
  out.list.emplace_back(Preempted{job.record.id, movers});
  for (const auto& [id, places] : plan.places) move_to(jobs.at(id), places, job);
  return true;
}

// Where the job goes and where its victims go; no places when not all find
// room. The books stay as they are.
Engine::State::Moves Engine::State::rehearse_moves(EngineJob& job,
                                                   std::span<const std::uint32_t> victims) {
  Moves plan;
  const Absence leaving(*this, leavers, Cluster::Staying::kLeaves);
  const Absence doomed(*this, leaving_with(victims), Cluster::Staying::kStays);
  std::vector<std::int64_t> least;
  for (const Role& role : job.record.spec->roles) least.push_back(role.min);
  look_ahead_for(job, kVictimsTake);
  plan.own = place(job, least).tasks;
  std::vector<std::uint32_t> order(victims.begin(), victims.end());
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return pool.candidates[a].lost > pool.candidates[b].lost;
  });
  bool all = !plan.own.empty();
  for (auto it = order.begin(); it != order.end() && all; ++it) {
    EngineJob& victim = jobs.at(pool.candidates[*it].job);
    const std::vector<std::int64_t> wanted_tasks = held_by_role(victim.record);
    std::int64_t tasks = 0;
    for (const std::int64_t held : wanted_tasks) tasks += held;
    look_ahead_for(victim, kVictimsTake);
    std::vector<Placed> places = place(victim, wanted_tasks).tasks;
    all = static_cast<std::int64_t>(places.size()) == tasks;
    plan.places.emplace_back(victim.record.id, std::move(places));
  }
  all = all && quota_allows_moves(job, plan);
  for (auto it = plan.places.rbegin(); it != plan.places.rend(); ++it) {
    for (auto at = it->second.rbegin(); at != it->second.rend(); ++at)
      cluster.give_back(at->allocation.node, {it->first, at->task});
  }
  for (auto at = plan.own.rbegin(); at != plan.own.rend(); ++at)
    cluster.give_back(at->allocation.node, {job.record.id, at->task});
  if (!all) plan.places.clear();
  std::sort(plan.places.begin(), plan.places.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return plan;
}

// While it moves, a job is charged for its old place and for the new one.
bool Engine::State::quota_allows_moves(EngineJob& job, const Moves& plan) {
  std::vector<std::pair<EngineJob*, const Placed*>> charged;
  const auto charge = [&](EngineJob& of, const std::vector<Placed>& places) {
    std::vector<QueueTree::Ask> asks;
    std::vector<QueueTree::Chosen> chosen;
    for (const Placed& at : places) {
      asks.push_back({&request_of(of, at.task), 1});
      chosen.push_back({&request_of(of, at.task), at.allocation});
    }
    if (queues.blocked(of.queue, asks, QueueTree::Against::kFree) ||
        queues.blocked_at(of.queue, chosen))
      return false;
    for (const Placed& at : places) {
      queues.charge(of.queue, request_of(of, at.task), at.allocation, +1);
      charged.emplace_back(&of, &at);
    }
    return true;
  };
  bool allowed = charge(job, plan.own);
  for (auto it = plan.places.begin(); it != plan.places.end() && allowed; ++it)
    allowed = charge(jobs.at(it->first), it->second);
  for (const auto& [of, at] : charged)
    queues.charge(of->queue, request_of(*of, at->task), at->allocation, -1);
  return allowed;
}

void Engine::State::move_to(EngineJob& job, const std::vector<Placed>& places,
                            const EngineJob& by) {
  touch(job);
  evict(job, Reason(ReasonCode::kMoved, {{"by", by.record.uid}}));
  for (const Placed& at : places) {
    job.record.tasks[at.task].claim = at.allocation;
    book_claim(job, at.task);
  }
  moves.emplace_back(turn_number, now);
}

// Where moving is allowed, room anywhere may be what the first of the blocked
// jobs needs to be given another's.
void Engine::State::wake_first_to_consolidate() {
  if (options.consolidation.consolidate == Consolidate::kOff || freed.empty()) return;
  PendingGroup* first = nullptr;
  for (PendingGroup* group : parked) {
    if (group->parked != PendingGroup::Parked::kForRoom || group->filler) continue;
    if (first == nullptr || *group->jobs.begin() < *first->jobs.begin()) first = group;
  }
  if (first != nullptr) unpark(*first);
}

}  // namespace gridfold
