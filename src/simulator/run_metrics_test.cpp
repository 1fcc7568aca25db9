#include "simulator/run_metrics.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

Instant at(std::int64_t seconds) { return Instant{} + Duration::seconds(seconds); }

TEST(Summary, GivesMeanAndPercentiles) {
  std::vector<Duration> values;
  for (int i = 100; i >= 1; --i) values.push_back(Duration::seconds(i));
  const auto summary = summarise(values);
  EXPECT_EQ(summary.count, 100u);
  EXPECT_DOUBLE_EQ(summary.mean_seconds, 50.5);
  EXPECT_DOUBLE_EQ(summary.p50_seconds, 50);
  EXPECT_DOUBLE_EQ(summary.p99_seconds, 99);
  EXPECT_EQ(summarise({}).count, 0u);
  EXPECT_DOUBLE_EQ(summarise({Duration::seconds(3)}).p99_seconds, 3);
}

TEST(Usage, MeansWeighByTime) {
  const std::vector<UsagePoint> history = {{at(0), 1000, 0}, {at(10), 3000, 0}, {at(20), 0, 0}};
  const auto mean = [&](std::int64_t from, std::int64_t to) {
    return mean_usage(history, &UsagePoint::gpu_thousandths, at(from), at(to));
  };
  EXPECT_DOUBLE_EQ(mean(0, 20), 2000);
  EXPECT_DOUBLE_EQ(mean(5, 15), 2000);
  EXPECT_DOUBLE_EQ(mean(0, 40), 1000);
  EXPECT_DOUBLE_EQ(mean(7, 7), 0);
}

TEST(Usage, MeansByStretchCutTheLastOne) {
  const std::vector<UsagePoint> history = {{at(0), 1000, 0}, {at(10), 3000, 0}, {at(20), 0, 0}};
  EXPECT_EQ(mean_usage_by_stretch(history, &UsagePoint::gpu_thousandths, Duration::seconds(8)),
            (std::vector<double>{1000, 2500, 3000}));
  EXPECT_EQ(mean_usage_by_stretch(history, &UsagePoint::gpu_thousandths, Duration::seconds(20)),
            (std::vector<double>{2000}));
  EXPECT_TRUE(
      mean_usage_by_stretch({}, &UsagePoint::gpu_thousandths, Duration::seconds(1)).empty());
}

}  // namespace
}  // namespace gridfold
