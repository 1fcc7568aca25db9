// What a job's topology has against its start: counted from the books, the best
// domain named, and told apart whether it could ever hold the job.
#include <algorithm>

#include "engine/state.h"

namespace gridfold {
namespace {

// By role, then by domain: so many tasks fit beneath it.
using RoomByRole = std::vector<std::vector<std::int64_t>>;

struct Reach {
  std::int64_t tasks = 0;  // of those that the job needs at least
  DomainId domain = DomainTree::root();
};

// So many tasks of the role fit beneath the domain where its wish allows any.
std::int64_t held_in(const DomainTree& tree, const TopologyWish& wish,
                     const std::vector<std::int64_t>& room, DomainId domain) {
  const std::string& level = wish.segments ? wish.segments->within : wish.spread;
  if (level.empty()) return room[domain.value];
  std::int64_t held = 0;
  for (const DomainId part : tree.domains_at(level)) {
    if (!tree.contains(domain, part)) continue;
    const std::int64_t here = room[part.value];
    held += wish.segments ? here - here % wish.segments->size : here;
  }
  return held;
}

// So many tasks, of those that the job needs at least, fit beneath the domain.
// For roles of different requests an upper bound: each is counted by itself.
std::int64_t needed_in(const DomainTree& tree, const JobSpec& spec, const RoomByRole& room,
                       DomainId domain) {
  TopologyWish by_role = spec.topology;
  // Segments may hold tasks of several roles.
  if (spec.roles.size() > 1 && by_role.segments) {
    by_role.spread = by_role.segments->within;
    by_role.segments.reset();
  }
  std::int64_t tasks = 0;
  for (std::size_t r = 0; r < spec.roles.size(); ++r)
    tasks += std::min<std::int64_t>(held_in(tree, by_role, room[r], domain), spec.roles[r].min);
  return tasks;
}

// The domain that holds the most of what the job needs.
Reach best_domain(const DomainTree& tree, const JobSpec& spec, const RoomByRole& room) {
  const TopologyWish& wish = spec.topology;
  Reach best;
  const auto consider = [&](DomainId domain) {
    const std::int64_t tasks = needed_in(tree, spec, room, domain);
    if (tasks > best.tasks) best = {tasks, domain};
  };
  if (wish.require.empty()) {
    consider(DomainTree::root());
  } else {
    for (const DomainId domain : tree.domains_at(wish.require)) consider(domain);
  }
  return best;
}

// A required level that no node has, or whose domains are all full, has no best.
std::string text_of(const DomainTree& tree, const TopologyWish& wish, const Reach& reach) {
  if (reach.domain != DomainTree::root()) return tree.path(reach.domain);
  return wish.require.empty() ? "grid" : "none";
}

// The domain of the level in which the node lies; none where it lies in none.
DomainId domain_at(const DomainTree& tree, NodeId node, std::string_view level) {
  DomainId at = tree.domain_of(node);
  while (!at.is_none() && tree.level_name(at) != level) at = tree.parent(at);
  return at;
}

std::int64_t needed_by(const JobSpec& spec) {
  std::int64_t need = 0;
  for (const Role& role : spec.roles) need += role.min;
  return need;
}

}  // namespace

std::vector<bool> Engine::State::within_reach(const EngineJob& job) {
  const JobSpec& spec = *job.record.spec;
  const TopologyWish& wish = spec.topology;
  const std::string part = wish.segments ? wish.segments->within : wish.spread;
  if (wish.require.empty() && part.empty()) return {};
  const DomainTree& tree = domains.tree();
  RoomByRole room;
  for (const Request* request : job.requests) room.push_back(domains.row(*request).slots);
  std::vector<bool> reach(cluster.size());
  for (std::uint32_t n = 0; n < cluster.size(); ++n) {
    const DomainId whole =
        wish.require.empty() ? DomainTree::root() : domain_at(tree, NodeId(n), wish.require);
    if (whole.is_none()) continue;
    reach[n] = wish.require.empty() || needed_in(tree, spec, room, whole) >= needed_by(spec);
    if (part.empty() || !reach[n]) continue;
    const DomainId own = domain_at(tree, NodeId(n), part);
    // A segment of one role lies on nodes of that role's alone.
    const bool too_few = !own.is_none() && wish.segments && spec.roles.size() == 1 &&
                         room[0][own.value] < wish.segments->size;
    reach[n] = !own.is_none() && !too_few;
  }
  return reach;
}

std::optional<Reason> Engine::State::topology_reason(const EngineJob& job) {
  const JobSpec& spec = *job.record.spec;
  const TopologyWish& wish = spec.topology;
  const std::string level = !wish.require.empty()  ? wish.require
                            : !wish.spread.empty() ? wish.spread
                            : wish.segments        ? wish.segments->within
                                                   : std::string();
  if (level.empty()) return std::nullopt;
  const DomainTree& tree = domains.tree();
  const std::int64_t need = needed_by(spec);

  RoomByRole empty(spec.roles.size(), std::vector<std::int64_t>(tree.size(), 0));
  RoomByRole free = empty;
  RoomByRole unclaimed = empty;
  Cluster::Scratch book;
  for (std::uint32_t n = 0; n < cluster.size(); ++n) {
    const NodeId node(n);
    for (std::size_t r = 0; r < spec.roles.size(); ++r) {
      const Request& request = *job.requests[r];
      const std::int64_t at_most = slots(cluster.capacity(node), request);
      const bool is_open = is_open_to(job, node);
      std::int64_t now_free = is_open ? slots(cluster.room(node), request) : 0;
      std::int64_t without_claims = now_free;
      if (is_open && !cluster.claims(node).empty()) {
        cluster.actual(node, book);
        without_claims = slots(book.room(), request);
      }
      for (DomainId at = tree.domain_of(node); !at.is_none(); at = tree.parent(at)) {
        empty[r][at.value] += at_most;
        free[r][at.value] += now_free;
        unclaimed[r][at.value] += without_claims;
      }
    }
  }

  if (const Reach ever = best_domain(tree, spec, empty); ever.tasks < need)
    return Reason(ReasonCode::kUnsatisfiableTopology, {{"level", level},
                                                       {"need", need},
                                                       {"largest", ever.tasks},
                                                       {"domain", text_of(tree, wish, ever)}});
  const Reach best = best_domain(tree, spec, free);
  if (best.tasks >= need) return std::nullopt;
  if (best_domain(tree, spec, unclaimed).tasks >= need) {
    std::string names;
    for (const PendingKey& key : claiming)
      names += (names.empty() ? "" : ",") + jobs.at(key.job).record.uid;
    return Reason(ReasonCode::kReservedFor, {{"job", names}});
  }
  std::int64_t in_all = 0;
  std::int64_t needed_in_all = 0;
  for (std::size_t r = 0; r < spec.roles.size(); ++r) {
    in_all += free[r].front();
    needed_in_all += std::min<std::int64_t>(free[r].front(), spec.roles[r].min);
  }
  std::vector<Reason::Param> params{{"level", level},
                                    {"need", need},
                                    {"have", best.tasks},
                                    {"domain", text_of(tree, wish, best)}};
  if (needed_in_all < need) return Reason(ReasonCode::kGangIncomplete, std::move(params));
  params.emplace_back("in_all", in_all);
  return Reason(ReasonCode::kFragmented, std::move(params));
}

}  // namespace gridfold
