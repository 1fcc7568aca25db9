#include "policies/gridfold_board.h"

#include <algorithm>

namespace gridfold {
namespace {

const ByCorePrice& value_of(const GridfoldTables::Pool& pool, std::int32_t share) {
  return pool.value.of(share_step_of_room(share));
}

}  // namespace

GridfoldBoard::GridfoldBoard(const GridfoldTables& tables, const NodeRoom& node)
    : tables_(tables), device_count_(node.devices.size()) {
  const std::span kinds = node.devices.kinds();
  const std::span states = node.devices.states();
  for (std::size_t i = 0; i < device_count_;) {
    // Neighbours are mostly of one make.
    const DeviceKind& kind = kinds[i];
    const std::uint8_t at = find_pool(kind);
    Pool& pool = pools_[at];
    do {
      const std::int32_t most = states[i].holders > 0 ? 999 : 1000;
      const bool open = (node.devices.usable() >> i & 1) != 0 && kinds[i].table == 0;
      const std::int32_t share = open ? std::min(states[i].free_share, most) : 0;
      shares_[i] = share;
      pool_of_[i] = at;
      pool.share += share;
      pool.whole += share == 1000;
      ++pool.devices;
    } while (++i < device_count_ && kinds[i].device_class == kind.device_class &&
             kinds[i].model == kind.model);
  }
}

std::uint8_t GridfoldBoard::find_pool(const DeviceKind& kind) {
  const GridfoldTables::Pool* tables = &tables_.pool(kind.device_class, kind.model);
  for (std::size_t i = 0; i < pool_count_; ++i) {
    if (pools_[i].tables == tables && pools_[i].device_class == kind.device_class)
      return static_cast<std::uint8_t>(i);
  }
  pools_[pool_count_] = {tables, kind.device_class, 0, 0, 0};
  return static_cast<std::uint8_t>(pool_count_++);
}

bool GridfoldBoard::has_twin_among(std::uint64_t devices, std::size_t device) const {
  for (std::size_t i = 0; i < device; ++i) {
    if ((devices >> i & 1) && shares_[i] == shares_[device] && pool_of_[i] == pool_of_[device])
      return true;
  }
  return false;
}

ByCorePrice GridfoldBoard::worth() const {
  ByCorePrice sum{};
  for (std::size_t i = 0; i < device_count_; ++i) {
    const ByCorePrice& value = value_of(*pool(i).tables, shares_[i]);
    for (std::size_t u = 0; u < kCorePrices; ++u) sum[u] += value[u];
  }
  return sum;
}

Worth GridfoldBoard::stranded(std::int64_t cpu) const {
  Worth sum = 0;
  for (std::size_t i = 0; i < pool_count_; ++i)
    sum += pools_[i].tables->stranding.at(pools_[i].share, cpu);
  return sum;
}

Worth GridfoldBoard::stranded_after(std::size_t device, std::int32_t left, std::int64_t cpu) const {
  Worth sum = 0;
  for (std::size_t i = 0; i < pool_count_; ++i) {
    const std::int32_t taken = i == pool_of_[device] ? shares_[device] - left : 0;
    sum += pools_[i].tables->stranding.at(pools_[i].share - taken, cpu);
  }
  return sum;
}

void GridfoldBoard::take(std::size_t device, std::int32_t share) {
  Pool& from = pools_[pool_of_[device]];
  const std::int32_t now = left(device, share);
  from.share -= shares_[device] - now;
  from.whole -= shares_[device] == 1000 && now < 1000;
  shares_[device] = now;
}

void GridfoldBoard::change_worth(std::size_t device, std::int32_t left, ByCorePrice& worth) const {
  const ByCorePrice& before = value_of(*pool(device).tables, shares_[device]);
  const ByCorePrice& after = value_of(*pool(device).tables, left);
  ByCorePrice changed;  // of its own, so that the loop needs no look at what overlaps
  for (std::size_t u = 0; u < kCorePrices; ++u) changed[u] = worth[u] + after[u] - before[u];
  worth = changed;
}

Worth GridfoldBoard::least_after(std::size_t device, std::int32_t left,
                                 const ByCorePrice& worth) const {
  const ByCorePrice& before = value_of(*pool(device).tables, shares_[device]);
  const ByCorePrice& after = value_of(*pool(device).tables, left);
  ByCorePrice changed;
  for (std::size_t u = 0; u < kCorePrices; ++u) changed[u] = worth[u] + after[u] - before[u];
  return least(changed);
}

Worth GridfoldBoard::gain_besides(std::size_t device, std::int32_t left) const {
  const Pool& from = pool(device);
  Worth gain = from.tables->unusable[share_step_of_room(shares_[device])] -
               from.tables->unusable[share_step_of_room(left)];
  if (shares_[device] == 1000 && left < 1000) {
    const std::int32_t idle = whole(from.device_class);
    const std::int32_t devices = sum(from.device_class, &Pool::devices);
    gain += tables_.block_worth(from.device_class, idle - 1, devices) -
            tables_.block_worth(from.device_class, idle, devices);
  }
  return gain;
}

std::int64_t GridfoldBoard::free_share() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < pool_count_; ++i) sum += pools_[i].share;
  return sum;
}

std::int32_t GridfoldBoard::sum(std::uint16_t device_class, std::int32_t Pool::*of) const {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < pool_count_; ++i) {
    if (pools_[i].device_class == device_class) sum += pools_[i].*of;
  }
  return sum;
}

}  // namespace gridfold
