// A node's devices as the tables of the policy `gridfold` see them, while a
// task is tried on them. Lives on the stack for one choice.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/cluster.h"
#include "policies/gridfold_tables.h"

namespace gridfold {

class GridfoldBoard {
 public:
  GridfoldBoard(const GridfoldTables& tables, const NodeRoom& node);

  // Of the node as it is: by price of a core the worth of its devices and CPU,
  // and what is stranded.
  ByCorePrice worth() const;
  Worth stranded(std::int64_t cpu) const;

  // Thousandths of the device that are left of it when so much is taken. A
  // device held for its memory only is whole to nobody.
  std::int32_t left(std::size_t device, std::int32_t share) const {
    return share > 0 ? shares_[device] - share : std::min(shares_[device], 999);
  }
  void take(std::size_t device, std::int32_t share);

  // By how much things change when the device is left with `left`: worth by
  // price of a core (added to `worth`), and what is gained besides.
  void change_worth(std::size_t device, std::int32_t left, ByCorePrice& worth) const;
  // The least of a worth that would be so changed.
  Worth least_after(std::size_t device, std::int32_t left, const ByCorePrice& worth) const;
  Worth gain_besides(std::size_t device, std::int32_t left) const;
  // stranded() if the device were left with `left`.
  Worth stranded_after(std::size_t device, std::int32_t left, std::int64_t cpu) const;

  std::int32_t share(std::size_t device) const { return shares_[device]; }
  // Whether one of these devices is its like in everything that counts.
  bool has_twin_among(std::uint64_t devices, std::size_t device) const;
  // Thousandths free of all devices.
  std::int64_t free_share() const;
  // Idle devices of the class.
  std::int32_t whole(std::uint16_t device_class) const { return sum(device_class, &Pool::whole); }

 private:
  struct Pool {
    const GridfoldTables::Pool* tables;
    std::uint16_t device_class;
    std::int32_t share;  // thousandths free, of all its devices
    std::int32_t whole;
    std::int32_t devices;
  };
  std::uint8_t find_pool(const DeviceKind& kind);
  std::int32_t sum(std::uint16_t device_class, std::int32_t Pool::*of) const;
  const Pool& pool(std::size_t device) const { return pools_[pool_of_[device]]; }

  const GridfoldTables& tables_;
  std::size_t device_count_;
  std::size_t pool_count_ = 0;
  // As many entries as the counts say; the others stay unwritten, since a board
  // is made for every score.
  std::array<std::int32_t, kMaxDevicesPerNode> shares_;
  std::array<std::uint8_t, kMaxDevicesPerNode> pool_of_;
  std::array<Pool, kMaxDevicesPerNode> pools_;
};

}  // namespace gridfold
