#include "policies/round_pool.h"

#include <algorithm>

namespace gridfold {
namespace {

bool suits(const RoundNode& node, const DeviceRequest& request) {
  if (node.device_class != request.device_class) return false;
  return request.models.empty() || std::find(request.models.begin(), request.models.end(),
                                             node.model) != request.models.end();
}

const DeviceRequest& request_of(const RoundJob& job) {
  return job.spec->roles.front().each.devices.front();
}

}  // namespace

RoundPool::RoundPool(const RoundView& view) {
  for (const RoundNode& node : view.nodes) {
    index_.emplace(node.id, rooms_.size());
    rooms_.push_back({&node, node.devices});
  }
}

void RoundPool::take(const RoundJob& job, std::span<const RoundPlace> places) {
  for (const RoundPlace& place : places)
    rooms_[index_.at(place.node)].free -= std::int64_t{place.tasks} * job.devices_each();
}

void RoundPool::give_back(const RoundJob& job, std::span<const RoundPlace> places) {
  for (const RoundPlace& place : places)
    rooms_[index_.at(place.node)].free += std::int64_t{place.tasks} * job.devices_each();
}

std::int64_t RoundPool::room_for(const RoundJob& job) const {
  std::int64_t tasks = 0;
  for (const Room& room : rooms_) {
    if (suits(*room.node, request_of(job)))
      tasks += std::max<std::int64_t>(room.free, 0) / job.devices_each();
  }
  return tasks;
}

std::vector<RoundPlace> RoundPool::consolidated(const RoundJob& job, std::int64_t tasks) const {
  struct Slots {
    NodeId node;
    std::int64_t slots = 0;  // tasks that fit
    std::int64_t free = 0;
  };
  std::vector<Slots> nodes;
  for (const Room& room : rooms_) {
    const std::int64_t slots = room.free / job.devices_each();
    if (slots > 0 && suits(*room.node, request_of(job)))
      nodes.push_back({room.node->id, slots, room.free});
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const Slots& a, const Slots& b) { return a.slots > b.slots; });
  // Of the nodes that hold all that is left, the one with least free.
  const auto tightest = [&](std::size_t from, std::int64_t left) {
    std::size_t best = nodes.size();
    for (std::size_t i = from; i < nodes.size() && nodes[i].slots >= left; ++i) {
      if (best == nodes.size() || nodes[i].free < nodes[best].free) best = i;
    }
    return best;
  };
  std::map<NodeId, std::int64_t> chosen;
  std::int64_t left = tasks;
  for (std::size_t i = 0; i < nodes.size() && left > 0; ++i) {
    const std::size_t last = tightest(i, left);
    const Slots& here = nodes[last == nodes.size() ? i : last];
    const std::int64_t taken = std::min(here.slots, left);
    chosen[here.node] = taken;
    left -= taken;
  }
  std::vector<RoundPlace> places;
  if (left > 0) return places;
  for (const auto& [node, count] : chosen)
    places.push_back({node, static_cast<std::int32_t>(count)});
  return places;
}

std::vector<RoundNode> nodes_beside(const RoundView& view,
                                    std::span<const RoundAssignment> assignments) {
  std::map<JobId, std::int32_t> devices_each;
  for (const RoundJob& job : view.jobs) devices_each.emplace(job.id, job.devices_each());
  std::map<NodeId, std::int32_t> taken;
  for (const RoundAssignment& assignment : assignments) {
    for (const RoundPlace& place : assignment.places)
      taken[place.node] += place.tasks * devices_each.at(assignment.job);
  }
  std::vector<RoundNode> nodes = view.nodes;
  for (RoundNode& node : nodes) {
    if (const auto here = taken.find(node.id); here != taken.end()) node.devices -= here->second;
  }
  return nodes;
}

std::int64_t preferred_tasks(const JobSpec& spec) {
  const Role& role = spec.roles.front();
  return role.preferred > 0 ? role.preferred : role.count;
}

}  // namespace gridfold
