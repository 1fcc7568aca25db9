#include "policies/gridfold_prices.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace gridfold {
namespace {

// Devices asked for by share in the openb list "default", in hundredths.
SharePrices::Demand default_mix() {
  SharePrices::Demand demand{};
  for (const auto& [step, count] :
       {std::pair{5, 7}, {11, 24},  {14, 1},  {16, 74}, {22, 62},  {23, 140},  {27, 4},
        {29, 1},         {32, 328}, {33, 7},  {35, 6},  {37, 47},  {44, 2},    {46, 128},
        {47, 750},       {48, 19},  {55, 72}, {59, 75}, {65, 253}, {81, 1078}, {100, 4355}})
    demand[step] = count;
  return demand;
}

void expect_part(const SharePrices& prices, std::initializer_list<int> steps, int part, int of) {
  for (const int step : steps)
    EXPECT_NEAR(prices.of_step(step), kDeviceWorth * part / of, 2) << step;
}

TEST(GridfoldPricesTest, DefaultMixIsPricedInPartsOfADevice) {
  const SharePrices prices(default_mix());
  expect_part(prices, {81, 100}, 1, 1);
  expect_part(prices, {55, 59, 65}, 2, 3);
  expect_part(prices, {46, 47, 48}, 1, 2);
  expect_part(prices, {32, 33, 35, 37, 44}, 1, 3);
  expect_part(prices, {23, 27, 29}, 1, 4);
  expect_part(prices, {22}, 1, 12);
  expect_part(prices, {5, 11, 14, 16}, 0, 1);
}

TEST(GridfoldPricesTest, UnseenSizesCostWhatFillsThem) {
  SharePrices::Demand demand{};
  demand[50] = 3;
  const SharePrices prices(demand);
  expect_part(prices, {49}, 0, 1);
  expect_part(prices, {50, 99}, 1, 2);
  expect_part(prices, {100}, 1, 1);
}

TEST(GridfoldPricesTest, WithoutDemandAShareIsWorthItsSize) {
  const SharePrices prices(SharePrices::Demand{});
  EXPECT_EQ(prices, SharePrices());
  expect_part(prices, {25}, 1, 4);
  EXPECT_EQ(prices.of_need(301), kDeviceWorth * 31 / 100);  // rounded up
}

// The best worth of a set of sizes within a device.
double best_fill(const std::vector<int>& sizes, const std::vector<double>& prices) {
  std::array<double, kShareSteps + 1> best{};
  for (int r = 1; r <= kShareSteps; ++r) {
    best[r] = best[r - 1];
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      if (sizes[k] <= r) best[r] = std::max(best[r], best[r - sizes[k]] + prices[k]);
    }
  }
  return best[kShareSteps];
}

// Optimal means: allowed, and worth no less than any other allowed prices.
RC_GTEST_PROP(GridfoldPricesProperty, NoOtherPricesAreWorthMore, ()) {
  std::vector<int> sizes = *rc::gen::unique<std::vector<int>>(rc::gen::inRange(1, 101));
  std::sort(sizes.begin(), sizes.end());
  RC_PRE(!sizes.empty());
  std::vector<double> demand;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    demand.push_back(static_cast<double>(*rc::gen::inRange(1, 1000)));
  const std::vector<double> prices = cutting_stock_prices(sizes, demand);
  RC_ASSERT(best_fill(sizes, prices) <= 1 + 1e-6);
  const auto worth = [&](const std::vector<double>& of) {
    double sum = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) sum += demand[k] * of[k];
    return sum;
  };
  for (int other = 0; other < 20; ++other) {
    std::vector<double> rival;
    for (std::size_t k = 0; k < sizes.size(); ++k)
      rival.push_back(prices[k] * 0.9 + *rc::gen::inRange(0, 1000) * sizes[k] * 2e-6);
    const double fill = best_fill(sizes, rival);
    for (double& price : rival) price /= std::max(fill, 1e-9);
    RC_ASSERT(worth(rival) <= worth(prices) * (1 + 1e-6) + 1e-6);
  }
}

}  // namespace
}  // namespace gridfold
