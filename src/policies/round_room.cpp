#include "policies/round_room.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace gridfold {

RoundRoom::RoundRoom(std::span<const RoundNode> nodes) {
  rooms_.reserve(nodes.size());
  for (const auto& node : nodes) {
    rooms_.push_back({node.id, node.devices});
    free_ += node.devices;
  }
}

RoundRoom::Room& RoundRoom::room_of(NodeId node) {
  const auto found = std::lower_bound(rooms_.begin(), rooms_.end(), node,
                                      [](const Room& room, NodeId id) { return room.node < id; });
  assert(found != rooms_.end() && found->node == node);
  return *found;
}

void RoundRoom::take(std::span<const RoundPlace> places, std::int32_t devices_each) {
  for (const auto& place : places) {
    const std::int32_t devices = place.tasks * devices_each;
    room_of(place.node).free -= devices;
    free_ -= devices;
  }
}

std::vector<RoundPlace> RoundRoom::take_emptiest(std::int32_t tasks, std::int32_t devices_each) {
  std::vector<RoundPlace> places;
  while (tasks > 0) {
    const auto best = std::max_element(
        rooms_.begin(), rooms_.end(), [](const Room& a, const Room& b) { return a.free < b.free; });
    const std::int32_t fits = best == rooms_.end() ? 0 : best->free / devices_each;
    if (fits == 0) {
      for (const auto& place : places) {
        room_of(place.node).free += place.tasks * devices_each;
        free_ += place.tasks * devices_each;
      }
      return {};
    }
    const RoundPlace place{best->node, std::min(fits, tasks)};
    take({&place, 1}, devices_each);
    places.push_back(place);
    tasks -= place.tasks;
  }
  return places;
}

std::int32_t device_count(std::span<const RoundNode> nodes) {
  std::int32_t sum = 0;
  for (const auto& node : nodes) sum += node.devices;
  return sum;
}

std::int32_t task_count(std::span<const RoundPlace> places) {
  std::int32_t sum = 0;
  for (const auto& place : places) sum += place.tasks;
  return sum;
}

std::int32_t RoundMeasures::tasks_a_node(std::int32_t devices_each) const {
  return std::max(1, node_devices / devices_each);
}

double RoundMeasures::fair_tasks(std::int32_t devices_each) const {
  return std::max(1.0, std::ceil(fair_devices / devices_each));
}

RoundMeasures measures_of(const RoundView& view) {
  RoundMeasures measures;
  measures.devices = device_count(view.nodes);
  for (const auto& node : view.nodes)
    measures.node_devices = std::max(measures.node_devices, node.devices);
  measures.fair_devices =
      std::ceil(static_cast<double>(measures.devices) / static_cast<double>(view.jobs.size()));
  return measures;
}

}  // namespace gridfold
