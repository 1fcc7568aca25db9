// Fillers give their place back to work that has a right to it. The plan is
// made whole, gang and victims together, and taken whole: room that the
// victims leave is earmarked until the job starts, so nobody slips in between.
#include <algorithm>

#include "engine/device_fit.h"
#include "engine/state.h"

namespace gridfold {
namespace {

struct Victim {
  TaskId task;
  const Request* request = nullptr;
  std::uint64_t devices = 0;
  std::int32_t start = kNoPartition;
  std::int32_t priority = 0;
  std::int64_t run_ns = 0;  // what stopping it may lose
};

struct NodePlan {
  Allocation at;
  std::vector<TaskId> victims;
  std::int64_t lost_ns = 0;
};

}  // namespace

bool Engine::State::preempt_for(EngineJob& job) {
  if (is_filler(job) || filler_holdings == 0) return false;

  std::set<JobId> doomed;  // filler jobs that the plan stops
  std::vector<std::pair<std::uint32_t, Allocation>> claims;
  std::map<NodeId, std::vector<std::pair<const Request*, Allocation>>> claimed;

  // The node's room once all that leaves has left, the plan so far included.
  const auto future_room = [&](NodeId node, Cluster::Scratch& book) {
    cluster.planned(node, book);
    for (const Holding& holding : cluster.holdings(node)) {
      if (!holding.leaves && doomed.count(holding.job) != 0)
        Cluster::add_back(book, cluster.request(holding.request), holding.devices, holding.start());
    }
    if (const auto it = claimed.find(node); it != claimed.end()) {
      for (const auto& [request, at] : it->second)
        Cluster::take_out(book, *request, at.devices, at.start);
    }
  };

  // The fewest fillers of the node, least valued first, whose leaving makes
  // room for one task; empty node when all of them do not suffice.
  const auto plan_on = [&](NodeId node, const Request& request) -> NodePlan {
    NodePlan plan;
    Cluster::Scratch book;
    future_room(node, book);
    std::vector<Victim> candidates;
    for (const Holding& holding : cluster.holdings(node)) {
      if (holding.leaves || doomed.count(holding.job) != 0) continue;
      const EngineJob& other = jobs.at(holding.job);
      if (!is_filler(other)) continue;
      const Instant since = other.record.started_at;
      candidates.push_back({holding.task(), &cluster.request(holding.request), holding.devices,
                            holding.start(), other.record.spec->priority,
                            since.is_never() ? 0 : (now - since).ns});
    }
    std::sort(candidates.begin(), candidates.end(), [](const Victim& a, const Victim& b) {
      if (a.priority != b.priority) return a.priority < b.priority;
      if (a.run_ns != b.run_ns) return a.run_ns < b.run_ns;
      return b.task < a.task;
    });
    std::size_t used = 0;
    while (!fits(book.room(), request) && used < candidates.size()) {
      const Victim& victim = candidates[used];
      Cluster::add_back(book, *victim.request, victim.devices, victim.start);
      ++used;
    }
    if (!fits(book.room(), request)) return plan;
    // Spare whoever turns out not to be needed, the most valued first.
    for (std::size_t i = used; i-- > 0;) {
      const Victim& victim = candidates[i];
      Cluster::take_out(book, *victim.request, victim.devices, victim.start);
      if (fits(book.room(), request)) continue;
      Cluster::add_back(book, *victim.request, victim.devices, victim.start);
      plan.victims.push_back(victim.task);
      plan.lost_ns += victim.run_ns;
    }
    const std::uint64_t devices = policy->choose(book.room(), request).devices;
    plan.at = {node, devices, choose_start(book.room(), request, devices)};
    return plan;
  };

  const auto better = [&](const NodePlan& a, const NodePlan& b) {
    if (a.victims.size() != b.victims.size()) return a.victims.size() < b.victims.size();
    if (a.lost_ns != b.lost_ns) return a.lost_ns < b.lost_ns;
    return cluster.name_rank(a.at.node) < cluster.name_rank(b.at.node);
  };

  const auto& roles = job.record.spec->roles;
  std::uint32_t first = 0;
  for (std::size_t r = 0; r < roles.size(); ++r) {
    const Request& request = *job.requests[r];
    // Evict for the minimum only; a wish for more does not stop anyone.
    for (std::int32_t k = 0; k < roles[r].min; ++k) {
      NodePlan best;
      for (std::uint32_t n = 0; n < cluster.size(); ++n) {
        const NodeId node(n);
        if (!cluster.usable(node)) continue;
        const NodePlan plan = plan_on(node, request);
        if (!plan.at.node.is_none() && (best.at.node.is_none() || better(plan, best))) best = plan;
        if (!best.at.node.is_none() && best.victims.empty()) break;
      }
      if (best.at.node.is_none()) return false;
      for (const TaskId victim : best.victims) doomed.insert(victim.job);
      claims.emplace_back(first + static_cast<std::uint32_t>(k), best.at);
      claimed[best.at.node].emplace_back(&request, best.at);
    }
    first += static_cast<std::uint32_t>(roles[r].count);
  }

  touch(job);
  leave_queue(job);
  for (const auto& [task, allocation] : claims) {
    job.record.tasks[task].claim = allocation;
    book_claim(job, task);
    freed.push_back(allocation.node);  // perhaps it can start at once
  }
  claiming.insert(key_of(job));
  out.list.emplace_back(Preempted{job.record.id, {doomed.begin(), doomed.end()}});
  for (const JobId id : doomed) {
    EngineJob& victim = jobs.at(id);
    touch(victim);
    begin_stop(victim, StopCause::kPreempt,
               Reason(ReasonCode::kPreempted, {{"by", job.record.uid}}));
  }
  return true;
}

}  // namespace gridfold
