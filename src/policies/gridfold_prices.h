// What a share of a device is worth to the mix: prices from the cutting-stock
// linear program (Gilmore and Gomory, "A Linear Programming Approach to the
// Cutting-Stock Problem", Operations Research 9, 1961), where a whole device
// is the roll and shares are cut from it.
//
// The dual price of a share is the part of a device that one more task of it
// costs when all are packed as well as can be. Shares whose prices add up to 1
// fill a device without loss, whatever is left idle beside them: with the
// usual mix 470 + 470 is worth a device, and 320 beside 530 wastes a sixth.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "policies/gridfold_worth.h"

namespace gridfold {

// The dual prices, in devices: maximise sum of demand * price over prices for
// which no set of sizes that fits in one device is worth more than 1. Sizes
// are hundredths of a device, rising, from 1 to 100; demand is positive.
std::vector<double> cutting_stock_prices(std::span<const int> sizes,
                                         std::span<const double> demand);

// Prices of every share of a device of one class.
class SharePrices {
 public:
  // Nothing is known: a share is worth its size.
  SharePrices();
  // Weight of the tasks that ask for so many hundredths, by size.
  using Demand = std::array<std::int64_t, kShareSteps + 1>;
  explicit SharePrices(const Demand& demand);

  // A size that nobody has asked for costs what it could be filled with.
  Worth of_step(int step) const { return prices_[static_cast<std::size_t>(step)]; }
  Worth of_need(std::int32_t thousandths) const { return of_step(share_step_of_need(thousandths)); }

  friend bool operator==(const SharePrices&, const SharePrices&) = default;

 private:
  std::array<Worth, kShareSteps + 1> prices_{};
};

}  // namespace gridfold
