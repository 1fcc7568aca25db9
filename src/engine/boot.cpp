// Pools: work that finds no room has nodes booted for it. It is placed as if
// the nodes that could be there were there, the fewest that will do, and what it
// was given is earmarked: in-flight boots are room that has an owner, so nothing
// is asked for twice; what is idle and counted on is not given back meanwhile; and
// the job starts whole when the last of its nodes is up. A boot that fails or takes
// too long sets the job free to be placed again; the pool then waits before it
// tries again, longer each time.
//
// Fillers have nothing booted for them, nor have jobs that a policy decides about
// in rounds.
#include <algorithm>
#include <set>

#include "engine/state.h"

namespace gridfold {

// Nodes that are not known yet come in as nodes that are off.
void Engine::State::plan_pools(const std::vector<NodePool>& list) {
  for (const NodePool& home : list) {
    for (std::int32_t i = 1; i <= home.most; ++i) {
      NodeRecord record;
      record.spec = home.node(i);
      const auto known = cluster.find(record.spec.name);
      if (known && cluster.record(*known).pool == home.name) continue;
      if (known) {
        record = cluster.record(*known);
        touch_node(*known);
      } else {
        record.power = NodePower::kOff;
        record.power_since = now;
      }
      record.pool = home.name;
      const NodeId node = put_node(record);
      if (!known) turn->nodes.emplace_back(node, std::nullopt);
      windows.nodes_changed();
    }
  }
  pools.plan(list);
  for (const NodePool& home : pools.planned()) {
    for (const NodeId node : pools.nodes(home)) {
      pools.note(node, now);
      freed.push_back(node);
    }
  }
}

void Engine::State::set_power(NodeId node, NodePower power, std::int32_t failures) {
  touch_node(node);
  NodeRecord record = cluster.record(node);
  record.power = power;
  record.power_since = now;
  record.boot_failures = failures;
  cluster.set_status(record);
  pools.note(node, now);
}

void Engine::State::boot(NodeId node, JobId job) {
  set_power(node, NodePower::kBooting, cluster.record(node).boot_failures);
  out.list.emplace_back(BootNode{node, job});
}

// It was off already, or is again. Who counted on it looks for another.
void Engine::State::boot_failed(NodeId node) {
  set_power(node, NodePower::kOff, cluster.record(node).boot_failures + 1);
  freed.push_back(node);
}

void Engine::State::give_node_back(NodeId node, ReleaseCause cause) {
  const std::int32_t failures =
      cluster.record(node).boot_failures + (cause == ReleaseCause::kBootTimeout);
  set_power(node, NodePower::kReleasing, failures);
  out.list.emplace_back(ReleaseNode{node, cause});
  freed.push_back(node);
}

// Boots that have taken too long, and pools that may try again.
void Engine::State::follow_boots() {
  bool look = pools.take_changed();
  for (const NodeId node : pools.take_due(now)) {
    look = true;
    switch (cluster.record(node).power) {
      case NodePower::kBooting: give_node_back(node, ReleaseCause::kBootTimeout); break;
      case NodePower::kOff: freed.push_back(node); break;
      case NodePower::kOn: idle_due.push_back(node); break;
      case NodePower::kReleasing: break;
    }
  }
  if (!look) return;
  for (const NodePool& home : pools.planned()) {
    std::int32_t missing = home.least - pools.on(home);
    for (const NodeId node : pools.nodes(home)) {
      if (missing <= 0) break;
      if (!pools.may_boot(node, now)) continue;
      boot(node, JobId::none());
      --missing;
    }
  }
}

// After the cycle, which may have found work for them.
void Engine::State::give_idle_back() {
  for (const NodeId node : std::exchange(idle_due, {})) {
    const NodePool* home = pools.pool_of(node);
    if (home == nullptr || !cluster.record(node).up || !pools.is_idle(node)) continue;
    if (pools.on(*home) <= home->least) continue;
    if (plans.timeline.is_booked_on(node)) {
      pools.watch(node, now + home->idle_timeout);
    } else {
      give_node_back(node, ReleaseCause::kIdle);
    }
  }
}

// What can be had beside what is up, for one of its tasks at least: nodes that boot
// already, and nodes that are off, those first whose boots failed least often.
Engine::State::Bootable Engine::State::bootable_for(const EngineJob& job) const {
  Bootable found;
  for (const NodePool& home : pools.planned()) {
    const auto members = pools.nodes(home);
    if (members.empty()) continue;
    const NodeRoom room = cluster.capacity(members.front());
    const bool would_do = std::any_of(job.requests.begin(), job.requests.end(),
                                      [&](const Request* request) { return fits(room, *request); });
    if (!would_do) continue;
    const bool may_boot = pools.retry_at(home) <= now;
    for (const NodeId node : members) {
      const NodeRecord& record = cluster.record(node);
      if (record.drained) continue;
      if (record.power == NodePower::kBooting) found.coming.push_back(node);
      if (record.power == NodePower::kOff && may_boot) found.off.push_back(node);
    }
    found.takes = std::max(found.takes, home.boot_time);
  }
  std::stable_sort(found.off.begin(), found.off.end(), [&](NodeId a, NodeId b) {
    return cluster.record(a).boot_failures < cluster.record(b).boot_failures;
  });
  return found;
}

// Where the job's minimum would go were the first `count` of the nodes that are
// off there; nothing when it would not fit. The books stay as they are.
std::vector<Engine::State::Placed> Engine::State::place_with(EngineJob& job,
                                                             const Bootable& bootable,
                                                             std::size_t count) {
  for (std::size_t i = 0; i < bootable.off.size(); ++i)
    cluster.set_awaited(bootable.off[i], i < count);
  std::vector<std::int64_t> least;
  for (const Role& role : job.record.spec->roles) least.push_back(role.min);
  if (!has_slots(job)) return {};
  Placement placement = place(job, least);
  const bool kept = placement.tasks.empty() || keeps_promises(job, placement);
  take_back(job, placement);
  return kept ? std::move(placement.tasks) : std::vector<Placed>{};
}

// The fewest nodes that will do, found by doubling and halving.
bool Engine::State::boot_for(EngineJob& job) {
  if (pools.empty() || is_filler(job) || job.by_rounds) return false;
  const Bootable bootable = bootable_for(job);
  if (bootable.coming.empty() && bootable.off.empty()) return false;
  // What a trial takes and gives back is no news.
  const std::set<JobId> shaken = plans.timeline.shaken();
  const bool had_gained = plans.timeline.has_gained();
  look_ahead_for(job, bootable.takes);
  for (const NodeId node : bootable.coming) cluster.set_awaited(node, true);
  std::size_t too_few = 0;
  std::size_t enough = 0;
  std::vector<Placed> placed = place_with(job, bootable, 0);
  while (placed.empty() && enough < bootable.off.size()) {
    too_few = enough;
    enough = std::min(std::max<std::size_t>(2 * enough, 1), bootable.off.size());
    placed = place_with(job, bootable, enough);
  }
  while (!placed.empty() && too_few + 1 < enough) {
    const std::size_t middle = too_few + (enough - too_few) / 2;
    std::vector<Placed> fewer = place_with(job, bootable, middle);
    (fewer.empty() ? too_few : enough) = middle;
    if (!fewer.empty()) placed = std::move(fewer);
  }
  for (const NodeId node : bootable.coming) cluster.set_awaited(node, false);
  for (const NodeId node : bootable.off) cluster.set_awaited(node, false);
  plans.timeline.shaken() = shaken;
  if (!had_gained) plans.timeline.forget_gain();
  if (placed.empty()) return false;
  claim_places(job, placed);
  for (const Placed& at : placed) {
    const NodeId node = at.allocation.node;
    if (cluster.record(node).power == NodePower::kOff) boot(node, job.record.id);
  }
  return true;
}

// Whether the node is there, or will be, for a job that has a claim on it.
bool Engine::State::is_still_promised(const EngineJob& job, NodeId node) const {
  const NodeRecord& record = cluster.record(node);
  if (record.power != NodePower::kBooting || record.drained) return is_open_to(job, node);
  return windows.closing(node, lasts_until(job)) == nullptr;
}

// Of a job that has claims: the boots that it waits for, if any.
std::optional<Reason> Engine::State::boot_reason(const EngineJob& job) const {
  std::set<NodeId> nodes;
  std::set<std::string> names;
  Instant at{};
  for (const TaskRecord& task : job.record.tasks) {
    const NodeId node = task.claim.node;
    if (node.is_none() || cluster.record(node).power != NodePower::kBooting) continue;
    const NodePool* home = pools.pool_of(node);
    if (home == nullptr || !nodes.insert(node).second) continue;
    names.insert(home->name);
    const Instant since = cluster.record(node).power_since;
    const Instant expected = since + home->boot_time;
    at = std::max(at, expected > now ? expected : since + home->boot_timeout);
  }
  if (nodes.empty()) return std::nullopt;
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ",") + name;
  return Reason(
      ReasonCode::kWaitsForBoot,
      {{"nodes", static_cast<std::int64_t>(nodes.size())}, {"pool", joined}, {"at_ns", at.ns}});
}

// Of the pools of these nodes, which are off: why none is booted.
Reason Engine::State::boot_failure_of(const std::vector<NodeId>& nodes) const {
  const NodePool* first = nullptr;
  std::int32_t failures = 0;
  for (const NodeId node : nodes) {
    const NodePool* home = pools.pool_of(node);
    if (first == nullptr || pools.retry_at(*home) < pools.retry_at(*first)) first = home;
    failures = std::max(failures, cluster.record(node).boot_failures);
  }
  return Reason(ReasonCode::kBootFailed, {{"pool", first->name},
                                          {"failures", static_cast<std::int64_t>(failures)},
                                          {"until_ns", pools.retry_at(*first).ns}});
}

}  // namespace gridfold
