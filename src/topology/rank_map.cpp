#include "topology/rank_map.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace gridfold {

void places_of(const Fabric& fabric, std::span<const TaskPlace> tasks, std::vector<Place>& places) {
  places.clear();
  for (const TaskPlace& task : tasks) {
    const auto first = places.size();
    for (std::uint64_t left = task.devices; left != 0; left &= left - 1) {
      places.push_back({task.node, std::countr_zero(left)});
    }
    const auto& position = fabric.layout(task.node).ring_position;
    std::sort(places.begin() + static_cast<std::ptrdiff_t>(first), places.end(),
              [&](const Place& a, const Place& b) {
                return position[static_cast<std::size_t>(a.device)] <
                       position[static_cast<std::size_t>(b.device)];
              });
  }
}

RankMap RankMapper::map(const JobTraffic& job, std::vector<TaskPlace>& tasks,
                        std::int32_t max_evaluations) {
  sort_by_place(tasks);
  RankMap map{judge(job, tasks), 1};
  if (tasks.size() == 1) return map;
  const auto consider = [&] {
    if (map.evaluations >= max_evaluations || trial_ == tasks) return;
    ++map.evaluations;
    const StepTime time = judge(job, trial_);
    if (!time.better_than(map.expected)) return;
    map.expected = time;
    tasks = trial_;
  };
  constexpr RankAxis kT = RankAxis::kTensor;
  constexpr RankAxis kP = RankAxis::kPipeline;
  constexpr RankAxis kD = RankAxis::kData;
  constexpr RankAxis kOrders[][3] = {{kT, kP, kD}, {kT, kD, kP}, {kD, kT, kP},
                                 {kD, kP, kT}, {kP, kT, kD}, {kP, kD, kT}};
  const std::vector<TaskPlace> near_first = tasks;
  for (const auto& order : kOrders) {
    trial_ = near_first;
    by_axes(job, order, trial_);
    consider();
  }
  if (fills_units_unevenly(job, near_first)) {
    for (const auto& order : {kOrders[0], kOrders[1]}) {
      trial_ = near_first;
      whole_groups_first(job, trial_);
      by_axes(job, std::span(order, 3), trial_);
      consider();
    }
  }
  improve(job, tasks, map, max_evaluations);
  return map;
}

StepTime RankMapper::judge(const JobTraffic& job, std::span<const TaskPlace> tasks) {
  places_of(expected_.traffic().fabric(), tasks, places_);
  return expected_.step(job, places_);
}

void RankMapper::sort_by_place(std::vector<TaskPlace>& tasks) const {
  const Fabric& fabric = expected_.traffic().fabric();
  const auto key = [&](const TaskPlace& task) {
    std::uint8_t first = 255;
    const auto& position = fabric.layout(task.node).ring_position;
    for (std::uint64_t left = task.devices; left != 0; left &= left - 1) {
      first = std::min(first, position[static_cast<std::size_t>(std::countr_zero(left))]);
    }
    return std::tuple(fabric.tree().domain_of(task.node).value, first, task.devices);
  };
  std::sort(tasks.begin(), tasks.end(),
            [&](const TaskPlace& a, const TaskPlace& b) { return key(a) < key(b); });
}

// Whether a tensor group takes several tasks and some unit has no whole number
// of groups.
bool RankMapper::fills_units_unevenly(const JobTraffic& job,
                                      std::span<const TaskPlace> tasks) const {
  const std::int64_t devices = job.ranks() / static_cast<std::int64_t>(tasks.size());
  if (job.tensor <= devices || job.tensor % devices != 0) return false;
  const Fabric& fabric = expected_.traffic().fabric();
  std::int64_t inner = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    inner += devices;
    const bool last =
        i + 1 == tasks.size() || fabric.unit(tasks[i].node) != fabric.unit(tasks[i + 1].node);
    if (!last) continue;
    if (inner % job.tensor != 0) return true;
    inner = 0;
  }
  return false;
}

// Tensor groups that fit into one unit first, and the tasks that are left over
// in each unit after all of them.
void RankMapper::whole_groups_first(const JobTraffic& job, std::vector<TaskPlace>& tasks) {
  const std::int64_t devices = job.ranks() / static_cast<std::int64_t>(tasks.size());
  const auto group = static_cast<std::size_t>(job.tensor / devices);
  const Fabric& fabric = expected_.traffic().fabric();
  other_.clear();
  std::size_t kept = 0;
  for (std::size_t first = 0; first < tasks.size();) {
    std::size_t last = first;
    const DomainId unit = fabric.unit(tasks[first].node);
    while (last < tasks.size() && fabric.unit(tasks[last].node) == unit) ++last;
    const std::size_t whole = first + (last - first) / group * group;
    for (std::size_t i = first; i < last; ++i) {
      if (i < whole) {
        tasks[kept++] = tasks[i];
      } else {
        other_.push_back(tasks[i]);
      }
    }
    first = last;
  }
  std::copy(other_.begin(), other_.end(), tasks.begin() + static_cast<std::ptrdiff_t>(kept));
}

// Hands out the places, near ones following one another, to the ranks counted
// along the axes in this order, the first the fastest.
void RankMapper::by_axes(const JobTraffic& job, std::span<const RankAxis> nearest_first,
                         std::vector<TaskPlace>& tasks) {
  const std::int64_t devices = job.ranks() / static_cast<std::int64_t>(tasks.size());
  blocks_.resize(tasks.size());
  std::iota(blocks_.begin(), blocks_.end(), 0u);
  const auto key = [&](std::uint32_t block) {
    const auto at = [&](std::size_t axis) {
      return groups_of(job, nearest_first[axis]).position_of(block * devices);
    };
    return std::tuple(at(2), at(1), at(0), block);
  };
  std::sort(blocks_.begin(), blocks_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  other_ = tasks;
  for (std::size_t i = 0; i < blocks_.size(); ++i) tasks[blocks_[i]] = other_[i];
}

void RankMapper::improve(const JobTraffic& job, std::vector<TaskPlace>& tasks, RankMap& map,
                         std::int32_t max_evaluations) {
  for (bool better = true; better;) {
    better = false;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      for (std::size_t j = i + 1; j < tasks.size(); ++j) {
        if (tasks[i].node == tasks[j].node) continue;
        if (map.evaluations >= max_evaluations) return;
        ++map.evaluations;
        std::swap(tasks[i], tasks[j]);
        const StepTime time = judge(job, tasks);
        if (time.better_than(map.expected)) {
          map.expected = time;
          better = true;
        } else {
          std::swap(tasks[i], tasks[j]);
        }
      }
    }
  }
}

}  // namespace gridfold
