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

std::optional<Duration> said(const RunTimeForecast& forecast, const JobSpec& spec) {
  return forecast.predict(spec, Duration{});
}

TEST(RunTimeForecast, SaysNothingWithoutHistory) {
  EXPECT_FALSE(said(RunTimeForecast(), job("ann", "train", 1)));
}

TEST(RunTimeForecast, ThreeOfFourTookNoLonger) {
  RunTimeForecast forecast;
  forecast.observe(job("ann", "train", 1), Duration::minutes(90));
  EXPECT_EQ(said(forecast, job("ann", "train", 1)), Duration::minutes(90));
  for (const std::int64_t minutes : {10, 30, 20, 40, 60, 70, 80})
    forecast.observe(job("ann", "train", 1), Duration::minutes(minutes));
  EXPECT_EQ(said(forecast, job("ann", "train", 1)), Duration::minutes(80));
}

TEST(RunTimeForecast, TheLastTwentyCount) {
  RunTimeForecast forecast;
  for (int i = 0; i < 20; ++i) forecast.observe(job("ann", "train", 1), Duration::minutes(90));
  for (int i = 0; i < 14; ++i) forecast.observe(job("ann", "train", 1), Duration::minutes(5));
  EXPECT_EQ(said(forecast, job("ann", "train", 1)), Duration::minutes(90));
  for (int i = 0; i < 2; ++i) forecast.observe(job("ann", "train", 1), Duration::minutes(5));
  EXPECT_EQ(said(forecast, job("ann", "train", 1)), Duration::minutes(5));
}

// Who has lasted for some time is like those that ran longer than that.
TEST(RunTimeForecast, OfOneThatGoesOnOnlyLongerRunsTell) {
  RunTimeForecast forecast;
  for (const std::int64_t minutes : {1, 1, 1, 1, 1, 50, 60, 70, 80})
    forecast.observe(job("ann", "train", 1), Duration::minutes(minutes));
  forecast.observe(job("ann", "test", 1), Duration::minutes(200));
  const JobSpec asked = job("ann", "train", 1);
  EXPECT_EQ(said(forecast, asked), Duration::minutes(60));
  EXPECT_EQ(forecast.predict(asked, Duration::minutes(2)), Duration::minutes(80));
  EXPECT_EQ(forecast.predict(asked, Duration::minutes(75)), Duration::minutes(80));
  // Of the same user and limit.
  EXPECT_EQ(forecast.predict(asked, Duration::minutes(80)), Duration::minutes(200));
  EXPECT_FALSE(forecast.predict(asked, Duration::minutes(200)));
}

TEST(RunTimeForecast, PrefersWhoIsMostAlike) {
  RunTimeForecast forecast;
  forecast.observe(job("ann", "train", 1, Duration::hours(1)), Duration::minutes(5));
  forecast.observe(job("ann", "train", 1, Duration::hours(4)), Duration::minutes(60));
  forecast.observe(job("ann", "test", 1, Duration::hours(2)), Duration::minutes(100));
  EXPECT_EQ(said(forecast, job("ann", "train", 1, Duration::hours(1))), Duration::minutes(5));
  // The limit is new: those of the same size.
  EXPECT_EQ(said(forecast, job("ann", "train", 1, Duration::hours(9))), Duration::minutes(60));
  EXPECT_EQ(said(forecast, job("ann", "other", 1, Duration::hours(2))), Duration::minutes(100));
  EXPECT_FALSE(said(forecast, job("bob", "train", 1)));
}

TEST(RunTimeForecast, IsNeverLongerThanTheLimit) {
  RunTimeForecast forecast;
  forecast.observe(job("ann", "train", 1, Duration::hours(4)), Duration::hours(3));
  EXPECT_EQ(said(forecast, job("ann", "train", 1, Duration::hours(1))), Duration::hours(1));
}

TEST(RunTimeForecast, TextsDoNotRunTogether) {
  RunTimeForecast forecast;
  forecast.observe(job("a", "bc", 1, Duration::hours(1)), Duration::minutes(1));
  EXPECT_FALSE(said(forecast, job("ab", "c", 1, Duration::hours(1))));
}

}  // namespace
}  // namespace gridfold
