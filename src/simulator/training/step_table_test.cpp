#include "simulator/training/step_table.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

MeasuredStep measured(TasksByNode placement, std::int64_t local, double step) {
  MeasuredStep one{std::move(placement), 0, 0, local, {step, step / 10}};
  one.nodes = static_cast<std::int32_t>(one.placement.size());
  for (const std::int32_t n : one.placement) one.tasks += n;
  return one;
}

TEST(StepTable, PlacementsAreEqualUpToRotation) {
  EXPECT_EQ(smallest_rotation(TasksByNode{2, 1, 3}), (TasksByNode{1, 3, 2}));
  EXPECT_EQ(smallest_rotation(TasksByNode{1, 2, 3}), (TasksByNode{1, 2, 3}));
  EXPECT_EQ(smallest_rotation(TasksByNode{0, 3, 0, 1}), (TasksByNode{1, 3}));
}

TEST(StepTable, LinearBetweenLocalBatchesAndNothingBeyond) {
  const StepTable table({measured({1, 2}, 10, 1.0), measured({2, 1}, 20, 3.0)});
  EXPECT_DOUBLE_EQ(table.at(TasksByNode{2, 1}, 15).value().step, 2.0);
  EXPECT_DOUBLE_EQ(table.at(TasksByNode{1, 2}, 20).value().sync, 0.3);
  EXPECT_FALSE(table.at(TasksByNode{1, 2}, 9).is_known());
  EXPECT_FALSE(table.at(TasksByNode{1, 2}, 21).is_known());
}

TEST(StepTable, BetweenSizesWhereThePlacementWasNotMeasured) {
  std::vector<MeasuredStep> steps;
  for (const std::int32_t nodes : {6, 8}) {
    for (const std::int32_t tasks : {8, 12}) {
      for (const std::int64_t local : {4, 8}) {
        steps.push_back({{},
                         nodes,
                         tasks,
                         local,
                         {nodes + 0.1 * tasks + 0.01 * static_cast<double>(local), 0.5}});
      }
    }
  }
  const StepTable table(steps);
  EXPECT_NEAR(table.at(TasksByNode{2, 2, 2, 1, 1, 1, 1}, 6).value().step, 8.06, 1e-9);
  EXPECT_FALSE(table.at(TasksByNode{1, 1, 1, 1, 1}, 6).is_known());
}

}  // namespace
}  // namespace gridfold
