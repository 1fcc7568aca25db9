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
  if (!keeps_reservation(job)) job.record.reservation.reset();
  if (job.record.reservation) return enter_reserved(job);
  if (job.by_rounds) return;  // it waits for the next round
  PendingGroup& group = job.shape->group;
  job.group = &group;
  const PendingKey order = key_of(job);
  const bool is_first = group.jobs.empty() || order < *group.jobs.begin();
  if (is_first && group.parked == PendingGroup::Parked::kNo) {
    if (!group.jobs.empty()) ready.remove(group.queue, *group.jobs.begin());
    ready.add(group.queue, order, &group);
  }
  group.jobs.insert(group.jobs.end(), order);  // most come in order
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
  if (!was_first) return;
  ready.remove(group.queue, order);
  if (!group.jobs.empty()) ready.add(group.queue, *group.jobs.begin(), &group);
}

void Engine::State::park(PendingGroup& group, PendingGroup::Parked why) {
  ready.remove(group.queue, *group.jobs.begin());
  group.parked = why;
  group.parked_at = parked.size();
  parked.push_back(&group);
}

void Engine::State::unpark(PendingGroup& group) {
  ++work.groups_woken;
  leave_parked(group);
  ready.add(group.queue, *group.jobs.begin(), &group);
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

// Whether one of the group's tasks fits on a node that was freed, once whoever
// gives way to its first job has left that node.
bool Engine::State::fits_without_victims(const PendingGroup& group) const {
  const EngineJob& job = jobs.at(group.jobs.begin()->job);
  Cluster::Scratch book;
  for (const NodeId node : freed) {
    if (!cluster.usable(node)) continue;
    cluster.planned(node, book);
    for (const Holding& holding : cluster.holdings(node)) {
      if (!holding.leaves && right_to_evict(job, jobs.at(holding.job)) != EvictionRight::kNone)
        Cluster::add_back(book, cluster.request(holding.request), holding.devices, holding.start());
    }
    for (const QueueTree::Ask& ask : group.asks) {
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
  if (parked.empty() || (!quota && freed.empty())) return;
  std::sort(freed.begin(), freed.end());
  freed.erase(std::unique(freed.begin(), freed.end()), freed.end());
  std::vector<Cluster::Scratch> reclaimable;  // beside freed
  if (filler_holdings > 0 && !GRIDFOLD_PLANTED_BUG(borrow_not_reclaimed)) {
    for (const NodeId node : freed) reclaimable.push_back(room_without_fillers(node));
  }
  work.groups_looked_at += static_cast<std::int64_t>(parked.size());
  freed_bounds.clear();
  for (const NodeId node : freed) freed_bounds.push_back(bound_of(cluster.room(node)));
  ++asked_freed;
  fits_freed.resize(cluster.request_count());
  const auto has_room = [&](const PendingGroup& group) {
    if (group.filler && options.fillers.admission == FillerAdmission::kNone) return false;
    if (!group.filler && (!queues.preempting(group.queue).is_none() ||
                          may_reclaim(jobs.at(group.jobs.begin()->job))))
      return fits_without_victims(group);
    return std::any_of(group.asks.begin(), group.asks.end(), [&](const QueueTree::Ask& ask) {
      Fit& fit = fits_freed[ask.request->id];
      if (fit.asked != asked_freed) fit = fit_on_freed(*ask.request, reclaimable);
      return fit.free || (fit.free_of_fillers && !group.filler);
    });
  };
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
    if (!cluster.usable(freed[i])) continue;
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
    PendingGroup& group = *by_length.begin()->second;
    by_length.erase(by_length.begin());
    if (group.parked != PendingGroup::Parked::kForLength) continue;  // it was woken since
    unpark(group);
    try_start(group, jobs.at(group.jobs.begin()->job));
    try_ready();
  }
}

void Engine::State::try_ready() {
  while (!ready.empty()) {
    auto [first, group] = ready.next();
    if (GRIDFOLD_PLANTED_BUG(order_by_address)) {
      for (const auto& [key, other] : ready.all()) {
        if (other < group) std::tie(first, group) = std::pair(key, other);
      }
    }
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
  std::vector<QueueTree::Ask> asks = group.asks;
  if (queues.blocked(group.queue, asks, QueueTree::Against::kFree)) {
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

  // Filter and score: a gang that cannot find its minimum is not tried.
  bool room = true;
  const bool by_tree = goes_by_tree(job);
  for (std::size_t r = 0; r < group.asks.size() && room; ++r) {
    const Request& request = *job.requests[r];
    const std::int64_t least =
        group.mins[r] - (GRIDFOLD_PLANTED_BUG(gang_starts_incomplete) ? 1 : 0);
    room = by_tree ? domains.row(request).slots.front() >= least : scores.has_slots(request, least);
  }
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
  if (preempt_for(job) || consolidate_for(job)) return true;
  park(group, PendingGroup::Parked::kForRoom);
  return false;
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
    launch(job, at.task, at.why.feasible_nodes, at.why.score);
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
    std::vector<Placed> placed;
    std::map<NodeId, Cluster::Scratch> books;
    const auto why = job.by_rounds ? DecidedBy::kPlan : DecidedBy::kRoomMade;
    bool lost = false;
    bool free = true;
    for (std::uint32_t i = 0; i < job.record.tasks.size(); ++i) {
      const Allocation claim = job.record.tasks[i].claim;
      if (claim.node.is_none()) continue;
      lost |= !cluster.usable(claim.node);
      auto [book, fresh] = books.try_emplace(claim.node);
      if (fresh) cluster.actual(claim.node, book->second);
      const Request& request = request_of(job, i);
      free = free && Cluster::fits_exactly(book->second.room(), request, claim);
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
