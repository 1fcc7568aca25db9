// Gradient-boosted trees for a quantile: XGBoost grows them, and what they say
// is read from the trees here, in the same order and arithmetic everywhere.
//
//   BoostedTrees trees = grow_quantile_trees(table);
//   trees.correction(row)      // to add to the row's base
//
// Boosting after Friedman, "Greedy function approximation", Annals of
// Statistics 2001, with the pinball loss of Koenker and Bassett, "Regression
// quantiles", Econometrica 1978, whose gradient takes two values; XGBoost: Chen
// and Guestrin, KDD 2016.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace gridfold {

inline constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();

struct QuantileTable {
  double quantile = 0.5;  // above 0, below 1
  std::size_t columns = 0;
  std::vector<float> cells;    // row after row; kNotKnown where nothing is
  std::vector<float> targets;  // one a row
  std::vector<float> bases;    // one a row: what the trees correct
};

class BoostedTrees {
 public:
  // Of a row with as many cells as the table had columns.
  double correction(std::span<const float> row) const;
  std::size_t trees() const { return roots_.size(); }

 private:
  friend BoostedTrees grow_quantile_trees(const QuantileTable& table);
  friend class TreeReader;

  struct Node {
    std::int32_t column = -1;  // -1: a leaf
    float value = 0;           // of a leaf; else cells below it go left
    std::uint32_t left = 0, right = 0, unknown = 0;
  };
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> roots_;
};

// Work it takes, in elementary steps.
std::int64_t growing_steps(std::size_t rows, std::size_t columns);

// On one thread, the same for the same table. Requires at least one row.
BoostedTrees grow_quantile_trees(const QuantileTable& table);

}  // namespace gridfold
