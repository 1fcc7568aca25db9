// On how many nodes which limit keeps a waiting job's tasks off.
#include <map>
#include <tuple>

#include "base/planted.h"
#include "engine/state.h"

namespace gridfold {
namespace {

const Axis* first_short(const NodeRoom& room, const Request& request, std::span<const Axis> axes) {
  for (const Axis& axis : axes)
    if (axis.amount_on(room, request) < axis.need) return &axis;
  return nullptr;
}

LimitCount of_resource(NodeLimit limit, const Axis* axis) {
  if (axis == nullptr) return {limit, "combination"};
  LimitCount count{limit, axis->name};
  for (const auto& [name, value] : axis->more) count.wish = std::get<std::string>(value);
  return count;
}

}  // namespace

// The first that binds, domains aside.
LimitCount Engine::State::limit_on(const EngineJob& job, NodeId node, const Request& request,
                                   std::span<const Axis> axes) const {
  const NodeRoom capacity = cluster.capacity(node);
  if (!fits(capacity, request))
    return of_resource(NodeLimit::kTooSmall, first_short(capacity, request, axes));
  if (!cluster.record(node).up) return {NodeLimit::kDown};
  if (!cluster.in_service(node) && !GRIDFOLD_PLANTED_BUG(drained_node_has_room))
    return {NodeLimit::kDrained};
  if (windows.closing(node, lasts_until(job)) != nullptr) return {NodeLimit::kMaintenance};
  const NodeRoom room = cluster.room(node);
  if (fits(room, request)) return {NodeLimit::kNone};
  if (!cluster.claims(node).empty()) {
    Cluster::Scratch book;
    cluster.actual(node, book);
    if (fits(book.room(), request)) return {NodeLimit::kReserved};
  }
  return of_resource(NodeLimit::kInUse, first_short(room, request, axes));
}

std::vector<RoleLimits> Engine::limits(JobId id) const {
  State& s = *state_;
  const EngineJob* job = s.find(id);
  std::vector<RoleLimits> all;
  if (job == nullptr || job->record.state != JobState::kPending) return all;
  const std::vector<bool> reach = s.within_reach(*job);
  for (std::size_t r = 0; r < job->requests.size(); ++r) {
    const Request& request = *job->requests[r];
    const std::vector<Axis> axes = axes_of(s.cluster, request);
    std::map<std::tuple<NodeLimit, std::string, std::string>, std::int64_t> counts;
    for (std::uint32_t n = 0; n < s.cluster.size(); ++n) {
      LimitCount on = s.limit_on(*job, NodeId(n), request, axes);
      if (on.limit == NodeLimit::kNone && !reach.empty() && !reach[n])
        on.limit = NodeLimit::kDomain;
      ++counts[{on.limit, std::move(on.resource), std::move(on.wish)}];
    }
    RoleLimits& role = all.emplace_back();
    role.role = job->record.spec->roles[r].name;
    role.nodes = static_cast<std::int64_t>(s.cluster.size());
    for (const auto& [what, nodes] : counts)
      role.counts.push_back({std::get<0>(what), std::get<1>(what), std::get<2>(what), nodes});
  }
  return all;
}

}  // namespace gridfold
