#include "forecast/goodput.h"

#include <cmath>

#include <gtest/gtest.h>

#include "forecast/goodput_fit.h"

namespace gridfold {
namespace {

// A program of 0.02 s + 0.001 s an example a gradient, and networks that add to it.
double gradient_seconds(std::int64_t local) { return 0.02 + 0.001 * static_cast<double>(local); }
double network_seconds(std::int32_t nodes, std::int32_t tasks) {
  if (tasks == 1) return 0;
  return nodes > 1 ? 0.05 + 0.002 * (tasks - 2) : 0.01 + 0.0005 * (tasks - 2);
}

StepMeasurement measured(std::int32_t nodes, std::int32_t tasks, std::int64_t local) {
  const auto in_time = [](double seconds) {
    return Duration{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
  };
  const double network = network_seconds(nodes, tasks);
  return {nodes,           tasks, "T4", local, 0, in_time(gradient_seconds(local) + network),
          in_time(network)};
}

constexpr BatchLimits kLimits{64, 4096, 16, 128};
constexpr NoiseModel kNoise{1, 10};

double true_rate(std::int32_t nodes, std::int32_t tasks, const GoodputChoice& at) {
  const double scale = static_cast<double>(tasks * at.local_batch * (at.accumulation + 1)) / 64.0;
  const double gain = 11 / (10 / scale + 1);
  return gain /
         (gradient_seconds(at.local_batch) * (at.accumulation + 1) + network_seconds(nodes, tasks));
}

TEST(GoodputFit, ForetellsSizesThatWereNotMeasured) {
  const std::vector<StepMeasurement> seen = {measured(1, 1, 64), measured(1, 1, 128),
                                             measured(1, 2, 64), measured(1, 4, 32),
                                             measured(2, 8, 64), measured(3, 12, 32)};
  const GoodputModel model(fit_throughput(seen), kNoise, kLimits);
  for (const auto& [nodes, tasks] : {std::pair{1, 3}, std::pair{2, 6}, std::pair{4, 16}}) {
    const GoodputChoice best = model.best(nodes, tasks);
    EXPECT_NEAR(best.goodput / true_rate(nodes, tasks, best), 1, 0.1) << tasks;
  }
}

TEST(GoodputFit, WhatWasNotTriedIsTakenToBeFree) {
  const std::vector<StepMeasurement> seen = {measured(1, 1, 64)};
  const ThroughputModel speed = fit_throughput(seen);
  EXPECT_NEAR(speed.alpha_gradient, 0.042, 1e-6);  // half of the one time seen
  EXPECT_LT(speed.alpha_within, 1e-6);
  EXPECT_LT(speed.alpha_between, 1e-6);
  const GoodputModel model(speed, kNoise, kLimits);
  EXPECT_GT(model.best(4, 16).goodput, 4 * model.best(1, 1).goodput);
}

TEST(Goodput, KeepsWithinTheLimits) {
  const GoodputModel model({0.02, 0.001, 0.05, 0.002, 0.01, 0.0005, 1}, kNoise, kLimits);
  for (std::int32_t tasks = 1; tasks <= 300; ++tasks) {
    const GoodputChoice best = model.best((tasks + 3) / 4, tasks);
    if (tasks * kLimits.min_local > kLimits.most) {
      EXPECT_EQ(best.goodput, 0) << tasks;
      continue;
    }
    EXPECT_GT(best.goodput, 0) << tasks;
    EXPECT_GE(best.local_batch, kLimits.min_local);
    EXPECT_LE(best.local_batch, kLimits.max_local);
    EXPECT_GE(tasks * best.local_batch * (best.accumulation + 1), kLimits.initial);
  }
}

TEST(Goodput, WithoutNoiseALargerBatchIsWorthNothing) {
  const GoodputModel model({0.02, 0.001, 0.05, 0.002, 0.01, 0.0005, 1}, {}, kLimits);
  EXPECT_EQ(model.best(1, 1).local_batch * (model.best(1, 1).accumulation + 1), kLimits.initial);
}

}  // namespace
}  // namespace gridfold
