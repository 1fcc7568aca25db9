#include "forecast/run_time.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

JobSpec job(const std::string& user, const std::string& name, std::int32_t tasks,
            Duration limit = Duration::hours(4)) {
  JobSpec spec;
  spec.tenant = user;
  spec.name = name;
  spec.roles.emplace_back();
  spec.roles.front().count = tasks;
  spec.time_limit = limit;
  return spec;
}

TEST(RunTimeForecast, SaysNothingWithoutHistory) {
  EXPECT_FALSE(RunTimeForecast().predict(job("ann", "train", 1)));
}

TEST(RunTimeForecast, IsTheMeanOfTheLastTwo) {
  RunTimeForecast forecast;
  forecast.observe(job("ann", "train", 1), Duration::minutes(90));
  EXPECT_EQ(forecast.predict(job("ann", "train", 1)), Duration::minutes(90));
  forecast.observe(job("ann", "train", 1), Duration::minutes(10));
  forecast.observe(job("ann", "train", 1), Duration::minutes(30));
  EXPECT_EQ(forecast.predict(job("ann", "train", 1)), Duration::minutes(20));
}

TEST(RunTimeForecast, PrefersWhoIsMostAlike) {
  RunTimeForecast forecast;
  forecast.observe(job("ann", "train", 1, Duration::hours(1)), Duration::minutes(5));
  forecast.observe(job("ann", "train", 1, Duration::hours(4)), Duration::minutes(60));
  forecast.observe(job("ann", "test", 1, Duration::hours(2)), Duration::minutes(100));
  EXPECT_EQ(forecast.predict(job("ann", "train", 1, Duration::hours(1))), Duration::minutes(5));
  // The limit is new: the last two of the same size.
  EXPECT_EQ(forecast.predict(job("ann", "train", 1, Duration::hours(9))),
            Duration::nanoseconds(Duration::minutes(65).ns / 2));
  EXPECT_EQ(forecast.predict(job("ann", "other", 1, Duration::hours(2))), Duration::minutes(100));
  EXPECT_FALSE(forecast.predict(job("bob", "train", 1)));
}

TEST(RunTimeForecast, IsNeverLongerThanTheLimit) {
  RunTimeForecast forecast;
  forecast.observe(job("ann", "train", 1, Duration::hours(4)), Duration::hours(3));
  EXPECT_EQ(forecast.predict(job("ann", "train", 1, Duration::hours(1))), Duration::hours(1));
}

TEST(RunTimeForecast, TextsDoNotRunTogether) {
  RunTimeForecast forecast;
  forecast.observe(job("a", "bc", 1, Duration::hours(1)), Duration::minutes(1));
  EXPECT_FALSE(forecast.predict(job("ab", "c", 1, Duration::hours(1))));
}

}  // namespace
}  // namespace gridfold
