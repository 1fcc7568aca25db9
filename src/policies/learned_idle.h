// What will be idle, as the history of the grid tells it: a forecast for each
// pool of devices and each of a few horizons; one between two takes the longer.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "engine/idle_forecast.h"
#include "forecast/idle_capacity.h"

namespace gridfold {

class LearnedIdle final : public IdleForecast {
 public:
  static constexpr std::array<Duration, 7> kHorizons = {
      Duration::minutes(1), Duration::minutes(4), Duration::minutes(15), Duration::hours(1),
      Duration::hours(4),   Duration::hours(24),  Duration::hours(96)};

  void observe(Instant now, std::size_t pool, std::int64_t idle) override {
    while (pools_.size() <= pool) {
      auto& forecasts = pools_.emplace_back();
      for (const Duration horizon : kHorizons) forecasts.emplace_back(horizon);
    }
    for (IdleCapacityForecast& forecast : pools_[pool]) forecast.observe(now, idle);
  }
  std::int64_t drop(Instant now, std::size_t pool, Duration horizon) override {
    if (pool >= pools_.size()) return 0;
    const auto longer = std::lower_bound(kHorizons.begin(), std::prev(kHorizons.end()), horizon);
    return pools_[pool][static_cast<std::size_t>(longer - kHorizons.begin())].drop(now);
  }

 private:
  std::vector<std::vector<IdleCapacityForecast>> pools_;
};

}  // namespace gridfold
