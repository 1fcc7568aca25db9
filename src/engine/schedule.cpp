// The cycle: pending groups in order, each job placed whole or not at all.
#include <algorithm>
#include <cassert>
#include <utility>

#include "base/planted.h"
#include "engine/device_fit.h"
#include "engine/state.h"

namespace gridfold {

// --- The queue of pending jobs ---

void Engine::State::enter_queue(EngineJob& job) {
  assert(job.group == nullptr);
  if (waits_for_array(job)) return;
  if (!keeps_reservation(job)) job.record.reservation.reset();
  if (job.record.reservation) return enter_reserved(job);
  if (job.by_rounds) return;  // it waits for the next round
  PendingGroup& group = job.shape->group;
  job.group = &group;
  const PendingKey order = key_of(job);
  const bool is_first = group.jobs.empty() || order < *group.jobs.begin();
  const PendingKey former = group.jobs.empty() ? order : *group.jobs.begin();
  group.jobs.insert(group.jobs.end(), order);  // most come in order
  if (is_first && group.parked == PendingGroup::Parked::kNo)
    group.jobs.size() == 1 ? enter_order(group) : change_first(group, former);
  // Where rank gives rights, a new first may do what the others could not.
  if (is_first && group.parked != PendingGroup::Parked::kNo &&
      !queues.preempting(group.queue).is_none())
    unpark(group);
}

void Engine::State::leave_queue(EngineJob& job) {
  if (job.record.reservation) return leave_reserved(job);
  if (job.group == nullptr) return;
  PendingGroup& group = *job.group;
  job.group = nullptr;
  const PendingKey order = key_of(job);
  const bool was_first = *group.jobs.begin() == order;
  group.jobs.erase(order);
  if (group.parked != PendingGroup::Parked::kNo) {
    if (group.jobs.empty()) leave_parked(group);
    return;
  }
  if (was_first) group.jobs.empty() ? leave_order(group, order) : change_first(group, order);
}

// Who has rights of its own, or is looked at one by one, shares no fate.
TurnOrder::Kind Engine::State::kind_of(const PendingGroup& group) {
  const bool by_itself = group.filler
                             ? options.fillers.admission != FillerAdmission::kAny
                             : queues.any_guaranteed() || !queues.preempting(group.queue).is_none();
  if (by_itself || queues.limits_models(group.queue) ||
      options.consolidation.consolidate != Consolidate::kOff)
    return group.filler ? TurnOrder::kAloneFiller : TurnOrder::kAlone;
  GroupKinds::Standing standing{group.run_class};
  if (options.backfill.mode != BackfillMode::kNone) {
    standing.queue_priority = group.jobs.begin()->queue_priority;
    standing.priority = group.jobs.begin()->priority;
  }
  return kinds.kind_of(group.ask_number, group.filler, standing, group.asks);
}

void Engine::State::enter_order(PendingGroup& group) {
  group.kind = kind_of(group);
  ready.add(group.queue, group.kind, *group.jobs.begin(), &group);
}

void Engine::State::leave_order(PendingGroup& group, const PendingKey& first) {
  ready.remove(group.queue, group.kind, first);
}

void Engine::State::change_first(PendingGroup& group, const PendingKey& from) {
  if (options.backfill.mode == BackfillMode::kNone || kind_of(group) == group.kind)
    return ready.change_first(group.queue, group.kind, from, *group.jobs.begin());
  leave_order(group, from);
  enter_order(group);
}

// After a change of who has rights.
void Engine::State::regroup() {
  for (const auto& [key, shape] : shapes) {
    PendingGroup& group = shape->group;
    if (group.jobs.empty() || group.parked != PendingGroup::Parked::kNo) continue;
    leave_order(group, *group.jobs.begin());
    enter_order(group);
  }
}

void Engine::State::park(PendingGroup& group, PendingGroup::Parked why) {
  leave_order(group, *group.jobs.begin());
  group.parked = why;
  group.parked_at = parked.size();
  parked.push_back(&group);
}

// With all that find no more than it did.
void Engine::State::park_for_room(PendingGroup& group) {
  if (group.kind != TurnOrder::kAlone && group.kind != TurnOrder::kAloneFiller)
    return kinds.shut(group.kind);
  const bool beside_plans = options.backfill.mode != BackfillMode::kNone;
  park(group, beside_plans ? PendingGroup::Parked::kForPlans : PendingGroup::Parked::kForRoom);
}

void Engine::State::unpark(PendingGroup& group) {
  ++work.groups_woken;
  leave_parked(group);
  enter_order(group);
}

// Whether it waits in vain until there is more room, or another plan.
bool Engine::State::found_no_room(const EngineJob& job) const {
  if (job.group == nullptr) return false;
  const PendingGroup& group = *job.group;
  if (group.parked == PendingGroup::Parked::kNo) return !ready.is_open(group.kind);
  return group.parked == PendingGroup::Parked::kForRoom ||
         group.parked == PendingGroup::Parked::kForPlans;
}

void Engine::State::leave_parked(PendingGroup& group) {
  group.parked = PendingGroup::Parked::kNo;
  parked[group.parked_at] = parked.back();
  parked[group.parked_at]->parked_at = group.parked_at;
  parked.pop_back();
}

// Once all fillers on the node have been asked to leave.
Cluster::Scratch Engine::State::room_without_fillers(NodeId node) const {
  Cluster::Scratch book;
  cluster.planned(node, book);
  for (const Holding& holding : cluster.holdings(node)) {
    if (!holding.leaves && is_filler(jobs.at(holding.job)))
      Cluster::add_back(book, cluster.request(holding.request), holding.devices, holding.start());
  }
  return book;
}

// Whether one of the job's tasks fits on one of the nodes, once whoever gives way
// to the job has left that node.
bool Engine::State::fits_without_victims(const EngineJob& job,
                                         std::span<const NodeId> nodes) const {
  Cluster::Scratch book;
  for (const NodeId node : nodes) {
    if (!cluster.usable(node) && !pools.may_boot(node, now)) continue;
    cluster.planned(node, book);
    for (const Holding& holding : cluster.holdings(node)) {
      if (!holding.leaves && right_to_evict(job, jobs.at(holding.job)) != EvictionRight::kNone)
        Cluster::add_back(book, cluster.request(holding.request), holding.devices, holding.start());
    }
    for (const Holding& claim : cluster.claims(node)) {
      const EngineJob& other = jobs.at(claim.job);
      if (other.record.repairing && may_take_claims(job, other))
        Cluster::add_back(book, cluster.request(claim.request), claim.devices, claim.start());
    }
    for (const QueueTree::Ask& ask : job.shape->group.asks) {
      if (fits(book.room(), *ask.request)) return true;
    }
  }
  return false;
}

// A parked group is looked at again only when a node on which one of its tasks
// fits has got more room, or quota was given back. For work that may evict
// fillers their room counts as well: else they would keep each gap from it.
void Engine::State::wake_groups() {
  const bool quota = quota_freed && !GRIDFOLD_PLANTED_BUG(quota_wake_forgotten);
  if ((parked.empty() && ready.shut_kinds().empty()) || (!quota && freed.empty())) return;
  std::sort(freed.begin(), freed.end());
  freed.erase(std::unique(freed.begin(), freed.end()), freed.end());
  std::vector<Cluster::Scratch> reclaimable;  // beside freed
  if (filler_holdings > 0 && !GRIDFOLD_PLANTED_BUG(borrow_not_reclaimed)) {
    for (const NodeId node : freed) reclaimable.push_back(room_without_fillers(node));
  }
  work.groups_looked_at += static_cast<std::int64_t>(parked.size() + ready.shut_kinds().size());
  freed_bounds.clear();
  for (const NodeId node : freed) freed_bounds.push_back(bound_of(cluster.room(node)));
  ++asked_freed;
  fits_freed.resize(cluster.request_count());
  const auto any_fits = [&](std::span<const QueueTree::Ask> asks, bool filler) {
    return std::any_of(asks.begin(), asks.end(), [&](const QueueTree::Ask& ask) {
      Fit& fit = fits_freed[ask.request->id];
      if (fit.asked != asked_freed) fit = fit_on_freed(*ask.request, reclaimable);
      return fit.free || (fit.free_of_fillers && !filler);
    });
  };
  const auto has_room = [&](const PendingGroup& group) {
    if (group.filler && options.fillers.admission == FillerAdmission::kNone) return false;
    if (!group.filler && (!queues.preempting(group.queue).is_none() ||
                          may_reclaim(jobs.at(group.jobs.begin()->job))))
      return fits_without_victims(jobs.at(group.jobs.begin()->job), freed);
    return any_fits(group.asks, group.filler);
  };
  for (std::size_t i = ready.shut_kinds().size(); i-- > 0;) {
    const TurnOrder::Kind kind = ready.shut_kinds()[i];
    if (!any_fits(kinds.asks(kind), ready.is_filler(kind))) continue;
    ready.open(kind);
    ++work.groups_woken;
  }
  // From the end: the last takes the place of one that leaves the list.
  for (std::size_t i = parked.size(); i-- > 0;) {
    PendingGroup& group = *parked[i];
    // What is given back by a queue may leave its guarantee to those of it who wait.
    const bool owed = quota && queues.any_guaranteed() && !group.filler &&
                      may_reclaim(jobs.at(group.jobs.begin()->job));
    const bool woken = group.parked == PendingGroup::Parked::kForQuota
                           ? quota
                           : owed || (quota && group.narrowed) || has_room(group);
    if (woken) unpark(group);
  }
  wake_first_to_consolidate();
}

Engine::State::Fit Engine::State::fit_on_freed(
    const Request& request, std::span<const Cluster::Scratch> reclaimable) const {
  Fit fit{asked_freed};
  for (std::size_t i = 0; i < freed.size() && !fit.free; ++i) {
    if (!cluster.usable(freed[i]) && !pools.may_boot(freed[i], now)) continue;
    fit.free = freed_bounds[i].covers(request.least) && fits(cluster.room(freed[i]), request);
    fit.free_of_fillers |= !reclaimable.empty() && fits(reclaimable[i].room(), request);
  }
  return fit;
}

// --- The cycle ---

void Engine::State::run_cycle() {
  follow_plans();
  try_ready();
  while (!by_length.empty()) {
    repair_ahead_of(&by_length.begin()->first.first);
    PendingGroup& group = *by_length.begin()->second;
    by_length.erase(by_length.begin());
    if (group.parked != PendingGroup::Parked::kForLength) continue;  // it was woken since
    unpark(group);
    if (ready.is_open(group.kind)) try_start(group, jobs.at(group.jobs.begin()->job));
    try_ready();
  }
  repair_ahead_of(nullptr);
  windows.close_before(now);
}

void Engine::State::try_ready() {
  while (!ready.empty()) {
    if (!repairs.empty()) {
      const PendingKey next = ready.next().first;
      repair_ahead_of(&next);
    }
    const auto [first, group] = ready.next();
    EngineJob& job = jobs.at(first.job);
    if (goes_by_length(job)) {
      by_length.emplace(std::pair(first, planned_run(job.record)), group);
      park(*group, PendingGroup::Parked::kForLength);
      continue;
    }
    // What starts or is promised room leaves the group; what cannot start
    // parks all that are like it.
    try_start(*group, job);
  }
}

// Whether its queue lets the job start, whole or else with its minimum; `target`
// is what it may have by role.
bool Engine::State::admit(EngineJob& job, std::vector<std::int64_t>& target) {
  const PendingGroup& group = job.shape->group;
  if (!queues.exists(group.queue)) return false;
  target.clear();
  for (const QueueTree::Ask& ask : group.asks) target.push_back(ask.tasks);
  if (queues.blocked(group.queue, group.asks, QueueTree::Against::kFree)) {
    std::vector<QueueTree::Ask> asks = group.asks;
    for (std::size_t r = 0; r < asks.size(); ++r) asks[r].tasks = target[r] = group.mins[r];
    if (queues.blocked(group.queue, asks, QueueTree::Against::kFree)) return false;
  }
  narrow(job, target);
  return true;
}

bool Engine::State::try_start(PendingGroup& group, EngineJob& job) {
  ++work.jobs_tried;
  if (!admit(job, wanted)) {
    park(group, PendingGroup::Parked::kForQuota);
    return false;
  }

  look_ahead_for(job);
  // Filter and score: a gang that cannot find its minimum is not tried.
  bool room = has_slots(job);
  if (group.filler && options.fillers.admission == FillerAdmission::kNone) room = false;
  const bool by_forecast = group.filler && options.fillers.admission == FillerAdmission::kForecast;
  if (by_forecast)
    fillers_due = std::min(fillers_due, now + std::max(Duration{options.fillers.guaranteed.ns / 32},
                                                       Duration::seconds(1)));
  if (options.backfill.mode != BackfillMode::kNone) {
    if (room && by_forecast) room = has_spare_for(job, spare_devices());
    return start_or_reserve(group, job, room);
  }
  if (room) {
    const Placement placement = by_forecast ? place_filler(job) : place(job, wanted);
    if (!placement.tasks.empty()) {
      start(job, placement);
      return true;
    }
  }
  if (preempt_for(job) || consolidate_for(job) || boot_for(job)) return true;
  park_for_room(group);
  return false;
}

bool Engine::State::has_slots(const EngineJob& job) {
  const PendingGroup& group = job.shape->group;
  const bool by_tree = goes_by_tree(job);
  for (std::size_t r = 0; r < group.asks.size(); ++r) {
    const Request& request = *job.requests[r];
    const std::int64_t least =
        group.mins[r] - (GRIDFOLD_PLANTED_BUG(gang_starts_incomplete) ? 1 : 0);
    const bool room =
        by_tree ? domains.row(request).slots.front() >= least : scores.has_slots(request, least);
    if (!room) return false;
  }
  return true;
}

// Places up to target[r] tasks of each role on the books, or nothing when a
// role falls short of its minimum.
Engine::State::Placement Engine::State::place(EngineJob& job,
                                              const std::vector<std::int64_t>& target) {
  Placement placement =
      goes_by_tree(job) ? place_by_tree(job, target) : place_anywhere(job, target);
  const std::size_t found = placement.tasks.size();
  trim_to_multiples(job, placement.tasks);
  if (placement.tasks.size() != found) placement.expected.reset();
  return placement;
}

// A role may have so many tasks only: the last ones beyond are given back. Its
// minimum is such a number.
void Engine::State::trim_to_multiples(const EngineJob& job, std::vector<Placed>& placed) {
  std::uint32_t first = 0;
  for (const Role& role : job.record.spec->roles) {
    const std::uint32_t last = first + static_cast<std::uint32_t>(role.count);
    const auto is_of_role = [&](const Placed& at) { return at.task >= first && at.task < last; };
    auto beyond = role.multiple_of == 1
                      ? 0
                      : std::count_if(placed.begin(), placed.end(), is_of_role) % role.multiple_of;
    for (auto it = placed.end(); beyond > 0; --beyond) {
      do --it;
      while (!is_of_role(*it));
      cluster.give_back(it->allocation.node, {job.record.id, it->task});
      it = placed.erase(it);
    }
    first = last;
  }
}

// Task by task on the best of all nodes.
Engine::State::Placement Engine::State::place_anywhere(EngineJob& job,
                                                       const std::vector<std::int64_t>& target) {
  std::vector<Placed> placed;
  const auto& roles = job.record.spec->roles;
  std::uint32_t first = 0;
  for (std::size_t r = 0; r < roles.size(); ++r) {
    const Request& request = *job.requests[r];
    std::int64_t found = 0;
    while (found < target[r]) {
      const auto best = scores.best(request, random);
      if (!best) break;
      const std::uint32_t task = first + static_cast<std::uint32_t>(found);
      const Allocation at{best->node, best->devices,
                          choose_start(cluster.room(best->node), request, best->devices)};
      const WhyHere why = scores.why(request, *best);
      cluster.take(at, {job.record.id, task}, request);
      placed.push_back({task, at, why});
      ++found;
    }
    const bool lenient = GRIDFOLD_PLANTED_BUG(gang_starts_incomplete) && roles[r].min > 1;
    if (found < roles[r].min - (lenient ? 1 : 0)) {
      for (auto it = placed.rbegin(); it != placed.rend(); ++it)
        cluster.give_back(it->allocation.node, {job.record.id, it->task});
      return {};
    }
    first += static_cast<std::uint32_t>(roles[r].count);
  }
  return {std::move(placed)};
}

// The books already hold what was placed.
void Engine::State::start(EngineJob& job, const Placement& placement) {
  touch(job);
  leave_queue(job);
  job.requests = job.shape->requests;
  JobRecord& record = job.record;
  record.started_at = now;
  record.waited = record.waited + (now - record.pending_since);
  ++record.runs;
  record.why_domain = placement.why_domain;
  Reason why(ReasonCode::kPlaced);
  why.params.emplace_back("tasks", static_cast<std::int64_t>(placement.tasks.size()));
  change_state(job, JobState::kStarting, std::move(why));
  for (const Placed& at : placement.tasks) {
    record.tasks[at.task].allocation = at.allocation;
    if (!GRIDFOLD_PLANTED_BUG(quota_charged_after_start))
      queues.charge(job.queue, request_of(job, at.task), at.allocation, +1);
    if (is_filler(job)) ++filler_holdings;
    record.tasks[at.task].why = at.why;
    if (GRIDFOLD_PLANTED_BUG(limited_job_counts_others) && queues.limits_models(job.queue))
      record.tasks[at.task].why.feasible_nodes += 1;
    if (starts_later(job, at.task)) {
      record.tasks[at.task].phase = TaskPhase::kWaiting;
    } else {
      launch(job, at.task, at.why.feasible_nodes, at.why.score);
    }
    // It may be borrowed from one who waits.
    if (queues.any_guaranteed() && !is_filler(job)) freed.push_back(at.allocation.node);
  }
  if (record.spec->communication) note_expected(job, placement);
  set_timer(job);
}

// Starts the jobs whose victims have left, in order.
void Engine::State::fulfil_claims() {
  if (claiming.empty() || freed.empty()) return;
  const std::set<PendingKey> waiting = claiming;
  for (const PendingKey& key : waiting) {
    EngineJob& job = jobs.at(key.job);
    if (job.record.repairing) continue;  // it is placed anew
    std::vector<Placed> placed;
    std::map<NodeId, Cluster::Scratch> books;
    const auto why = job.by_rounds ? DecidedBy::kPlan : DecidedBy::kRoomMade;
    bool lost = false;
    bool free = true;
    for (std::uint32_t i = 0; i < job.record.tasks.size(); ++i) {
      const Allocation claim = job.record.tasks[i].claim;
      if (claim.node.is_none()) continue;
      lost |= !is_still_promised(job, claim.node);
      auto [book, fresh] = books.try_emplace(claim.node);
      if (fresh) cluster.actual(claim.node, book->second);
      const Request& request = request_of(job, i);
      free = free && cluster.usable(claim.node) &&
             Cluster::fits_exactly(book->second.room(), request, claim);
      if (free) Cluster::take_out(book->second, request, claim.devices, claim.start);
      placed.push_back({i, claim, {why}});
    }
    if (lost) {
      touch(job);
      drop_claims(job);
      enter_queue(job);
    } else if (free && (!job.by_rounds || GRIDFOLD_PLANTED_BUG(round_needs_no_quota) ||
                        quota_allows(job, static_cast<std::int64_t>(placed.size())))) {
      touch(job);
      drop_claims(job);
      for (const Placed& at : placed) {
        cluster.take(at.allocation, {job.record.id, at.task}, request_of(job, at.task));
      }
      start(job, {std::move(placed)});
    }
  }
}

}  // namespace gridfold
