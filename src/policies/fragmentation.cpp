#include "policies/fragmentation.h"

#include <algorithm>

namespace gridfold {
namespace {

template <class T>
void sort_distinct(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

Fragmentation::Fragmentation(std::span<const WeightedKind> mix) {
  for (const WeightedKind& kind : mix) weight_ += kind.count;
  find_steps(mix);
  assign_pools(mix);
  for (const WeightedKind& kind : mix) add(kind);
  for (Pool& pool : pools_) accumulate(pool);
}

void Fragmentation::find_steps(std::span<const WeightedKind> mix) {
  for (const WeightedKind& entry : mix) {
    if (!entry.kind.needs.empty()) cpus_.push_back(entry.kind.cpu);
    for (const RequestKind::Need& need : entry.kind.needs) shares_.push_back(need.share);
  }
  sort_distinct(cpus_);
  sort_distinct(shares_);
  for (std::int32_t share = 0; share <= 1000; ++share) {
    const auto above = std::upper_bound(shares_.begin(), shares_.end(), share);
    share_step_[static_cast<std::size_t>(share)] =
        static_cast<std::uint16_t>(above - shares_.begin());
  }
}

// Models that some need names get a pool each, all others of a class share one.
void Fragmentation::assign_pools(std::span<const WeightedKind> mix) {
  std::vector<std::vector<std::uint16_t>> named;
  for (const WeightedKind& entry : mix) {
    for (const RequestKind::Need& need : entry.kind.needs) {
      if (need.device_class >= named.size()) named.resize(need.device_class + std::size_t{1});
      auto& models = named[need.device_class];
      models.insert(models.end(), need.models.begin(), need.models.end());
      if (pool_of_.size() < named.size()) pool_of_.resize(named.size());
      if (pool_of_[need.device_class].empty()) pool_of_[need.device_class] = {1};
    }
  }
  std::uint32_t pools = 1;
  for (std::size_t c = 0; c < pool_of_.size(); ++c) {
    if (pool_of_[c].empty()) continue;
    sort_distinct(named[c]);
    const std::size_t models = named[c].empty() ? 0 : named[c].back() + std::size_t{1};
    const std::uint32_t others = pools++;
    pool_of_[c].assign(models + 1, others);
    for (const std::uint16_t model : named[c]) pool_of_[c][model] = pools++;
  }
  pools_.resize(pools);
  for (Pool& pool : pools_) {
    pool.single.assign((cpus_.size() + 1) * (shares_.size() + 1), 0);
    pool.gang.assign((cpus_.size() + 1) * kGangSteps, 0);
  }
}

void Fragmentation::add(const WeightedKind& entry) {
  for (const RequestKind::Need& need : entry.kind.needs) {
    const auto& row = pool_of_[need.device_class];
    if (need.models.empty()) {
      std::vector<std::uint32_t> all(row.begin(), row.end());
      sort_distinct(all);
      for (const std::uint32_t p : all) add(pools_[p], need, entry.kind.cpu, entry.count);
    } else {
      for (const std::uint16_t model : need.models)
        add(pools_[row[model]], need, entry.kind.cpu, entry.count);
    }
  }
}

// Into the cell of the need's own CPU and size; accumulate() then sums up.
void Fragmentation::add(Pool& pool, const RequestKind::Need& need, std::int64_t cpu,
                        std::int64_t count) {
  if (need.count >= static_cast<std::int32_t>(kGangSteps)) return;  // fits on no node
  const std::size_t step = cpu_step(cpu);
  if (need.count == 1) {
    const std::size_t size = share_step_[static_cast<std::size_t>(need.share)];
    pool.single[step * (shares_.size() + 1) + size] += count;
  } else {
    pool.gang[step * kGangSteps + static_cast<std::size_t>(need.count)] += count;
  }
}

void Fragmentation::accumulate(Pool& pool) const {
  const auto sum_up = [](std::vector<std::int64_t>& cells, std::size_t width) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t column = i % width;
      if (column > 0) cells[i] += cells[i - 1];
    }
    for (std::size_t i = width; i < cells.size(); ++i) cells[i] += cells[i - width];
  };
  sum_up(pool.single, shares_.size() + 1);
  sum_up(pool.gang, kGangSteps);
}

std::size_t Fragmentation::cpu_step(std::int64_t cpu) const {
  return static_cast<std::size_t>(std::upper_bound(cpus_.begin(), cpus_.end(), cpu) -
                                  cpus_.begin());
}

std::uint32_t Fragmentation::pool(std::uint16_t device_class, std::uint16_t model) const {
  if (device_class >= pool_of_.size() || pool_of_[device_class].empty()) return 0;
  const auto& row = pool_of_[device_class];
  return model + std::size_t{1} < row.size() ? row[model] : row.back();
}

}  // namespace gridfold
