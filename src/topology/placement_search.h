// Chooses nodes and devices for a gang so that its expected step time is
// small: the fillings of topology/gang_filling.h, the best of them improved by
// moves of tasks, ranks and devices while they help, then kicks and moves again.
//
//   PlacementSearch search(expected);
//   auto plan = search.find(free, {.tasks = 4, .devices_per_task = 8, .traffic = job});
//
// Deterministic: effort is counted in evaluations of the model, never in time,
// kicks come from a stream of fixed seed, and of two placements that are
// equally fast and work the links as much the one found first stays.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "topology/gang_filling.h"
#include "topology/rank_map.h"

namespace gridfold {

struct GangRequest {
  std::int32_t tasks = 1;
  std::int32_t devices_per_task = 1;  // tasks x devices_per_task == traffic.ranks()
  JobTraffic traffic;
};

struct PlacementSearchOptions {
  std::int32_t max_evaluations = 8'000;
  // Domains of each level that are filled, the tightest ones.
  std::int32_t domains_per_level = 8;
  // Of the fillings, so many are improved.
  std::int32_t improved = 4;
};

struct PlacementPlan {
  std::vector<TaskPlace> tasks;  // in order of their ranks
  StepTime expected;
  std::int32_t evaluations = 0;
};

class PlacementSearch {
 public:
  explicit PlacementSearch(ExpectedTime& expected, PlacementSearchOptions options = {});

  // free[i]: the devices of NodeId(i) that may be taken, bit d for device d.
  // Empty when they do not hold the gang. kInvalid when the request contradicts
  // itself or names devices that the node does not have.
  Result<std::optional<PlacementPlan>> find(std::span<const std::uint64_t> free,
                                            const GangRequest& request);

 private:
  struct Draft {
    std::vector<TaskPlace> tasks;  // in order of their ranks
    StepTime expected;
    bool better_than(const Draft& other) const { return expected.better_than(other.expected); }
  };

  Draft judged(std::vector<TaskPlace> tasks);
  Draft ordered(std::vector<TaskPlace> tasks);
  enum class MoveOrder : std::uint8_t { kNearFirst, kFarFirst };
  void improve(Draft& draft, MoveOrder order);
  bool far_moves(Draft& draft);   // of tasks to other nodes
  bool near_moves(Draft& draft);  // of ranks, and of devices in a node
  void kick(Draft& draft);
  bool accept(Draft& draft, const std::vector<TaskPlace>& tasks);
  // Each goes through all its moves once, takes those that help at once, and
  // tells whether one did.
  bool move_domains(Draft& draft);
  bool move_blocks(Draft& draft);
  bool empty_nodes(Draft& draft);
  bool move_tasks(Draft& draft);
  bool swap_ranks(Draft& draft);
  bool change_devices(Draft& draft);
  bool change_device(Draft& draft, std::size_t task, std::size_t leaving, std::size_t coming);
  std::vector<NodeId> targets(const Draft& draft) const;
  std::uint64_t unused(const std::vector<TaskPlace>& tasks, NodeId node) const;
  bool holds_one(std::uint64_t free) const;
  bool exhausted() const { return evaluations_ >= options_.max_evaluations; }

  ExpectedTime& expected_;
  const Fabric& fabric_;
  PlacementSearchOptions options_;
  RankMapper mapper_;
  GangFilling filling_;
  // Of the request at hand.
  GangShape shape_;
  const JobTraffic* job_ = nullptr;
  std::int32_t evaluations_ = 0;
  RandomStream random_;
  // Scratch room.
  std::vector<Place> places_;
  std::vector<std::uint64_t> rest_;
};

}  // namespace gridfold
