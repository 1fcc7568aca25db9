#include "forecast/run_time_model.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "forecast/run_time.h"

namespace gridfold {
namespace {

JobSpec job(const std::string& user, std::int32_t tasks, Limit<Duration> limit) {
  JobSpec spec;
  spec.tenant = user;
  spec.name = "train";
  spec.roles.emplace_back();
  spec.roles.front().count = tasks;
  spec.roles.front().each.cpu = MilliCores{1000};
  spec.time_limit = limit;
  return spec;
}

// Users do not repeat themselves, but their jobs take a quarter of the limit,
// and those of eight tasks an eighth, give or take a tenth.
struct Habit {
  RandomStream random{1, "habits"};
  std::int64_t users = 0;

  std::pair<JobSpec, Duration> next() {
    const auto limit = Duration::minutes(20 * (1 + static_cast<std::int64_t>(random.below(50))));
    const bool wide = random.below(2) == 0;
    const auto percent = 90 + static_cast<std::int64_t>(random.below(21));
    JobSpec spec = job("user" + std::to_string(users++), wide ? 8 : 1, limit);
    return {std::move(spec), Duration{limit.ns / (wide ? 8 : 4) / 100 * percent}};
  }
};

void learn(RunTimeForecast& forecast, Habit& habit, int jobs) {
  for (int i = 0; i < jobs; ++i) {
    const auto [spec, ran] = habit.next();
    forecast.observe(spec, ran);
    if (const auto problem = forecast.problem()) forecast.adopt(*problem->solve());
  }
}

TEST(RunTimeModel, IsAskedForAsHistoryGrows) {
  RunTimeForecast forecast;
  Habit habit;
  std::vector<int> asked;
  for (int i = 1; i <= 4000; ++i) {
    const auto [spec, ran] = habit.next();
    forecast.observe(spec, ran);
    if (forecast.problem() != nullptr) asked.push_back(i);
  }
  EXPECT_EQ(asked, (std::vector<int>{200, 400, 800, 1600, 2600, 3600}));
}

// Whoever has never been seen is forecast by what others did with such limits
// and sizes; before the model nothing was.
TEST(RunTimeModel, ForecastsThoseNobodyIsLike) {
  RunTimeForecast forecast;
  Habit habit;
  learn(forecast, habit, 199);
  EXPECT_FALSE(forecast.predict(habit.next().first, {}));
  learn(forecast, habit, 1801);
  int within = 0, near = 0;
  constexpr int kAsked = 400;
  for (int i = 0; i < kAsked; ++i) {
    const auto [spec, ran] = habit.next();
    const auto said = forecast.predict(spec, {});
    ASSERT_TRUE(said);
    EXPECT_LE(*said, spec.time_limit.bound());
    within += ran <= *said;
    near += said->ns < ran.ns * 2 && ran.ns < said->ns * 2;
  }
  EXPECT_GT(near, kAsked * 90 / 100);
  EXPECT_GT(within, kAsked * 60 / 100);  // three of four, by design
  EXPECT_LT(within, kAsked * 95 / 100);
}

TEST(RunTimeModel, SaysNothingWhereThereIsNothingToCorrect) {
  RunTimeForecast forecast;
  Habit habit;
  learn(forecast, habit, 1000);
  EXPECT_FALSE(forecast.predict(job("someone", 1, Unlimited{}), {}));
}

// The model says what a whole run takes; of who has outlasted that, others who
// did tell.
TEST(RunTimeModel, OfOneThatGoesOnOnlyLongerRunsTell) {
  RunTimeForecast forecast;
  Habit habit;
  learn(forecast, habit, 1000);
  const JobSpec ann = job("ann", 1, Limit<Duration>(Duration::hours(10)));
  for (const std::int64_t minutes : {10, 10, 10, 10, 10, 10, 10, 10, 10, 300})
    forecast.observe(ann, Duration::minutes(minutes));
  const auto said = forecast.predict(ann, {});
  ASSERT_TRUE(said);
  EXPECT_LT(*said, Duration::minutes(300));
  EXPECT_EQ(forecast.predict(ann, Duration::minutes(299)), Duration::minutes(300));
  EXPECT_FALSE(forecast.predict(ann, Duration::minutes(300)));
}

TEST(RunTimeModel, TheSameHistoryGivesTheSameForecast) {
  RunTimeForecast first, second;
  Habit one, other;
  learn(first, one, 1000);
  learn(second, other, 1000);
  for (int i = 0; i < 100; ++i) {
    const JobSpec spec = one.next().first;
    EXPECT_EQ(first.predict(spec, {}), second.predict(spec, {}));
  }
}

}  // namespace
}  // namespace gridfold
