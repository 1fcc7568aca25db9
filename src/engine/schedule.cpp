// The cycle: pending groups in order, each job placed whole or not at all.
#include <algorithm>
#include <cassert>

#include "base/planted.h"
#include "engine/device_fit.h"
#include "engine/state.h"

namespace gridfold {

// --- The queue of pending jobs ---

void Engine::State::enter_queue(EngineJob& job) {
  assert(job.group == nullptr);
  const auto& roles = job.record.spec->roles;
  std::vector<std::uint32_t> key{job.queue.value, is_filler(job)};
  for (std::size_t r = 0; r < roles.size(); ++r) {
    key.push_back(job.requests[r]->id);
    key.push_back(static_cast<std::uint32_t>(roles[r].count));
    key.push_back(static_cast<std::uint32_t>(roles[r].min));
  }
  if (const TopologyWish& wish = job.record.spec->topology; !wish.empty()) {
    const auto next = static_cast<std::uint32_t>(wishes.size());
    key.push_back(wishes.emplace(wish, next).first->second);
  }
  auto& slot = groups[key];
  if (!slot) {
    slot = std::make_unique<PendingGroup>();
    slot->key = key;
    slot->queue = job.queue;
    slot->filler = is_filler(job);
    groups_by_request.resize(std::max(groups_by_request.size(), cluster.request_count()));
    for (std::size_t r = 0; r < roles.size(); ++r) {
      slot->asks.push_back({job.requests[r], roles[r].count});
      slot->mins.push_back(roles[r].min);
      auto& list = groups_by_request[job.requests[r]->id];
      if (std::find(list.begin(), list.end(), slot.get()) == list.end()) list.push_back(slot.get());
    }
  }
  PendingGroup& group = *slot;
  const PendingKey order = key_of(job);
  if (group.parked == PendingGroup::Parked::kNo) {
    if (!group.jobs.empty()) ready.erase(*group.jobs.begin());
    group.jobs.insert(order);
    ready.emplace(*group.jobs.begin(), &group);
  } else {
    group.jobs.insert(order);
  }
  job.group = &group;
}

void Engine::State::leave_queue(EngineJob& job) {
  if (job.group == nullptr) return;
  PendingGroup& group = *job.group;
  job.group = nullptr;
  if (group.parked == PendingGroup::Parked::kNo) ready.erase(*group.jobs.begin());
  group.jobs.erase(key_of(job));
  if (!group.jobs.empty()) {
    if (group.parked == PendingGroup::Parked::kNo) ready.emplace(*group.jobs.begin(), &group);
    return;
  }
  for (const QueueTree::Ask& ask : group.asks)
    std::erase(groups_by_request[ask.request->id], &group);
  groups.erase(std::vector<std::uint32_t>(group.key));
}

void Engine::State::park(PendingGroup& group, PendingGroup::Parked why) {
  ready.erase(*group.jobs.begin());
  group.parked = why;
}

void Engine::State::unpark(PendingGroup& group) {
  if (group.parked == PendingGroup::Parked::kNo) return;
  group.parked = PendingGroup::Parked::kNo;
  ready.emplace(*group.jobs.begin(), &group);
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

// A parked group is looked at again only when a node on which one of its tasks
// fits has got more room, or quota was given back. For work that may evict
// fillers their room counts as well: else they would keep each gap from it.
void Engine::State::wake_groups() {
  if (quota_freed && !GRIDFOLD_PLANTED_BUG(quota_wake_forgotten)) {
    for (auto& [key, group] : groups) {
      if (group->parked == PendingGroup::Parked::kForQuota) unpark(*group);
    }
  }
  if (freed.empty()) return;
  std::sort(freed.begin(), freed.end());
  freed.erase(std::unique(freed.begin(), freed.end()), freed.end());
  std::vector<Cluster::Scratch> reclaimable;  // beside freed
  if (filler_holdings > 0 && !GRIDFOLD_PLANTED_BUG(borrow_not_reclaimed)) {
    for (const NodeId node : freed) reclaimable.push_back(room_without_fillers(node));
  }
  for (std::uint32_t id = 0; id < groups_by_request.size(); ++id) {
    const auto& waiting = groups_by_request[id];
    const bool any_parked = std::any_of(
        waiting.begin(), waiting.end(),
        [](const PendingGroup* group) { return group->parked == PendingGroup::Parked::kForRoom; });
    if (!any_parked) continue;
    const Request& request = cluster.request(id);
    bool free = false;
    bool free_of_fillers = false;
    for (std::size_t i = 0; i < freed.size() && !free; ++i) {
      if (!cluster.usable(freed[i])) continue;
      free = fits(cluster.room(freed[i]), request);
      free_of_fillers |= !reclaimable.empty() && fits(reclaimable[i].room(), request);
    }
    for (PendingGroup* group : waiting) {
      const bool woken = free || (free_of_fillers && !group->filler);
      if (woken && group->parked == PendingGroup::Parked::kForRoom) unpark(*group);
    }
  }
}

// --- The cycle ---

void Engine::State::run_cycle() {
  while (!ready.empty()) {
    auto first = ready.begin();
    if (GRIDFOLD_PLANTED_BUG(order_by_address)) {
      for (auto it = ready.begin(); it != ready.end(); ++it) {
        if (it->second < first->second) first = it;
      }
    }
    PendingGroup& group = *first->second;
    EngineJob& job = jobs.at(first->first.job);
    // What starts or is promised room leaves the group; what cannot start
    // parks all that are like it.
    try_start(group, job);
  }
}

bool Engine::State::try_start(PendingGroup& group, EngineJob& job) {
  std::vector<std::int64_t> target;
  for (const QueueTree::Ask& ask : group.asks) target.push_back(ask.tasks);

  // Admit: whole, else with its minimum.
  std::vector<QueueTree::Ask> asks = group.asks;
  if (!queues.exists(group.queue)) {
    park(group, PendingGroup::Parked::kForQuota);
    return false;
  }
  if (queues.blocked(group.queue, cluster, asks, QueueTree::Against::kFree)) {
    for (std::size_t r = 0; r < asks.size(); ++r) asks[r].tasks = target[r] = group.mins[r];
    if (queues.blocked(group.queue, cluster, asks, QueueTree::Against::kFree)) {
      park(group, PendingGroup::Parked::kForQuota);
      return false;
    }
  }

  // Filter and score: a gang that cannot find its minimum is not tried.
  bool room = true;
  const bool by_tree = goes_by_tree(job);
  for (std::size_t r = 0; r < group.asks.size() && room; ++r) {
    const Request& request = *group.asks[r].request;
    const std::int64_t least =
        group.mins[r] - (GRIDFOLD_PLANTED_BUG(gang_starts_incomplete) ? 1 : 0);
    room = by_tree ? domains.row(request).slots.front() >= least : scores.has_slots(request, least);
  }
  if (room) {
    const std::vector<Placed> placed = place(job, target);
    if (!placed.empty()) {
      start(job, placed);
      return true;
    }
  }
  if (preempt_for(job)) return true;
  park(group, PendingGroup::Parked::kForRoom);
  return false;
}

// Places up to target[r] tasks of each role on the books, or nothing when a
// role falls short of its minimum.
std::vector<Engine::State::Placed> Engine::State::place(EngineJob& job,
                                                        const std::vector<std::int64_t>& target) {
  return goes_by_tree(job) ? place_by_tree(job, target) : place_anywhere(job, target);
}

// Task by task on the best of all nodes.
std::vector<Engine::State::Placed> Engine::State::place_anywhere(
    EngineJob& job, const std::vector<std::int64_t>& target) {
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
      cluster.take(at, {job.record.id, task}, request);
      placed.push_back({task, at, best->feasible_nodes, best->score});
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
  return placed;
}

// The books already hold what was placed.
void Engine::State::start(EngineJob& job, const std::vector<Placed>& placed) {
  touch(job);
  leave_queue(job);
  JobRecord& record = job.record;
  record.started_at = now;
  record.waited = record.waited + (now - record.pending_since);
  ++record.runs;
  change_state(job, JobState::kStarting,
               Reason(ReasonCode::kPlaced, {{"tasks", static_cast<std::int64_t>(placed.size())}}));
  for (const Placed& at : placed) {
    record.tasks[at.task].allocation = at.allocation;
    if (!GRIDFOLD_PLANTED_BUG(quota_charged_after_start))
      queues.charge(job.queue, cluster, request_of(job, at.task), +1);
    if (is_filler(job)) ++filler_holdings;
    launch(job, at.task, at.feasible, at.score);
  }
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
      placed.push_back({i, claim});
    }
    if (lost) {
      touch(job);
      drop_claims(job);
      enter_queue(job);
    } else if (free) {
      touch(job);
      drop_claims(job);
      for (const Placed& at : placed) {
        cluster.take(at.allocation, {job.record.id, at.task}, request_of(job, at.task));
      }
      start(job, placed);
    }
  }
}

}  // namespace gridfold
