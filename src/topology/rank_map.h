// Which task of a gang gets which ranks, so that ranks that exchange much are
// near one another: tensor groups in the narrowest unit, then pipeline, then
// data, or the axes in another order where that is faster.
//
// A task's ranks follow one another, as torchrun numbers them: task i of the
// answer has the ranks [i·d, (i+1)·d), its devices in the order in which they
// are joined.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/communication.h"

namespace gridfold {

// A task's node and devices, bit i for device i.
struct TaskPlace {
  NodeId node;
  std::uint64_t devices = 0;
  friend bool operator==(const TaskPlace&, const TaskPlace&) = default;
};

// Device of each rank, written into `places`.
void places_of(const Fabric& fabric, std::span<const TaskPlace> tasks, std::vector<Place>& places);

struct RankMap {
  StepTime expected;
  std::int32_t evaluations = 0;
};

class RankMapper {
 public:
  explicit RankMapper(ExpectedTime& expected) : expected_(expected) {}

  // Puts the tasks into the order of their ranks. All have equally many devices,
  // job.ranks() in all. Tries a few orders, then swaps two tasks of different
  // nodes where that helps, and stops after `max_evaluations` (at least one is
  // made). The same tasks in any order give the same answer.
  RankMap map(const JobTraffic& job, std::vector<TaskPlace>& tasks, std::int32_t max_evaluations);

 private:
  StepTime judge(const JobTraffic& job, std::span<const TaskPlace> tasks);
  void sort_by_place(std::vector<TaskPlace>& tasks) const;
  bool fills_units_unevenly(const JobTraffic& job, std::span<const TaskPlace> tasks) const;
  void whole_groups_first(const JobTraffic& job, std::vector<TaskPlace>& tasks);
  void by_axes(const JobTraffic& job, std::span<const RankAxis> nearest_first,
               std::vector<TaskPlace>& tasks);
  void improve(const JobTraffic& job, std::vector<TaskPlace>& tasks, RankMap& map,
               std::int32_t max_evaluations);

  ExpectedTime& expected_;
  // Scratch room.
  std::vector<Place> places_;
  std::vector<TaskPlace> trial_;
  std::vector<TaskPlace> other_;
  std::vector<std::uint32_t> blocks_;
};

}  // namespace gridfold
