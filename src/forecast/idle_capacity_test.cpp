#include "forecast/idle_capacity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace gridfold {
namespace {

Instant at(std::int64_t seconds) { return Instant{} + Duration::seconds(seconds); }

TEST(IdleCapacityForecast, SaysNothingWithoutHistory) {
  EXPECT_EQ(IdleCapacityForecast(Duration::hours(1)).drop(at(10)), 0);
}

TEST(IdleCapacityForecast, BeforeAWindowIsOverItIsTheDeepestFallSoFar) {
  IdleCapacityForecast forecast(Duration::seconds(3200));
  forecast.observe(at(0), 100);
  forecast.observe(at(150), 70);
  forecast.observe(at(350), 90);
  forecast.observe(at(450), 85);
  EXPECT_EQ(forecast.drop(at(500)), 30);
}

TEST(IdleCapacityForecast, WhatRisesOrStaysDropsByNothing) {
  IdleCapacityForecast forecast(Duration::seconds(320));
  for (std::int64_t t = 0; t < 10'000; t += 7) forecast.observe(at(t), t);
  EXPECT_EQ(forecast.drop(at(10'000)), 0);
  EXPECT_EQ(forecast.drop(at(90'000)), 0);
}

TEST(IdleCapacityForecast, LongSilenceCostsLittleAndIsRemembered) {
  IdleCapacityForecast forecast(Duration::seconds(32));
  forecast.observe(at(0), 50);
  for (std::int64_t t = 1; t < 2000; ++t) forecast.observe(at(t), t % 2 == 0 ? 50 : 10);
  EXPECT_EQ(forecast.drop(at(2000)), 40);
  EXPECT_EQ(forecast.drop(Instant{} + Duration::hours(24 * 300)), 0);
}

// Against a count over all windows that begin with a step.
TEST(IdleCapacityForecast, IsTheQuantileOfTheFallsSeen) {
  constexpr std::int64_t kStep = 10;
  RandomStream random(7, "idle");
  std::vector<std::int64_t> second(8000);
  std::int64_t idle = 500;
  IdleCapacityForecast forecast(Duration::seconds(kStep * IdleCapacityForecast::kSteps));
  for (std::size_t t = 0; t < second.size(); ++t) {
    idle = std::max<std::int64_t>(0, idle + random.between(-9, 9));
    second[t] = idle;
    forecast.observe(at(static_cast<std::int64_t>(t)), idle);
  }
  const auto window = static_cast<std::size_t>(kStep * IdleCapacityForecast::kSteps);
  std::vector<std::int64_t> drops;
  for (std::size_t from = 0; from + window < second.size(); from += kStep) {
    // At its beginning it was what the step before ended with.
    const std::int64_t first = from == 0 ? second[0] : second[from - 1];
    std::int64_t least = first;
    for (std::size_t t = from; t < from + window; ++t) least = std::min(least, second[t]);
    drops.push_back(first - least);
  }
  std::sort(drops.begin(), drops.end());
  const std::size_t rank = (drops.size() * 95 + 99) / 100 - 1;
  EXPECT_EQ(forecast.drop(at(static_cast<std::int64_t>(second.size()) - 1)), drops[rank]);
}

}  // namespace
}  // namespace gridfold
