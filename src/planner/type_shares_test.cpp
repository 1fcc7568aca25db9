// Shares of the time on types of devices, where the answer is known.
#include "planner/type_shares.h"

#include <gtest/gtest.h>

#include <numeric>

#include "planner/gang_bounds.h"

namespace gridfold {
namespace {

TEST(TypeShares, WhoGainsMostFromATypeGetsIt) {
  // The first is four times as fast on type 0, the second alike on both.
  const std::vector<SharedJob> jobs = {{1, {4, 1}, 0}, {1, {1, 1}, 0}};
  const std::vector<std::int32_t> devices = {1, 1};
  std::int64_t steps = 0;
  const auto answer = max_min_shares(jobs, devices, steps);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_NEAR(answer->objective, 1, 1e-9);
  EXPECT_NEAR(answer->shares[0][0], 1, 1e-9);
  EXPECT_NEAR(answer->shares[1][1], 1, 1e-9);
  EXPECT_EQ(steps, 4);
}

TEST(TypeShares, EqualJobsShareADevice) {
  const std::vector<SharedJob> jobs = {{1, {2}, 0}, {1, {2}, 0}};
  const std::vector<std::int32_t> devices = {1};
  std::int64_t steps = 0;
  const auto answer = max_min_shares(jobs, devices, steps);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_NEAR(answer->shares[0][0], 0.5, 1e-6);
  EXPECT_NEAR(answer->shares[1][0], 0.5, 1e-6);
}

TEST(TypeShares, TheMakespanBalancesTheTypes) {
  // 30 s on the fast device, or 60 on the slow one, for each of two: both on
  // both, 40 s in all.
  const std::vector<SharedJob> jobs = {{1, {2, 1}, 60}, {1, {2, 1}, 60}};
  const std::vector<std::int32_t> devices = {1, 1};
  std::int64_t steps = 0;
  const auto answer = makespan_shares(jobs, devices, steps);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_NEAR(answer->objective, 40, 0.1);
  for (std::size_t t = 0; t < 2; ++t)
    EXPECT_LE(answer->shares[0][t] + answer->shares[1][t], 1 + 1e-6);
}

TEST(TypeShares, WhoRunsNowhereGetsNothing) {
  const std::vector<SharedJob> jobs = {{1, {0, 0}, 5}, {2, {0, 1}, 10}};
  const std::vector<std::int32_t> devices = {1, 2};
  std::int64_t steps = 0;
  const auto answer = makespan_shares(jobs, devices, steps);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_NEAR(answer->objective, 10, 0.1);
  EXPECT_EQ(answer->shares[0], (std::vector<double>{0, 0}));
  const auto none = max_min_shares(std::span(jobs).first(1), devices, steps);
  ASSERT_TRUE(none) << none.error().describe();
  EXPECT_EQ(none->shares[0], (std::vector<double>{0, 0}));
}

TEST(GangBounds, AreReachedWhereTheBestIsKnown) {
  const std::vector<std::int32_t> devices = {1};
  const std::vector<BoundGang> one = {{100, 1, {1}, 1000}};
  const auto makespan = makespan_bound(one, devices);
  ASSERT_TRUE(makespan) << makespan.error().describe();
  EXPECT_NEAR(*makespan, 1100, 1e-3);
  // It begins at once and takes 1,000 s. Steps of 100 s lose half of one.
  const auto mean = mean_completion_bound(one, devices, {100, 100, 40, 10'000});
  ASSERT_TRUE(mean) << mean.error().describe();
  EXPECT_LE(*mean, 1000);
  EXPECT_GE(*mean, 949);
}

TEST(GangBounds, TheShorterOfTwoGoesFirst) {
  const std::vector<std::int32_t> devices = {2};
  const std::vector<BoundGang> gangs = {{0, 2, {1}, 400}, {0, 2, {1}, 100}};
  const auto mean = mean_completion_bound(gangs, devices, {10, 10, 60, 10'000});
  ASSERT_TRUE(mean) << mean.error().describe();
  EXPECT_LE(*mean, 300);  // 100 and 500
  EXPECT_GE(*mean, 294);
}

}  // namespace
}  // namespace gridfold
