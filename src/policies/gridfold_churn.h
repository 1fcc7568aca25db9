// What counts for the policy `gridfold` besides the prices once tasks leave
// again: gaps are then not only filled up, they come back, and it pays to keep
// them in shapes that the mix can use.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "model/node.h"
#include "policies/gridfold_worth.h"

namespace gridfold {

// The free share of one device times the part of the tasks that are too large
// for it, by hundredths free: FGD's measure of a fragment, of one device.
using UnusableShare = std::array<Worth, kShareSteps + 1>;
// `weight_by_step`: of the tasks that may use such a device, by what each takes
// of one; `all`: of all tasks that ask for devices of the class.
using WeightByStep = std::array<std::int64_t, kShareSteps + 1>;
UnusableShare unusable_share(const WeightByStep& weight_by_step, std::int64_t all);

// Worth of idle devices on one node as blocks for tasks that ask for several.
class BlockWorth {
 public:
  BlockWorth() = default;  // none
  // A fifth of the devices that tasks of each size could take now, and half of
  // those that are idle where such a task would fit once the others have left,
  // both weighed by the part of the whole demand that the size has. For the
  // latter small tasks fill first what large ones can never use.
  // `demand_by_count`: weight * thousandths of tasks for so many whole devices;
  // `all`: of all tasks.
  using DemandByCount = std::array<std::int64_t, kMaxDevicesPerNode + 1>;
  BlockWorth(const DemandByCount& demand_by_count, std::int64_t all);

  // Of `whole` idle devices on a node that has `devices`.
  Worth of(std::int32_t whole, std::int32_t devices) const {
    return blocks_[static_cast<std::size_t>(whole)] +
           whole * each_[static_cast<std::size_t>(devices)];
  }
  friend bool operator==(const BlockWorth&, const BlockWorth&) = default;

 private:
  std::array<Worth, kMaxDevicesPerNode + 1> blocks_{};  // by idle devices
  std::array<Worth, kMaxDevicesPerNode + 1> each_{};    // by devices of the node
};

}  // namespace gridfold
