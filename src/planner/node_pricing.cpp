#include "planner/node_pricing.h"

#include <algorithm>
#include <cassert>

namespace gridfold {
namespace {

// target[c] = max(target[c], source[c - shift] + value) for shift <= c < width.
void raise(double* target, const double* source, std::size_t shift, double value,
           std::size_t width) {
  for (std::size_t c = shift; c < width; ++c) {
    target[c] = std::max(target[c], source[c - shift] + value);
  }
}

// Tasks that need no less than another one of at least their value are left out.
void drop_dominated(std::vector<PricedTask>& tasks) {
  std::vector<PricedTask> kept;
  for (const PricedTask& task : tasks) {
    const auto beats = [](const PricedTask& a, const PricedTask& b) {
      return a.cpu <= b.cpu && a.devices <= b.devices && a.share <= b.share && a.value >= b.value;
    };
    if (std::any_of(kept.begin(), kept.end(),
                    [&](const auto& other) { return beats(other, task); }))
      continue;
    std::erase_if(kept, [&](const auto& other) { return beats(task, other); });
    kept.push_back(task);
  }
  tasks = std::move(kept);
}

}  // namespace

NodePricing::NodePricing(int devices, int cpu, int share_cells)
    : devices_(devices),
      share_cells_(share_cells),
      width_(static_cast<std::size_t>(cpu) + 1),
      slices_(static_cast<std::size_t>(share_cells + 1) * width_),
      node_(static_cast<std::size_t>(devices + 1) * width_) {}

void NodePricing::price(std::span<const PricedTask> tasks) {
  cpu_.clear();
  slice_.clear();
  whole_.clear();
  for (const PricedTask& task : tasks) {
    if (task.value <= 0 || static_cast<std::size_t>(task.cpu) >= width_) continue;
    assert(task.devices > 0 ? task.share > 0 : task.cpu > 0);
    if (task.devices == 0) {
      cpu_.push_back(task);
    } else if (task.share < share_cells_) {
      slice_.push_back(task);
    } else {
      whole_.push_back(task);
    }
  }
  for (auto* kind : {&cpu_, &slice_, &whole_}) drop_dominated(*kind);
  fill_processors();
  fill_one_device();
  for (int devices = 1; devices <= devices_; ++devices) fill_devices(devices);
}

void NodePricing::fill_processors() {
  double* row = node(0);
  row[0] = 0;
  for (std::size_t c = 1; c < width_; ++c) {
    row[c] = row[c - 1];
    for (const PricedTask& task : cpu_) {
      const auto need = static_cast<std::size_t>(task.cpu);
      if (need <= c) row[c] = std::max(row[c], row[c - need] + task.value);
    }
  }
}

void NodePricing::fill_one_device() {
  std::fill_n(slices(0), width_, 0.0);
  for (int share = 1; share <= share_cells_; ++share) {
    std::copy_n(slices(share - 1), width_, slices(share));
    for (const PricedTask& task : slice_) {
      if (task.share > share) continue;
      raise(slices(share), slices(share - task.share), static_cast<std::size_t>(task.cpu),
            task.value, width_);
    }
  }
  const double* full = slices(share_cells_);
  steps_.clear();
  for (std::size_t c = 0; c < width_; ++c) {
    if (full[c] > (c == 0 ? 0 : full[c - 1])) steps_.push_back(static_cast<int>(c));
  }
}

void NodePricing::fill_devices(int devices) {
  double* row = node(devices);
  std::copy_n(node(devices - 1), width_, row);
  const double* full = slices(share_cells_);
  for (const int step : steps_) {
    raise(row, node(devices - 1), static_cast<std::size_t>(step), full[step], width_);
  }
  for (const PricedTask& task : whole_) {
    if (task.devices > devices) continue;
    raise(row, node(devices - task.devices), static_cast<std::size_t>(task.cpu), task.value,
          width_);
  }
}

// The traces follow the tables back: a value was copied or came from one sum,
// and the same sum of the same numbers is equal to the bit.

NodePattern NodePricing::pattern(int devices, int cpu) const {
  Counts counts;
  while (devices > 0) trace_last(devices, cpu, counts);
  trace_processors(cpu, counts);
  return NodePattern(counts.begin(), counts.end());
}

// What the last of the devices holds; takes it off, and the CPU with it.
void NodePricing::trace_last(int& devices, int& cpu, Counts& counts) const {
  const double total = node(devices)[cpu];
  if (total == node(devices - 1)[cpu]) {
    --devices;
    return;
  }
  for (const PricedTask& task : whole_) {
    if (task.devices > devices || task.cpu > cpu) continue;
    if (total != node(devices - task.devices)[cpu - task.cpu] + task.value) continue;
    ++counts[task.id];
    devices -= task.devices;
    cpu -= task.cpu;
    return;
  }
  const double* full = slices(share_cells_);
  for (const int step : steps_) {
    if (step > cpu || total != node(devices - 1)[cpu - step] + full[step]) continue;
    trace_one_device(step, counts);
    --devices;
    cpu -= step;
    return;
  }
  assert(false);
}

void NodePricing::trace_one_device(int cpu, Counts& counts) const {
  int share = share_cells_;
  while (share > 0) {
    const double total = slices(share)[cpu];
    if (total == slices(share - 1)[cpu]) {
      --share;
      continue;
    }
    const auto task = std::find_if(slice_.begin(), slice_.end(), [&](const PricedTask& slice) {
      return slice.share <= share && slice.cpu <= cpu &&
             total == slices(share - slice.share)[cpu - slice.cpu] + slice.value;
    });
    assert(task != slice_.end());
    ++counts[task->id];
    share -= task->share;
    cpu -= task->cpu;
  }
}

void NodePricing::trace_processors(int cpu, Counts& counts) const {
  const double* row = node(0);
  while (cpu > 0) {
    if (row[cpu] == row[cpu - 1]) {
      --cpu;
      continue;
    }
    const auto task = std::find_if(cpu_.begin(), cpu_.end(), [&](const PricedTask& one) {
      return one.cpu <= cpu && row[cpu] == row[cpu - one.cpu] + one.value;
    });
    assert(task != cpu_.end());
    ++counts[task->id];
    cpu -= task->cpu;
  }
}

}  // namespace gridfold
