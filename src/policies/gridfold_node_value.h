// What the free devices of a node are worth when the mix keeps coming: the
// Lagrangian relaxation of "fill the devices with the tasks of highest price,
// the CPU of the node permitting".
//
//   value(node) = min over mu of { mu * cpu + sum over devices of h_mu(share) }
//   h_mu(share) = max { sum n_k (price_k - mu * cpu_k) : sum n_k size_k <= share }
//
// with mu the price of a core. Sixteen prices are looked at; h_mu is a table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "policies/gridfold_worth.h"

namespace gridfold {

inline constexpr std::size_t kCorePrices = 16;
// One number for each price of a core.
using ByCorePrice = std::array<Worth, kCorePrices>;

inline ByCorePrice difference(const ByCorePrice& a, const ByCorePrice& b) {
  ByCorePrice result;
  for (std::size_t u = 0; u < kCorePrices; ++u) result[u] = a[u] - b[u];
  return result;
}
inline Worth least(const ByCorePrice& worth) {
  Worth least = worth[0];
  for (const Worth value : worth) least = std::min(least, value);
  return least;
}

// What so many millicores cost at each price of a core. More than 32,768 cores
// count as so many: a node's worth must fit in 32 bits.
ByCorePrice cost_of_cpu(std::int64_t millicores);

// Worth of one device by its free share.
class DeviceValue {
 public:
  // What one task would take of one device, what it pays for it, its CPU.
  struct Item {
    int step = 0;  // hundredths of the device
    Worth price = 0;
    std::int64_t cpu = 0;
  };
  DeviceValue() = default;  // worth nothing
  explicit DeviceValue(std::span<const Item> items);

  // For each price of a core, of a device with so many hundredths free.
  const ByCorePrice& of(int step) const { return table_[static_cast<std::size_t>(step)]; }

  friend bool operator==(const DeviceValue&, const DeviceValue&) = default;

 private:
  alignas(64) std::array<ByCorePrice, kShareSteps + 1> table_{};
};

}  // namespace gridfold
