#include "simulator/training/step_table.h"

#include <algorithm>
#include <numeric>

namespace gridfold {
namespace {

StepTimes between(double share, const StepTimes& low, const StepTimes& high) {
  return {low.step + share * (high.step - low.step), low.sync + share * (high.sync - low.sync)};
}

}  // namespace

TasksByNode smallest_rotation(std::span<const std::int32_t> tasks) {
  TasksByNode held;
  for (const std::int32_t n : tasks) {
    if (n > 0) held.push_back(n);
  }
  TasksByNode best = held;
  for (std::size_t i = 1; i < held.size(); ++i) {
    std::rotate(held.begin(), held.begin() + 1, held.end());
    best = std::min(best, held);
  }
  return best;
}

std::vector<ScatteredPoint> StepTable::points_of(const std::vector<MeasuredStep>& measured) {
  struct Sum {
    StepTimes times;
    int count = 0;
  };
  std::map<Size, Sum> sums;
  for (const auto& one : measured) {
    if (one.placement.empty()) continue;
    Sum& sum = sums[{one.nodes, one.tasks, one.local_batch}];
    sum.times.step += one.times.step;
    sum.times.sync += one.times.sync;
    ++sum.count;
  }
  std::vector<ScatteredPoint> points;
  points.reserve(sums.size());
  for (const auto& [size, sum] : sums) {
    points.push_back({{static_cast<double>(size.nodes), static_cast<double>(size.tasks),
                       static_cast<double>(size.local_batch)},
                      {sum.times.step / sum.count, sum.times.sync / sum.count}});
  }
  for (const auto& one : measured) {
    if (!one.placement.empty()) continue;
    points.push_back({{static_cast<double>(one.nodes), static_cast<double>(one.tasks),
                       static_cast<double>(one.local_batch)},
                      {one.times.step, one.times.sync}});
  }
  return points;
}

StepTable::StepTable(const std::vector<MeasuredStep>& measured) : scattered_(points_of(measured)) {
  for (const auto& one : measured) {
    if (least_ == 0 || one.local_batch < least_) least_ = one.local_batch;
    largest_ = std::max(largest_, one.local_batch);
    if (one.placement.empty()) continue;
    curves_[smallest_rotation(one.placement)].emplace_back(one.local_batch, one.times);
  }
  for (auto& [placement, curve] : curves_) {
    std::sort(curve.begin(), curve.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  }
}

Known<StepTimes> StepTable::at(std::span<const std::int32_t> tasks,
                               std::int64_t local_batch) const {
  const TasksByNode placement = smallest_rotation(tasks);
  if (placement.empty()) return Unknown{};
  const auto found = curves_.find(placement);
  if (found == curves_.end()) {
    return between_sizes({static_cast<std::int32_t>(placement.size()),
                          std::accumulate(placement.begin(), placement.end(), 0), local_batch});
  }
  const Curve& curve = found->second;
  const auto high =
      std::lower_bound(curve.begin(), curve.end(), local_batch,
                       [](const auto& entry, std::int64_t batch) { return entry.first < batch; });
  if (high == curve.end()) return Unknown{};
  if (high->first == local_batch) return high->second;
  if (high == curve.begin()) return Unknown{};
  const auto low = high - 1;
  const double share =
      static_cast<double>(local_batch - low->first) / static_cast<double>(high->first - low->first);
  return between(share, low->second, high->second);
}

Known<StepTimes> StepTable::between_sizes(const Size& size) const {
  const std::scoped_lock lock(mutex_);
  const auto known = found_.find(size);
  if (known != found_.end()) return known->second;
  const auto values =
      scattered_.at({static_cast<double>(size.nodes), static_cast<double>(size.tasks),
                     static_cast<double>(size.local_batch)});
  Known<StepTimes> times;
  if (values.is_known()) times = StepTimes{values.value()[0], values.value()[1]};
  found_.emplace(size, times);
  return times;
}

}  // namespace gridfold
