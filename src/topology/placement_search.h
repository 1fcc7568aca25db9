// Chooses nodes and devices for a gang so that its expected step time is
// small: the narrowest domains that hold it first, best fit among them, a few
// ways of filling each, then moves of tasks and devices while they help.
//
//   PlacementSearch search(expected);
//   auto plan = search.find(free, {.tasks = 4, .devices_per_task = 8, .traffic = job});
//
// Deterministic: effort is counted in evaluations of the model, never in time,
// and of two placements that are equally fast the one found first stays.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topology/rank_map.h"

namespace gridfold {

struct GangRequest {
  std::int32_t tasks = 1;
  std::int32_t devices_per_task = 1;  // tasks x devices_per_task == traffic.ranks()
  JobTraffic traffic;
};

struct PlacementSearchOptions {
  std::int32_t max_evaluations = 3'000;
  // Domains of each level that are tried, the tightest ones.
  std::int32_t domains_per_level = 8;
  // Of the fillings tried, so many are improved.
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
  // So many tasks on a node, and which of its devices they take.
  struct Part {
    NodeId node;
    std::int32_t tasks = 0;
    std::uint64_t devices = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };
  struct Draft {
    std::vector<Part> parts;  // in order of node
    StepTime expected;
  };

  void count_slots(std::span<const std::uint64_t> free, std::int32_t at_once);
  std::int64_t slots_beneath(DomainId domain) const;
  std::vector<DomainId> candidates() const;
  void draft_fillings();
  void fill(DomainId domain, std::int64_t tasks, std::vector<Part>& parts) const;
  void consider(std::vector<Part> parts);
  void evaluate(Draft& draft);
  void improve(Draft& draft);
  bool move_tasks(Draft& draft);
  bool move_domains(Draft& draft);
  bool move_devices(Draft& draft);
  bool try_parts(Draft& draft, std::vector<Part> parts);
  std::vector<NodeId> newcomers(const Draft& draft) const;
  std::uint64_t pick(NodeId node, std::int32_t tasks) const;
  void assign(std::span<const Part> parts);
  bool exhausted() const { return evaluations_ >= options_.max_evaluations; }

  ExpectedTime& expected_;
  const Fabric& fabric_;
  PlacementSearchOptions options_;
  RankMapper mapper_;
  // Of the request at hand.
  const GangRequest* request_ = nullptr;
  std::span<const std::uint64_t> free_;
  std::int32_t evaluations_ = 0;
  std::vector<Draft> drafts_;
  std::vector<std::int64_t> sums_;       // of slots, over nodes in the tree's order
  std::vector<std::uint32_t> first_of_;  // by DomainId: first of its nodes in that order
  std::vector<TaskPlace> tasks_;
};

}  // namespace gridfold
