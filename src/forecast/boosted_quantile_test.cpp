#include "forecast/boosted_quantile.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace gridfold {
namespace {

// The target is the first cell times ten and noise that is even on 0 to 1; the
// second cell says nothing and is known in every other row.
QuantileTable noisy_steps(std::size_t rows, double quantile) {
  RandomStream random(1, "boosted_quantile");
  QuantileTable table;
  table.quantile = quantile;
  table.columns = 2;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto level = static_cast<float>(random.below(4));
    const float noise = static_cast<float>(random.below(1000)) / 1000;
    table.cells.push_back(level);
    table.cells.push_back(i % 2 == 0 ? kNotKnown : noise);
    table.targets.push_back(10 * level + noise * static_cast<float>(i % 2 == 0));
    table.bases.push_back(10 * level);
  }
  return table;
}

TEST(BoostedQuantile, SaysTheQuantileOfEachLevel) {
  for (const double quantile : {0.25, 0.5, 0.75}) {
    const QuantileTable table = noisy_steps(4000, quantile);
    const BoostedTrees trees = grow_quantile_trees(table);
    EXPECT_EQ(trees.trees(), 60u);
    for (const float level : {0.0F, 1.0F, 2.0F, 3.0F}) {
      const float row[] = {level, kNotKnown};
      EXPECT_NEAR(trees.correction(row), quantile, 0.15) << level << " at " << quantile;
    }
  }
}

// What is not known is a value of its own.
TEST(BoostedQuantile, TellsUnknownFromKnown) {
  const BoostedTrees trees = grow_quantile_trees(noisy_steps(4000, 0.9));
  const float known[] = {1.0F, 0.5F};
  const float unknown[] = {1.0F, kNotKnown};
  EXPECT_NEAR(trees.correction(known), 0, 0.15);
  EXPECT_GT(trees.correction(unknown), 0.7);
}

TEST(BoostedQuantile, GrowsTheSameTreesTwice) {
  const QuantileTable table = noisy_steps(1000, 0.75);
  const BoostedTrees first = grow_quantile_trees(table), second = grow_quantile_trees(table);
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::span<const float> row(table.cells.data() + 2 * i, 2);
    ASSERT_EQ(first.correction(row), second.correction(row));
  }
}

TEST(BoostedQuantile, LearnsNothingFromOneRow) {
  QuantileTable table = noisy_steps(1, 0.75);
  const float row[] = {0.0F, kNotKnown};
  EXPECT_NEAR(grow_quantile_trees(table).correction(row), 0, 10);
}

}  // namespace
}  // namespace gridfold
