#include "policies/gridfold_stranding.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "policies/room.h"

namespace gridfold {
namespace {

constexpr std::int64_t kShareCell = 50;  // thousandths
// Cells of CPU: 0 to 128.
constexpr std::int64_t kCpuCells = 129;

// What a task takes in cells, rounded up, and how often such tasks come.
struct CellTask {
  std::int64_t share = 0;
  std::int64_t cpu = 0;
  float weight = 0;
};

std::vector<CellTask> in_cells(std::span<const Stranding::Task> tasks, std::int64_t cpu_cell) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> merged;
  std::int64_t total = 0;
  for (const Stranding::Task& task : tasks) {
    merged[{divide_up(task.share, kShareCell), divide_up(task.cpu, cpu_cell)}] += task.weight;
    total += task.weight;
  }
  std::vector<CellTask> cells;
  for (const auto& [size, weight] : merged) {
    if (size.second < kCpuCells)
      cells.push_back(
          {size.first, size.second, static_cast<float>(weight) / static_cast<float>(total)});
  }
  return cells;
}

// to[i] += weight * from[i] over `count` cells.
void add_scaled(float* __restrict to, const float* __restrict from, float weight,
                std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) to[i + lane] += weight * from[i + lane];
  }
  for (; i < count; ++i) to[i] += weight * from[i];
}

}  // namespace

// Plain single-precision sums in a fixed order, so the same everywhere.
Stranding::Stranding(std::span<const Task> tasks, const Extent& largest_node) {
  while (cpu_cell() * (kCpuCells - 1) < largest_node.cpu) ++cpu_doublings_;
  shares_ = divide_up(largest_node.share, kShareCell);
  const std::vector<CellTask> cells = in_cells(tasks, cpu_cell());
  std::vector<float> idle(static_cast<std::size_t>((shares_ + 1) * kCpuCells), 0.0f);
  std::vector<float> sum(kCpuCells);
  std::vector<float> weight(kCpuCells);
  for (std::int64_t r = 1; r <= shares_; ++r) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    std::fill(weight.begin(), weight.end(), 0.0f);
    for (const CellTask& task : cells) {
      if (task.share > r) continue;
      add_scaled(&sum[task.cpu], &idle[(r - task.share) * kCpuCells], task.weight,
                 kCpuCells - task.cpu);
      weight[task.cpu] += task.weight;  // and all cells after it, below
    }
    float fitting = 0;
    for (std::int64_t c = 0; c < kCpuCells; ++c) {
      fitting += weight[c];
      idle[r * kCpuCells + c] =
          fitting > 0 ? sum[c] / fitting : static_cast<float>(r * kShareCell) / 1000;
    }
  }
  table_.resize(idle.size());
  for (std::int64_t r = 1; r <= shares_; ++r) {
    const float* row = &idle[r * kCpuCells];
    for (std::int64_t c = 0; c < kCpuCells; ++c) {
      const float more = row[c] - row[kCpuCells - 1];
      table_[r * kCpuCells + c] = more > 0 ? to_worth(more) : -to_worth(-more);
    }
  }
}

Worth Stranding::at(std::int64_t share, std::int64_t cpu) const {
  if (table_.empty()) return 0;
  // A node that has grown since the table was made counts as the largest then.
  const std::int64_t r = std::min(share, shares_ * kShareCell);
  const std::int64_t c = std::min(cpu, (kCpuCells - 1) * cpu_cell());
  const std::int64_t row = std::min(r / kShareCell, shares_ - 1);
  const std::int64_t column = std::min(c / kLeastCpuCell >> cpu_doublings_, kCpuCells - 2);
  const Worth* cell = &table_[row * kCpuCells + column];
  const std::int64_t along = c - column * cpu_cell();
  const std::int64_t across = r - row * kShareCell;
  const auto between = [&](const Worth* two) {
    return two[0] * cpu_cell() + (two[1] - two[0]) * along;
  };
  const std::int64_t here = between(cell);
  const std::int64_t next = between(cell + kCpuCells);
  // Divided by a constant and a power of two: this is asked for every score.
  const std::int64_t sum = here * kShareCell + (next - here) * across;
  const std::int64_t size = std::abs(sum) / (kShareCell * kLeastCpuCell) >> cpu_doublings_;
  return static_cast<Worth>(sum < 0 ? -size : size);
}

Worth Stranding::distance(const Stranding& a, const Stranding& b) {
  if (a.table_.size() != b.table_.size() || a.cpu_doublings_ != b.cpu_doublings_) return INT32_MAX;
  Worth most = 0;
  for (std::size_t i = 0; i < a.table_.size(); ++i)
    most = std::max(most, std::abs(a.table_[i] - b.table_[i]));
  return most;
}

}  // namespace gridfold
