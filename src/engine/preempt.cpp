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

}  // namespace

// A plan for the whole gang: who goes, and who gets what they leave.
struct Engine::State::Eviction {
  std::set<JobId> doomed;  // filler jobs that the plan stops
  std::vector<std::pair<std::uint32_t, Allocation>> claims;
  std::map<NodeId, std::vector<std::pair<const Request*, Allocation>>> claimed;
  std::int64_t lost_ns = 0;

  bool is_better_than(const Eviction& other) const {
    return doomed.size() != other.doomed.size() ? doomed.size() < other.doomed.size()
                                                : lost_ns < other.lost_ns;
  }
};

struct Engine::State::NodeEviction {
  Allocation at;  // no node: there is no room
  std::vector<TaskId> victims;
  std::int64_t lost_ns = 0;
};

// The fewest fillers of the node, least valued first, whose leaving makes room
// for one task; no node when all of them do not suffice.
Engine::State::NodeEviction Engine::State::evict_on(const Eviction& so_far, NodeId node,
                                                    const Request& request) {
  NodeEviction plan;
  // The node's room once all that leaves has left, the plan so far included.
  Cluster::Scratch book;
  cluster.planned(node, book);
  for (const Holding& holding : cluster.holdings(node)) {
    if (!holding.leaves && so_far.doomed.count(holding.job) != 0)
      Cluster::add_back(book, cluster.request(holding.request), holding.devices, holding.start());
  }
  if (const auto it = so_far.claimed.find(node); it != so_far.claimed.end()) {
    for (const auto& [claimant, at] : it->second)
      Cluster::take_out(book, *claimant, at.devices, at.start);
  }

  std::vector<Victim> candidates;
  for (const Holding& holding : cluster.holdings(node)) {
    if (holding.leaves || so_far.doomed.count(holding.job) != 0) continue;
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
    const Victim& victim = candidates[used++];
    Cluster::add_back(book, *victim.request, victim.devices, victim.start);
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
}

// Adds the task where it costs least to the plan; false when nowhere.
bool Engine::State::evict_for(Eviction& plan, std::uint32_t task, const Request& request,
                              std::span<const NodeId> nodes) {
  const auto better = [&](const NodeEviction& a, const NodeEviction& b) {
    if (a.victims.size() != b.victims.size()) return a.victims.size() < b.victims.size();
    if (a.lost_ns != b.lost_ns) return a.lost_ns < b.lost_ns;
    return cluster.name_rank(a.at.node) < cluster.name_rank(b.at.node);
  };
  NodeEviction best;
  for (const NodeId node : nodes) {
    if (!cluster.usable(node)) continue;
    NodeEviction here = evict_on(plan, node, request);
    if (!here.at.node.is_none() && (best.at.node.is_none() || better(here, best)))
      best = std::move(here);
    if (!best.at.node.is_none() && best.victims.empty()) break;
  }
  if (best.at.node.is_none()) return false;
  for (const TaskId victim : best.victims) plan.doomed.insert(victim.job);
  plan.lost_ns += best.lost_ns;
  plan.claims.emplace_back(task, best.at);
  plan.claimed[best.at.node].emplace_back(&request, best.at);
  return true;
}

// All of the gang's minimum beneath the domain, as its topology asks. A wish for
// more tasks, or to be near, does not stop anyone.
bool Engine::State::evict_within(Eviction& plan, const EngineJob& job, DomainId domain) {
  const TopologyWish& wish = job.record.spec->topology;
  const DomainTree& tree = domains.tree();
  std::vector<std::pair<std::uint32_t, const Request*>> tasks;
  std::uint32_t first = 0;
  for (std::size_t r = 0; r < job.requests.size(); ++r) {
    const Role& role = job.record.spec->roles[r];
    for (std::int32_t k = 0; k < role.min; ++k)
      tasks.emplace_back(first + static_cast<std::uint32_t>(k), job.requests[r]);
    first += static_cast<std::uint32_t>(role.count);
  }
  const std::string& level = wish.segments ? wish.segments->within : wish.spread;
  std::vector<DomainId> parts;  // of that level
  for (const DomainId part : tree.domains_at(level)) {
    if (tree.contains(domain, part)) parts.push_back(part);
  }

  if (wish.segments) {
    const auto size = static_cast<std::size_t>(wish.segments->size);
    for (std::size_t at = 0; at < tasks.size(); at += size) {
      std::optional<Eviction> best;
      for (const DomainId part : parts) {
        Eviction with = plan;
        bool held = true;
        for (std::size_t i = at; i < std::min(at + size, tasks.size()) && held; ++i)
          held = evict_for(with, tasks[i].first, *tasks[i].second, tree.nodes_beneath(part));
        if (held && (!best || with.is_better_than(*best))) best = std::move(with);
      }
      if (!best) return false;
      plan = std::move(*best);
    }
    return true;
  }
  if (!wish.spread.empty()) {
    // Each task to the emptiest domain that takes it.
    std::vector<std::pair<std::size_t, DomainId>> emptiest;
    for (const DomainId part : parts) emptiest.emplace_back(0, part);
    for (const auto& [task, request] : tasks) {
      std::sort(emptiest.begin(), emptiest.end());
      const auto taken = std::find_if(emptiest.begin(), emptiest.end(), [&](const auto& part) {
        return evict_for(plan, task, *request, tree.nodes_beneath(part.second));
      });
      if (taken == emptiest.end()) return false;
      ++taken->first;
    }
    return true;
  }
  return std::all_of(tasks.begin(), tasks.end(), [&](const auto& task) {
    return evict_for(plan, task.first, *task.second, tree.nodes_beneath(domain));
  });
}

bool Engine::State::preempt_for(EngineJob& job) {
  if (is_filler(job) || filler_holdings == 0) return false;
  const TopologyWish& wish = job.record.spec->topology;
  const DomainTree& tree = domains.tree();
  std::optional<Eviction> best;
  const auto consider = [&](DomainId domain) {
    Eviction plan;
    if (evict_within(plan, job, domain) && (!best || plan.is_better_than(*best)))
      best = std::move(plan);
  };
  if (wish.require.empty()) {
    consider(DomainTree::root());
  } else {
    for (const DomainId domain : tree.domains_at(wish.require)) consider(domain);
  }
  if (!best) return false;
  carry_out(job, std::move(*best));
  return true;
}

// Tasks of one role are alike: their places are numbered along the tree, as
// those of a gang that evicts nobody. Segments have their order already.
void Engine::State::number_claims(const EngineJob& job, Eviction& plan) {
  if (job.record.spec->topology.segments) return;
  const DomainTree& tree = domains.tree();
  for (auto first = plan.claims.begin(); first != plan.claims.end();) {
    const Request* request = &request_of(job, first->first);
    const auto last = std::find_if(first, plan.claims.end(), [&](const auto& claim) {
      return &request_of(job, claim.first) != request;
    });
    std::vector<Allocation> places;
    for (auto it = first; it != last; ++it) places.push_back(it->second);
    std::stable_sort(places.begin(), places.end(), [&](const Allocation& a, const Allocation& b) {
      return tree.domain_of(a.node) < tree.domain_of(b.node);
    });
    for (std::size_t i = 0; first != last; ++first, ++i) first->second = places[i];
  }
}

// Takes the plan whole.
void Engine::State::carry_out(EngineJob& job, Eviction plan) {
  if (goes_by_tree(job)) number_claims(job, plan);
  touch(job);
  leave_queue(job);
  for (const auto& [task, allocation] : plan.claims) {
    job.record.tasks[task].claim = allocation;
    book_claim(job, task);
    freed.push_back(allocation.node);  // perhaps it can start at once
  }
  begin_claiming(job);
  out.list.emplace_back(Preempted{job.record.id, {plan.doomed.begin(), plan.doomed.end()}});
  for (const JobId id : plan.doomed) {
    EngineJob& victim = jobs.at(id);
    touch(victim);
    begin_stop(victim, StopCause::kPreempt,
               Reason(ReasonCode::kPreempted, {{"by", job.record.uid}}));
  }
}

}  // namespace gridfold
