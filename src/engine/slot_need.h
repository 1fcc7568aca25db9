// A request in the counts of one make of node: how many tasks go into what is
// free, and what they take of it. Pure.
//
// Exact for whole devices without a wish for their place. What is counted with
// care, so that a plan always holds:
// - devices that must lie near to each other: as many must be free as leave no
//   choice of the free ones without a set of them;
// - a partition or a slice: a whole device, whatever else is on it;
// - a request whose groups of devices can take the same kinds: in the order of
//   its groups, each from the kind of which most is free.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cluster.h"
#include "engine/free_steps.h"

namespace gridfold {

// What nodes with the same devices have in common.
struct NodeMake {
  std::vector<DeviceKind> kinds;      // at most kMaxDeviceKinds; further ones are not counted
  std::vector<std::uint8_t> kind_of;  // by device; kUncounted
  static constexpr std::uint8_t kUncounted = 255;
};
NodeMake make_of(const NodeRoom& empty);
// All of the node that may be used.
FreeAmount capacity_of(const NodeMake& make, const NodeRoom& empty);

class SlotNeed {
 public:
  SlotNeed(const Request& request, const NodeMake& make, const NodeRoom& empty);

  // So many tasks fit; at most kMostSlots.
  std::int32_t slots(const FreeAmount& free) const;
  // What so many tasks take of it, also where they do not fit.
  FreeAmount taken(std::int32_t tasks, const FreeAmount& free) const;
  // What is left over beside them, in the unit that the request lives by:
  // devices of its kinds, else millicores.
  std::int64_t left_over(std::int32_t tasks, const FreeAmount& free) const;

  static constexpr std::int32_t kMostSlots = 1'000'000;

 private:
  struct Group {
    std::uint8_t kinds = 0;   // bit k: of the node's kind k
    std::int32_t count = 0;   // devices a task
    std::int32_t least = 0;   // that must be free for one task
    std::int32_t all = 0;     // on a node of which all is free, and then so many
    std::int32_t of_all = 0;  // tasks find theirs
  };
  std::int32_t free_of(const Group& group, const FreeAmount& free) const;

  std::int64_t cpu_ = 0;
  std::int64_t memory_ = 0;
  std::vector<Group> groups_;
  bool shares_kinds_ = false;  // between groups
};

}  // namespace gridfold
