// Which limit keeps a waiting job off each node, counted anew.
#include <algorithm>
#include <map>

#include "simulator/verify/device_rules.h"
#include "simulator/verify/recount.h"

namespace gridfold::verify {
namespace {

// One resource that a task needs, as reasons name it.
struct Need {
  std::string resource;
  std::int64_t amount = 0;
  bool as_wished = false;
  std::string wish;
};

std::vector<Need> needs_of(const World& world, const TaskRequest& request) {
  std::vector<Need> needs;
  for (const DeviceRequest& group : request.devices) {
    const std::string& name = group.device_class;
    if (group.is_whole()) {
      needs.push_back({name, group.count});
      if (group.place != DevicePlace::kAny)
        needs.push_back({name, group.count, true, std::string(to_string(group.place))});
    } else if (!group.partition.empty()) {
      std::int64_t length = 1;
      for (const NodeSpec& node : world.nodes) {
        for (const DeviceSpec& device : node.devices) {
          const PartitionProfile* profile = profile_named(device, group.partition);
          if (profile != nullptr) length = std::max<std::int64_t>(length, profile->length);
        }
      }
      needs.push_back({name + "_partition", length, false, group.partition});
    } else {
      if (group.share.value > 0) needs.push_back({name + "_share", group.share.value});
      if (group.memory.value > 0) needs.push_back({name + "_memory", group.memory.value});
    }
  }
  if (request.cpu.value > 0) needs.push_back({"cpu", request.cpu.value});
  if (request.memory.value > 0) needs.push_back({"memory", request.memory.value});
  return needs;
}

}  // namespace

Recount::Limit Recount::limit_on(std::size_t n, const TaskRequest& request) const {
  const auto short_of = [&](const Room& room, const char* limit) -> Limit {
    for (const Need& need : needs_of(world_, request)) {
      if (axis(room, request, need.resource, need.as_wished).largest < need.amount)
        return {limit, need.resource, need.wish};
    }
    return {limit, "combination", ""};
  };
  if (slots(empty_[n], request) == 0) return short_of(empty_[n], "too_small");
  if (!actual_[n].up) return {"down", "", ""};
  if (!serves_[n]) return {"drained", "", ""};
  if (!actual_[n].takes_tasks) return {"maintenance", "", ""};
  if (slots(now_[n], request) > 0) return {"has_room", "", ""};
  if (claimed_[n] && slots(actual_[n], request) > 0) return {"reserved", "", ""};
  return short_of(now_[n], "in_use");
}

// The node lies in a domain where the job's topology could be met now.
bool Recount::within_reach(const MirrorJob& job, std::size_t n) const {
  const TopologyWish& wish = job.spec->topology;
  const NodeSpec& node = world_.nodes[n];
  if (!wish.require.empty()) {
    const auto own = domain_at(node, wish.require);
    if (!own) return false;
    const TopologyReach alone =
        topology_reach(world_, *job.spec, [&](int other, const Role& role) -> std::int64_t {
          const auto o = static_cast<std::size_t>(other);
          const bool counts =
              actual_[o].takes_tasks && domain_at(world_.nodes[o], wish.require) == own;
          return counts ? slots(now_[o], role.each) : 0;
        });
    if (alone.tasks < alone.need) return false;
  }
  const std::string part = wish.segments ? wish.segments->within : wish.spread;
  if (part.empty()) return true;
  const auto own = domain_at(node, part);
  if (!own) return false;
  if (!wish.segments || job.spec->roles.size() > 1) return true;
  return room_in(*own, job.request(0)) >= wish.segments->size;
}

std::optional<Recount::Wrong> Recount::check(const MirrorJob& job,
                                             const std::vector<RoleLimits>& limits) {
  look_at(job);
  if (limits.size() != job.spec->roles.size()) return Wrong{"I13", "limits of other roles"};
  for (std::size_t r = 0; r < limits.size(); ++r) {
    std::map<Limit, std::int64_t> mine;
    std::int64_t known = 0;
    for (std::size_t n = 0; n < now_.size(); ++n) {
      if (!now_[n].known) continue;
      ++known;
      Limit limit = limit_on(n, job.spec->roles[r].each);
      if (std::get<0>(limit) == "has_room" && has_hard_topology(*job.spec) && !within_reach(job, n))
        limit = {"domain", "", ""};
      ++mine[limit];
    }
    std::int64_t sum = 0;
    for (const LimitCount& count : limits[r].counts) {
      sum += count.nodes;
      const std::string limit(to_string(count.limit));
      const auto it = mine.find({limit, count.resource, count.wish});
      const std::int64_t counted = it == mine.end() ? 0 : it->second;
      if (count.nodes != counted)
        return Wrong{"I13", limit + " " + count.resource + " on " + std::to_string(count.nodes) +
                                " nodes, counted " + std::to_string(counted)};
    }
    if (sum != known || limits[r].nodes != known)
      return Wrong{"I13", "its limits are of " + std::to_string(sum) + " nodes, and there are " +
                              std::to_string(known)};
  }
  return std::nullopt;
}

}  // namespace gridfold::verify
