// Which devices are free while a round is planned, and the places that several
// policies choose alike: as few nodes as can be, the emptiest first.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/round_policy.h"

namespace gridfold {

class RoundRoom {
 public:
  explicit RoundRoom(std::span<const RoundNode> nodes);

  std::int32_t free() const { return free_; }
  void take(std::span<const RoundPlace> places, std::int32_t devices_each);

  // Places of so many tasks, taken as well: each time as many as fit on the
  // node with the most free devices, the first of equals. Empty, and nothing is
  // taken, when they do not fit.
  std::vector<RoundPlace> take_emptiest(std::int32_t tasks, std::int32_t devices_each);

 private:
  struct Room {
    NodeId node = NodeId::none();
    std::int32_t free = 0;  // devices
  };
  Room& room_of(NodeId node);

  std::vector<Room> rooms_;
  std::int32_t free_ = 0;  // over all nodes
};

// Devices of all nodes.
std::int32_t device_count(std::span<const RoundNode> nodes);
std::int32_t task_count(std::span<const RoundPlace> places);

// The measures that a job's part of the devices is taken by; the view has jobs.
struct RoundMeasures {
  std::int32_t devices = 0;       // of all nodes
  std::int32_t node_devices = 1;  // of the largest node
  double fair_devices = 1;        // an equal part for each job, rounded up

  std::int32_t tasks_a_node(std::int32_t devices_each) const;  // at least 1
  double fair_tasks(std::int32_t devices_each) const;          // a whole number, at least 1
};
RoundMeasures measures_of(const RoundView& view);

}  // namespace gridfold
