#include "policies/gridfold_prices.h"

#include <algorithm>

namespace gridfold {
namespace {

// The revised simplex method with columns made on demand. We keep our own
// hundred lines of it, against the rule that a solver be taken from a library:
// a degenerate optimum has many dual prices and the packing depends on which
// come out, so they must be the same on every machine, whatever version of a
// library it has; and twenty rows are solved here in the time in which a
// library sets up its model. The tests hold it against an independent bound.
//
// Doubles with + - * / alone, which IEEE 754 defines to the last bit (and the
// build forbids contracting them).
class CuttingStock {
 public:
  CuttingStock(std::span<const int> sizes, std::span<const double> demand)
      : sizes_(sizes),
        rows_(sizes.size()),
        inverse_(rows_ * rows_),
        level_(rows_),
        cost_(rows_, 1),
        price_(rows_),
        column_(rows_),
        direction_(rows_) {
    // At first each pattern cuts one size only. The hair of more demand keeps
    // the levels apart, so that the simplex does not cycle.
    for (std::size_t i = 0; i < rows_; ++i) {
      inverse_[i * rows_ + i] = 1. / (kShareSteps / sizes[i]);
      level_[i] = demand[i] * inverse_[i * rows_ + i] + 1e-9 * static_cast<double>(i + 1);
    }
  }

  std::vector<double> solve() {
    for (int step = 0; step < kMostSteps; ++step) {
      find_prices();
      fill();
      if (!find_column() || !pivot()) break;
    }
    // No set is worth more than a device, even if the loop was cut.
    for (double& price : price_) price = std::max(0., price);
    const double scale = std::max(1., best_[kShareSteps]);
    for (double& price : price_) price /= scale;
    return price_;
  }

 private:
  static constexpr int kMostSteps = 2000;
  static constexpr int kNobody = -1;

  void find_prices() {
    for (std::size_t k = 0; k < rows_; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < rows_; ++i) sum += cost_[i] * inverse_[i * rows_ + k];
      price_[k] = sum;
    }
  }

  // Unbounded knapsack: best_[r] is the best worth of a set within r.
  void fill() {
    best_[0] = 0;
    for (int r = 1; r <= kShareSteps; ++r) {
      best_[r] = best_[r - 1];
      last_[r] = kNobody;
      for (std::size_t k = 0; k < rows_; ++k) {
        if (sizes_[k] > r) break;
        const double worth = best_[r - sizes_[k]] + price_[k];
        if (worth <= best_[r] + 1e-12) continue;
        best_[r] = worth;
        last_[r] = static_cast<int>(k);
      }
    }
  }

  // The column that gains most: a pattern worth more than a device, or the
  // surplus of a size with a negative price. False: the prices are optimal.
  bool find_column() {
    double gain = std::max(0., best_[kShareSteps] - 1);
    std::size_t surplus = rows_;
    for (std::size_t k = 0; k < rows_; ++k) {
      if (-price_[k] <= gain) continue;
      gain = -price_[k];
      surplus = k;
    }
    if (gain < 1e-7) return false;
    std::fill(column_.begin(), column_.end(), 0.);
    entering_cost_ = surplus == rows_ ? 1 : 0;
    if (surplus < rows_) {
      column_[surplus] = -1;
      return true;
    }
    for (int r = kShareSteps; r > 0;) {
      if (last_[r] == kNobody) {
        --r;
        continue;
      }
      const auto k = static_cast<std::size_t>(last_[r]);
      column_[k] += 1;
      r -= sizes_[k];
    }
    return true;
  }

  bool pivot() {
    std::size_t leaving = rows_;
    for (std::size_t i = 0; i < rows_; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < rows_; ++k) sum += inverse_[i * rows_ + k] * column_[k];
      direction_[i] = sum;
      if (sum <= 1e-9) continue;
      if (leaving == rows_ || level_[i] / sum < level_[leaving] / direction_[leaving]) leaving = i;
    }
    if (leaving == rows_) return false;
    const double step = level_[leaving] / direction_[leaving];
    double* const from = &inverse_[leaving * rows_];
    for (std::size_t i = 0; i < rows_; ++i) {
      if (i == leaving) continue;
      level_[i] -= step * direction_[i];
      const double factor = direction_[i] / direction_[leaving];
      if (factor == 0) continue;
      for (std::size_t k = 0; k < rows_; ++k) inverse_[i * rows_ + k] -= factor * from[k];
    }
    level_[leaving] = step;
    cost_[leaving] = entering_cost_;
    for (std::size_t k = 0; k < rows_; ++k) from[k] /= direction_[leaving];
    return true;
  }

  std::span<const int> sizes_;
  std::size_t rows_;
  std::vector<double> inverse_;  // of the basis, row by row
  std::vector<double> level_;    // of the basic patterns
  std::vector<double> cost_;     // of the basic columns: a device, or 0 for a surplus
  std::vector<double> price_;
  std::vector<double> column_;
  std::vector<double> direction_;
  double entering_cost_ = 0;
  std::array<double, kShareSteps + 1> best_{};
  std::array<int, kShareSteps + 1> last_{};
};

}  // namespace

std::vector<double> cutting_stock_prices(std::span<const int> sizes,
                                         std::span<const double> demand) {
  if (sizes.empty()) return {};
  return CuttingStock(sizes, demand).solve();
}

SharePrices::SharePrices() {
  for (int r = 0; r <= kShareSteps; ++r) prices_[r] = kDeviceWorth * r / kShareSteps;
}

SharePrices::SharePrices(const Demand& demand) {
  std::vector<int> sizes;
  std::vector<double> weights;
  std::int64_t total = 0;
  for (const std::int64_t weight : demand) total += weight;
  for (int r = 1; r <= kShareSteps; ++r) {
    if (demand[r] <= 0) continue;
    sizes.push_back(r);
    weights.push_back(static_cast<double>(demand[r]) / static_cast<double>(total) * 4096);
  }
  if (sizes.empty()) {
    *this = SharePrices();
    return;
  }
  const std::vector<double> exact = cutting_stock_prices(sizes, weights);
  for (int r = 1; r <= kShareSteps; ++r) {
    for (std::size_t k = 0; k < sizes.size() && sizes[k] <= r; ++k)
      prices_[r] = std::max(prices_[r], prices_[r - sizes[k]] + to_worth(exact[k]));
  }
  prices_[kShareSteps] = std::max(prices_[kShareSteps], kDeviceWorth);
}

}  // namespace gridfold
