// Devices that will stay idle because their node runs out of CPU.
//
// A node with so much free share (of all its devices together) and so much
// free CPU is filled at random from the mix, always with a task that still
// fits; W(share, cpu) is the share that is idle when nothing fits any more:
//
//   W(R, C) = sum over tasks that fit of p_k W(R - share_k, C - cpu_k) / sum of p_k
//   W(R, C) = R when none fits
//
// With CPU without end something is idle as well, for want of small tasks;
// that is the prices' business, so only W(R, C) - W(R, much CPU) is kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/gridfold_worth.h"

namespace gridfold {

class Stranding {
 public:
  struct Task {
    std::int64_t share = 0;   // thousandths, of all its devices
    std::int64_t cpu = 0;     // millicores
    std::int64_t weight = 0;  // how often it comes
  };
  // The largest node: thousandths of devices, millicores.
  struct Extent {
    std::int64_t share = 0;
    std::int64_t cpu = 0;
    friend bool operator==(const Extent&, const Extent&) = default;
  };

  Stranding() = default;  // nothing is ever stranded
  Stranding(std::span<const Task> tasks, const Extent& largest_node);

  // Of a node with so much free; between the cells of the table linearly.
  Worth at(std::int64_t share, std::int64_t cpu) const;

  // By how much the two differ at most.
  static Worth distance(const Stranding& a, const Stranding& b);

 private:
  static constexpr std::int64_t kLeastCpuCell = 1000;  // millicores
  std::int64_t cpu_cell() const { return kLeastCpuCell << cpu_doublings_; }

  std::int32_t cpu_doublings_ = 0;
  std::int64_t shares_ = 0;   // cells of share, besides 0
  std::vector<Worth> table_;  // [share cell][CPU cell]
};

}  // namespace gridfold
