#include "planner/linear_program.h"

#include <gtest/gtest.h>

#include <vector>

namespace gridfold {
namespace {

constexpr double kNear = 1e-9;
constexpr std::int64_t kEnough = 1000;

TEST(LinearProgram, SolvesTheExampleOfItsHeader) {
  LinearProgram program;
  const int row = program.add_row(-kNoBound, 4);
  const int x = program.add_column(1, 0, kNoBound, {{row, 1}});
  const int y = program.add_column(1, 0, 3, {{row, 2}});
  ASSERT_EQ(program.maximize(kEnough), LinearStatus::kOptimal);
  EXPECT_NEAR(program.objective(), 4, kNear);
  EXPECT_NEAR(program.value(x), 4, kNear);
  EXPECT_NEAR(program.value(y), 0, kNear);
  EXPECT_NEAR(program.dual(row), 1, kNear);
}

// maximise 5a + 4b, 6a + 4b <= 24, a + 2b <= 6: a = 3, b = 1.5, duals 0.75, 0.5.
TEST(LinearProgram, GivesTheDualsOfUpperBounds) {
  LinearProgram program;
  const int first = program.add_row(-kNoBound, 24);
  const int second = program.add_row(-kNoBound, 6);
  program.add_column(5, 0, kNoBound, {{first, 6}, {second, 1}});
  program.add_column(4, 0, kNoBound, {{first, 4}, {second, 2}});
  ASSERT_EQ(program.maximize(kEnough), LinearStatus::kOptimal);
  EXPECT_NEAR(program.objective(), 21, kNear);
  EXPECT_NEAR(program.dual(first), 0.75, kNear);
  EXPECT_NEAR(program.dual(second), 0.5, kNear);
}

// A lower bound that forces a loss has a negative dual.
TEST(LinearProgram, GivesTheDualsOfLowerBounds) {
  LinearProgram program;
  const int room = program.add_row(-kNoBound, 10);
  const int least = program.add_row(4, kNoBound);
  program.add_column(3, 0, kNoBound, {{room, 1}});
  program.add_column(1, 0, kNoBound, {{room, 1}, {least, 1}});
  ASSERT_EQ(program.maximize(kEnough), LinearStatus::kOptimal);
  EXPECT_NEAR(program.objective(), 22, kNear);
  EXPECT_NEAR(program.dual(room), 3, kNear);
  EXPECT_NEAR(program.dual(least), -2, kNear);
}

TEST(LinearProgram, GoesOnFromTheLastSolveWhenColumnsAndRowsAreAdded) {
  LinearProgram program;
  const int row = program.add_row(-kNoBound, 6);
  program.add_column(1, 0, kNoBound, {{row, 2}});
  ASSERT_EQ(program.maximize(kEnough), LinearStatus::kOptimal);
  EXPECT_NEAR(program.objective(), 3, kNear);
  const int better = program.add_column(2, 0, kNoBound, {{row, 3}});
  ASSERT_EQ(program.maximize(kEnough), LinearStatus::kOptimal);
  EXPECT_NEAR(program.objective(), 4, kNear);
  EXPECT_NEAR(program.value(better), 2, kNear);
  const int wall = program.add_row(-kNoBound, 1);
  program.add_column(5, 0, kNoBound, {{row, 1}, {wall, 1}});
  ASSERT_EQ(program.maximize(kEnough), LinearStatus::kOptimal);
  EXPECT_NEAR(program.objective(), 5 + 5.0 * 2 / 3, kNear);
}

TEST(LinearProgram, KeepsEqualities) {
  LinearProgram program;
  const int row = program.add_row(2, 2);
  const int x = program.add_column(-1, 0, kNoBound, {{row, 1}});
  ASSERT_EQ(program.maximize(kEnough), LinearStatus::kOptimal);
  EXPECT_NEAR(program.value(x), 2, kNear);
  EXPECT_NEAR(program.dual(row), -1, kNear);
}

TEST(LinearProgram, SaysWhenNothingSatisfiesTheRows) {
  LinearProgram program;
  const int row = program.add_row(5, kNoBound);
  program.add_column(1, 0, 4, {{row, 1}});
  EXPECT_EQ(program.maximize(kEnough), LinearStatus::kInfeasible);
}

TEST(LinearProgram, SaysWhenNothingHoldsTheObjective) {
  LinearProgram program;
  const int row = program.add_row(0, kNoBound);
  program.add_column(1, 0, kNoBound, {{row, 1}});
  EXPECT_EQ(program.maximize(kEnough), LinearStatus::kUnbounded);
}

// A transport problem that needs far more than two pivots.
TEST(LinearProgram, StopsAtItsBudgetOfIterations) {
  LinearProgram program;
  constexpr int kSide = 30;
  for (int i = 0; i < 2 * kSide; ++i) program.add_row(-kNoBound, 1 + i % 7);
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      program.add_column(1 + (i * 31 + j * 17) % 13, 0, kNoBound, {{i, 1}, {kSide + j, 1}});
    }
  }
  EXPECT_EQ(program.maximize(2), LinearStatus::kIterationLimit);
  EXPECT_EQ(program.maximize(100'000), LinearStatus::kOptimal);
}

TEST(LinearProgram, TwoEqualProgramsGiveEqualAnswers) {
  const auto solve = [] {
    LinearProgram program;
    std::vector<double> answer;
    for (int i = 0; i < 20; ++i) program.add_row(-kNoBound, 10 + i);
    for (int j = 0; j < 60; ++j) {
      program.add_column(1 + j % 5, 0, kNoBound,
                         {{j % 20, 1.0 + j % 3}, {(j + 7) % 20, 2.0 + j % 2}});
    }
    EXPECT_EQ(program.maximize(100'000), LinearStatus::kOptimal);
    for (int j = 0; j < 60; ++j) answer.push_back(program.value(j));
    for (int i = 0; i < 20; ++i) answer.push_back(program.dual(i));
    return answer;
  };
  EXPECT_EQ(solve(), solve());
}

}  // namespace
}  // namespace gridfold
