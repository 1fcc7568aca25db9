// Why a pending job does not run: every reason, with the numbers of this
// moment. Counted from the books, not remembered, so it is always current.
#include <algorithm>

#include "base/planted.h"
#include "engine/request_axes.h"
#include "engine/state.h"

namespace gridfold {
namespace {

std::vector<Reason::Param> with(std::vector<Reason::Param> params, const Axis& axis) {
  params.insert(params.end(), axis.more.begin(), axis.more.end());
  return params;
}

}  // namespace

std::vector<Reason> Engine::explain(JobId id) const {
  State& s = *state_;
  const EngineJob* job = s.find(id);
  std::vector<Reason> reasons;
  if (job != nullptr && is_active(job->record.state)) {
    if (auto later = s.role_reason(*job)) reasons.push_back(std::move(*later));
  }
  if (job == nullptr || job->record.state != JobState::kPending) return reasons;
  const JobRecord& record = job->record;
  if (record.held) {
    reasons.push_back(record.reason && record.reason->code == ReasonCode::kHeld
                          ? *record.reason
                          : Reason(ReasonCode::kHeld, {{"by", "submission"}}));
  }
  for (const DependencyRecord& edge : record.waits_for) {
    const EngineJob* parent = s.find(edge.parent);
    reasons.emplace_back(
        ReasonCode::kDependencyPending,
        std::vector<Reason::Param>{
            {"job", parent ? parent->record.uid : std::to_string(edge.parent.value)},
            {"condition", std::string(to_string(edge.condition))}});
  }
  if (!s.queues.exists(job->queue))
    reasons.emplace_back(ReasonCode::kQueueClosed,
                         std::vector<Reason::Param>{{"queue", record.spec->queue}});
  if (s.waits_for_array(*job)) reasons.push_back(s.array_reason(*job));
  const std::size_t before_room = reasons.size();
  for (Reason& reason : s.room_reasons(*job)) reasons.push_back(std::move(reason));
  s.add_round_reasons(*job, reasons, before_room);
  if (job->group != nullptr && job->group->parked == PendingGroup::Parked::kForRoom) {
    if (auto safe = s.safe_victims(*job)) reasons.push_back(std::move(*safe));
  }
  if (job->group != nullptr || record.reservation) {
    std::int64_t ahead = 0;
    const PendingKey mine = s.key_of(*job);
    for (const auto& [key, shape] : s.shapes) {
      if (s.queues.takes_turns() && shape->group.queue != job->queue) continue;
      for (const PendingKey& other : shape->group.jobs) {
        if (!(other < mine)) break;
        ++ahead;
      }
    }
    for (const PendingKey& other : s.plans.reserved) {
      if (!(other < mine) || GRIDFOLD_PLANTED_BUG(position_forgets_plans)) break;
      ahead += !s.queues.takes_turns() || s.jobs.at(other.job).queue == job->queue;
    }
    if (ahead > 0)
      reasons.emplace_back(ReasonCode::kBehindInQueue,
                           std::vector<Reason::Param>{{"position", ahead + 1}});
    if (s.queues.takes_turns()) {
      reasons.emplace_back(
          ReasonCode::kQueueTurn,
          std::vector<Reason::Param>{{"queue", record.spec->queue},
                                     {"share", s.queues.share_of(s.queues.queue_of(job->queue))}});
    }
  }
  if (reasons.empty()) reasons.emplace_back(ReasonCode::kNotYetConsidered);
  return reasons;
}

std::optional<Reason> Engine::main_reason(JobId id) const {
  State& s = *state_;
  const EngineJob* job = s.find(id);
  if (job == nullptr || job->record.state != JobState::kPending) return std::nullopt;
  const JobRecord& record = job->record;
  if (record.held || !record.waits_for.empty() || !s.queues.exists(job->queue) ||
      s.waits_for_array(*job))
    return explain(id).front();
  std::vector<Reason> reasons = s.room_reasons(*job);
  s.add_round_reasons(*job, reasons, 0);
  if (reasons.empty()) return Reason(ReasonCode::kNotYetConsidered);
  return std::move(reasons.front());
}

// Quota and room, the deciding one first.
std::vector<Reason> Engine::State::room_reasons(const EngineJob& job) {
  std::vector<Reason> reasons;
  const auto& roles = job.record.spec->roles;

  if (job.record.repairing) return {repair_reason(job)};

  // Promised room: waiting for the victims to leave.
  std::int64_t promised = 0;
  for (const TaskRecord& task : job.record.tasks) promised += !task.claim.node.is_none();
  if (promised > 0) {
    if (auto boots = boot_reason(job)) return {std::move(*boots)};
    std::set<JobId> victims;
    for (const TaskRecord& task : job.record.tasks) {
      if (task.claim.node.is_none()) continue;
      for (const Holding& holding : cluster.holdings(task.claim.node)) {
        if (holding.leaves) victims.insert(holding.job);
      }
    }
    std::string names;
    for (const JobId victim : victims)
      names += (names.empty() ? "" : ",") + jobs.at(victim).record.uid;
    reasons.emplace_back(ReasonCode::kPreemptionPending,
                         std::vector<Reason::Param>{{"tasks", promised}, {"victims", names}});
    return reasons;
  }

  std::vector<QueueTree::Ask> asks;
  for (std::size_t r = 0; r < roles.size(); ++r)
    asks.push_back({job.shape->requests[r], roles[r].min});
  if (GRIDFOLD_PLANTED_BUG(reason_hides_quota)) {
    reasons.emplace_back(ReasonCode::kInsufficientFree);
  } else if (auto never = queues.blocked(job.queue, asks, QueueTree::Against::kLimit)) {
    reasons.push_back(std::move(*never));
  } else if (auto used = queues.blocked(job.queue, asks, QueueTree::Against::kFree)) {
    reasons.push_back(std::move(*used));
  }

  const bool over_quota = !reasons.empty();

  for (std::size_t r = 0; r < roles.size(); ++r) {
    const Request& request = *job.shape->requests[r];
    const std::int64_t need = roles[r].min;

    // Could the nodes hold it if they were empty, and now?
    std::int64_t slots_empty = 0;
    std::int64_t slots_now = 0;
    std::int64_t slots_unclaimed = 0;
    bool any_usable = false;
    std::string drained;
    std::string down;
    std::vector<NodeId> closed;  // to this job
    std::int64_t slots_closed = 0;
    std::vector<NodeId> resting;  // off, and their pool waits before it boots again
    std::int64_t slots_resting = 0;
    Cluster::Scratch book;
    for (std::uint32_t n = 0; n < cluster.size(); ++n) {
      const NodeId node(n);
      const std::int64_t empty = slots(cluster.capacity(node), request);
      if (empty == 0) continue;
      slots_empty += empty;
      if (const NodePower power = cluster.record(node).power; power != NodePower::kOn) {
        if (power == NodePower::kOff && pools.pool_of(node) != nullptr &&
            !pools.may_boot(node, now) && !cluster.record(node).drained) {
          resting.push_back(node);
          slots_resting += empty;
        }
        continue;
      }
      if (!cluster.in_service(node)) {
        std::string& names = cluster.record(node).up ? drained : down;
        names += (names.empty() ? "" : ",") + cluster.record(node).spec.name;
        continue;
      }
      if (!is_open_to(job, node)) {
        closed.push_back(node);
        slots_closed += slots(cluster.room(node), request);
        continue;
      }
      any_usable = true;
      slots_now += slots(cluster.room(node), request);
      if (!cluster.claims(node).empty()) {
        cluster.actual(node, book);
        slots_unclaimed += slots(book.room(), request);
      } else {
        slots_unclaimed += slots(cluster.room(node), request);
      }
    }
    const std::vector<Axis> axes = axes_of(cluster, request);

    if (slots_empty == 0) {
      // No node could ever hold one task: name the resource that none has
      // enough of, or, when each alone would do, their combination.
      std::vector<Reason::Param> params{{"constraint", "combination"}};
      for (const Axis& axis : axes) {
        std::int64_t largest = 0;
        for (std::uint32_t n = 0; n < cluster.size(); ++n)
          largest = std::max(largest, axis.amount_on(cluster.capacity(NodeId(n)), request));
        if (largest >= axis.need) continue;
        params = with({{"constraint", axis.name}, {"need", axis.need}, {"largest", largest}}, axis);
        break;
      }
      reasons.insert(reasons.begin(), Reason(ReasonCode::kNoMatchingNode, std::move(params)));
      continue;
    }
    if (slots_empty < need) {
      reasons.insert(reasons.begin(),
                     Reason(ReasonCode::kExceedsCluster,
                            {{"resource", "tasks"}, {"need", need}, {"capacity", slots_empty}}));
      continue;
    }
    if (slots_now >= need) continue;
    if (!closed.empty() && slots_now + slots_closed >= need) {
      reasons.push_back(maintenance_of(job, closed));
      continue;
    }
    if (!resting.empty() && slots_now + slots_resting >= need) {
      reasons.push_back(boot_failure_of(resting));
      continue;
    }
    // Nodes that would do but take nothing now.
    const auto name_absent_nodes = [&] {
      for (const auto& [code, names] : {std::pair{ReasonCode::kNodeDraining, drained},
                                        std::pair{ReasonCode::kNodeLost, down}}) {
        if (!names.empty()) reasons.emplace_back(code, std::vector<Reason::Param>{{"node", names}});
      }
      if (!closed.empty()) reasons.push_back(maintenance_of(job, closed));
    };
    if (!any_usable) {
      name_absent_nodes();
      continue;
    }
    if (slots_unclaimed >= need) {
      std::string names;
      for (const PendingKey& key : claiming)
        names += (names.empty() ? "" : ",") + jobs.at(key.job).record.uid;
      reasons.emplace_back(ReasonCode::kReservedFor, std::vector<Reason::Param>{{"job", names}});
      continue;
    }
    if (need > 1) {
      reasons.emplace_back(
          ReasonCode::kGangIncomplete,
          std::vector<Reason::Param>{{"role", roles[r].name}, {"have", slots_now}, {"need", need}});
    }
    // The resource that is short on every node, with what is free in all and
    // the most on one node.
    bool named = false;
    for (const Axis& axis : axes) {
      std::int64_t total = 0;
      std::int64_t largest = 0;
      std::int64_t enough = 0;
      for (std::uint32_t n = 0; n < cluster.size(); ++n) {
        if (!is_open_to(job, NodeId(n))) continue;
        const NodeRoom room = cluster.room(NodeId(n));
        const std::int64_t amount = axis.amount_on(room, request);
        total += axis.all_on(room, request);
        largest = std::max(largest, amount);
        enough += amount >= axis.need;
      }
      if (enough > 0 && (need == 1 || enough >= need)) continue;
      reasons.emplace_back(ReasonCode::kInsufficientFree, with({{"resource", axis.name},
                                                                {"need", axis.need},
                                                                {"free", total},
                                                                {"largest_block", largest}},
                                                               axis));
      named = true;
      break;
    }
    if (!named && need == 1)
      reasons.emplace_back(ReasonCode::kFragmented,
                           std::vector<Reason::Param>{{"need", need}, {"have", slots_now}});
    name_absent_nodes();
  }
  // What the nodes would do for, the domains need not.
  const bool never = !reasons.empty() && (reasons.front().code == ReasonCode::kNoMatchingNode ||
                                          reasons.front().code == ReasonCode::kExceedsCluster);
  if (!never) {
    auto topology = topology_reason(job);
    if (topology && std::find(reasons.begin(), reasons.end(), *topology) == reasons.end()) {
      const bool first = is_never(topology->code);
      reasons.insert(first ? reasons.begin() : reasons.end(), std::move(*topology));
    }
  }
  // Of several models that would do, those that its queue may not use.
  if (!over_quota) {
    for (Reason& model : queues.models_blocked(job.queue, asks))
      reasons.push_back(std::move(model));
  }
  // It was tried and found no room: each role would fit by itself, together
  // they do not.
  const bool tried = job.record.reservation || found_no_room(job);
  if (reasons.empty() && tried && roles.size() > 1) {
    std::int64_t tasks = 0;
    for (const Role& role : roles) tasks += role.min;
    reasons.emplace_back(ReasonCode::kFragmented,
                         std::vector<Reason::Param>{
                             {"need", tasks}, {"roles", static_cast<std::int64_t>(roles.size())}});
  }
  if (reasons.empty() && job.group != nullptr &&
      (found_no_room(job) || job.group->parked != PendingGroup::Parked::kNo)) {
    if (auto held = held_back(job)) reasons.push_back(std::move(*held));
  }
  add_plan_reasons(job, reasons);
  return reasons;
}

}  // namespace gridfold
