// Devices of several types shared out over jobs.
#include "policies/type_choice.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace gridfold {
namespace {

using Jobs = std::vector<std::vector<ShareCurve>>;

double least_cost(std::span<const std::vector<ShareCurve>> jobs, std::vector<std::int32_t>& free) {
  if (jobs.empty()) return 0;
  double least = jobs.front().front().costs[0] + least_cost(jobs.subspan(1), free);
  for (std::size_t t = 0; t < free.size(); ++t) {
    const ShareCurve& curve = jobs.front()[t];
    for (std::size_t n = 1; n < curve.costs.size(); ++n) {
      const auto devices = static_cast<std::int32_t>(n) * curve.devices_each;
      if (devices > free[t]) break;
      free[t] -= devices;
      least = std::min(least, curve.costs[n] + least_cost(jobs.subspan(1), free));
      free[t] += devices;
    }
  }
  return least;
}

Jobs any_jobs(std::size_t types) {
  Jobs jobs(*rc::gen::inRange<std::size_t>(0, 5));
  for (auto& job : jobs) {
    const auto each = *rc::gen::inRange<std::int32_t>(1, 3);
    const double idle = *rc::gen::inRange(50, 100);
    for (std::size_t t = 0; t < types; ++t) {
      ShareCurve curve;
      curve.devices_each = each;
      curve.costs = {idle};
      const auto most = *rc::gen::inRange(0, 4);
      for (int n = 0; n < most; ++n) curve.costs.push_back(*rc::gen::inRange(0, 100));
      job.push_back(std::move(curve));
    }
  }
  return jobs;
}

// Their cost; fails when a type is given more than it has.
double cost_of(const Jobs& jobs, const std::vector<TypeChoice>& choices,
               std::vector<std::int32_t> free) {
  RC_ASSERT(choices.size() == jobs.size());
  double cost = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const ShareCurve& curve = jobs[j][choices[j].type];
    RC_ASSERT(static_cast<std::size_t>(choices[j].tasks) < curve.costs.size());
    cost += curve.costs[static_cast<std::size_t>(choices[j].tasks)];
    free[choices[j].type] -= choices[j].tasks * curve.devices_each;
  }
  for (const std::int32_t left : free) RC_ASSERT(left >= 0);
  return cost;
}

RC_GTEST_PROP(TypeChoice, IsTheCheapestOfAllWays, ()) {
  std::vector<std::int32_t> devices(*rc::gen::inRange<std::size_t>(1, 4));
  for (auto& count : devices) count = *rc::gen::inRange(0, 6);
  const Jobs jobs = any_jobs(devices.size());
  std::int64_t steps = 0;
  const auto choices = choose_types(jobs, devices, steps);
  RC_ASSERT(cost_of(jobs, choices, devices) == least_cost(jobs, devices));
}

RC_GTEST_PROP(TypeChoice, TooLargeForThatItIsNearAndNeverTooMuch, ()) {
  std::vector<std::int32_t> devices(*rc::gen::inRange<std::size_t>(2, 4));
  for (auto& count : devices) count = *rc::gen::inRange(0, 6);
  const Jobs jobs = any_jobs(devices.size());
  std::int64_t steps = 0;
  const TypeChoiceLimits never_exact{0, 100'000};
  const auto choices = choose_types(jobs, devices, steps, never_exact);
  const double cost = cost_of(jobs, choices, devices);
  RC_ASSERT(cost >= least_cost(jobs, devices) - 1e-9);
  double idle = 0;
  for (const auto& job : jobs) idle += job.front().costs[0];
  RC_ASSERT(cost <= idle);
  RC_ASSERT(choices == choose_types(jobs, devices, steps, never_exact));
}

TEST(TypeChoice, LargeOnesFillTheDevices) {
  Jobs jobs;
  for (int j = 0; j < 400; ++j) {
    const double idle = 10 + j % 17;
    jobs.push_back({{{idle, 5.0 + j % 5}, 1}, {{idle, 6.0 + j % 3}, 1}, {{idle, 7, 4}, 2}});
  }
  const std::vector<std::int32_t> devices = {100, 100, 100};
  std::int64_t steps = 0;
  std::vector<std::int32_t> free = devices;
  const auto choices = choose_types(jobs, devices, steps);
  for (std::size_t j = 0; j < jobs.size(); ++j)
    free[choices[j].type] -= choices[j].tasks * jobs[j][choices[j].type].devices_each;
  EXPECT_EQ(free, (std::vector<std::int32_t>{0, 0, 0}));
}

}  // namespace
}  // namespace gridfold
