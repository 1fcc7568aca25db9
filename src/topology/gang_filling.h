// Ways of filling domains with a gang, before anybody has asked how fast they
// are: the narrowest domains that hold it, the tightest first, each filled
// tightly and evenly, of equal nodes those whose devices are linked and whose
// links are quiet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/device_pick.h"
#include "topology/rank_map.h"

namespace gridfold {

// So many tasks of a gang, each with so many devices, and the devices of each
// node that may be taken (by NodeId, bit d for device d). Lent.
struct GangShape {
  std::int32_t tasks = 1;
  std::int32_t devices_per_task = 1;
  std::span<const std::uint64_t> free;
  DevicePick pick = DevicePick::kLinked;
};

class GangFilling {
 public:
  explicit GangFilling(const LinkTraffic& traffic);

  // Different fillings, with either pick of devices; at most `domains_per_level`
  // domains of each level are filled. Empty when the gang does not fit at all.
  std::vector<std::vector<TaskPlace>> all(GangShape shape, std::int32_t domains_per_level);

  // `tasks` tasks in the domain, tightly: the tightest child that holds all;
  // without one the largest whole, then the rest. False when they do not fit.
  bool fill(const GangShape& shape, DomainId domain, std::int32_t tasks,
            std::vector<TaskPlace>& out);

  // Appends `tasks` tasks on free devices of the node, which has enough.
  void take(const GangShape& shape, NodeId node, std::uint64_t free, std::int32_t tasks,
            std::vector<TaskPlace>& out) const;

 private:
  void add_fillings(GangShape shape, std::int32_t most, std::int32_t domains_per_level,
                    std::vector<std::vector<TaskPlace>>& fillings);
  bool take_out_loaded(std::vector<std::uint64_t>& free) const;
  void count_slots(const GangShape& shape, std::int32_t at_once);
  std::int64_t slots_beneath(DomainId domain) const;
  std::vector<DomainId> candidates(std::int32_t tasks, std::int32_t domains_per_level) const;
  void pack(const GangShape& shape, DomainId domain, std::int64_t tasks,
            std::vector<TaskPlace>& out) const;

  std::int64_t awkwardness(const GangShape& shape, DomainId node, std::int64_t tasks) const;

  const LinkTraffic& traffic_;
  const Fabric& fabric_;
  std::vector<std::uint32_t> first_of_;  // by DomainId: first of its nodes in the tree's order
  std::vector<std::int64_t> sums_;       // of slots, over nodes in that order
};

}  // namespace gridfold
