// Everything that the policy `gridfold` works out from the mix in one go: the
// plan by which nodes are scored until the next one.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cluster.h"
#include "policies/gridfold_churn.h"
#include "policies/gridfold_mix.h"
#include "policies/gridfold_node_value.h"
#include "policies/gridfold_prices.h"
#include "policies/gridfold_stranding.h"

namespace gridfold {

// Whether tasks leave, so that their room comes back.
enum class Departures : std::uint8_t { kNone, kSeen };

class GridfoldTables {
 public:
  // Of devices of one class and model. Models that the same tasks accept share
  // their tables.
  struct Pool {
    DeviceValue value;
    UnusableShare unusable{};
    Stranding stranding;
  };

  GridfoldTables() = default;  // nothing is known: a share is worth its size
  // `largest`: by device class, of the nodes that have such devices.
  GridfoldTables(const LearnedMix& mix, const std::vector<Stranding::Extent>& largest,
                 Departures departures);

  const Pool& pool(std::uint16_t device_class, std::uint16_t model) const {
    if (device_class >= classes_.size()) return unknown_;
    const std::vector<std::uint32_t>& pools = classes_[device_class].pool_of_model;
    return pools_[model < pools.size() ? pools[model] : pools.back()];
  }
  // What one task pays for its devices.
  Worth price(const Request& request) const;
  // Of so many idle devices on a node that has `devices`.
  Worth block_worth(std::uint16_t device_class, std::int32_t whole, std::int32_t devices) const {
    return device_class < classes_.size() ? classes_[device_class].blocks.of(whole, devices) : 0;
  }

  // Whether scores by both are the same, or so near that nobody could tell.
  static bool alike(const GridfoldTables& a, const GridfoldTables& b);

 private:
  struct Class {
    SharePrices prices;
    BlockWorth blocks;
    std::vector<std::uint32_t> pool_of_model;  // the last entry: of all other models
  };
  // A kind that asks for devices of the class in hand.
  struct Ask {
    const RequestKind* kind = nullptr;
    const RequestKind::Need* need = nullptr;
    std::int64_t weight = 0;
    bool common = false;  // among the kinds that make up nine tenths of all tasks
  };

  void add_class(std::uint16_t device_class, const std::vector<Ask>& asks,
                 const Stranding::Extent& largest, std::int64_t all_demand, Departures departures);
  Pool make_pool(const SharePrices& prices, const std::vector<Ask>& asks,
                 const std::vector<bool>& accepted, const Stranding::Extent& largest,
                 Departures departures) const;

  std::vector<Class> classes_;  // by device class
  std::vector<Pool> pools_;
  Pool unknown_ = pool_of_unknown();
  static Pool pool_of_unknown();
};

}  // namespace gridfold
