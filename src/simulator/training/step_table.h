// How long a training step takes, as it was measured: by exact placement, and
// for placements that were not measured between those that were.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "simulator/training/scattered_table.h"

namespace gridfold {

struct StepTimes {
  double step = 0;  // seconds of one gradient and its synchronisation
  double sync = 0;  // of that: synchronisation
};

// Tasks on each node, in the order of the job's tasks. Rotations of it are the
// same placement; {1,2,3} and {1,3,2} are not.
using TasksByNode = std::vector<std::int32_t>;
// The smallest rotation of those nodes that have a task.
TasksByNode smallest_rotation(std::span<const std::int32_t> tasks);

struct MeasuredStep {
  TasksByNode placement;  // empty: only the numbers of nodes and tasks are known
  std::int32_t nodes = 0;
  std::int32_t tasks = 0;
  std::int64_t local_batch = 0;
  StepTimes times;
};

class StepTable {
 public:
  explicit StepTable(const std::vector<MeasuredStep>& measured);

  // A placement that was measured: linear between its local batches. Another:
  // linear between the means over placements of (nodes, tasks, local batch).
  // Unknown beyond what was measured: nothing is extrapolated. Any thread.
  Known<StepTimes> at(std::span<const std::int32_t> tasks, std::int64_t local_batch) const;

  std::int64_t least_local_batch() const { return least_; }
  std::int64_t largest_local_batch() const { return largest_; }

 private:
  using Curve = std::vector<std::pair<std::int64_t, StepTimes>>;  // by local batch
  struct Size {
    std::int32_t nodes, tasks;
    std::int64_t local_batch;
    friend auto operator<=>(const Size&, const Size&) = default;
  };
  static std::vector<ScatteredPoint> points_of(const std::vector<MeasuredStep>& measured);
  Known<StepTimes> between_sizes(const Size& size) const;

  std::map<TasksByNode, Curve> curves_;
  ScatteredTable scattered_;
  std::int64_t least_ = 0;
  std::int64_t largest_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<Size, Known<StepTimes>> found_;  // guarded by mutex_
};

}  // namespace gridfold
