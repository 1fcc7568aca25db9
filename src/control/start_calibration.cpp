#include "control/start_calibration.h"

#include <algorithm>
#include <cmath>

namespace gridfold {
namespace {

// Waits are compared as ratios; below a minute a ratio says little.
constexpr double kSmall = 60;
constexpr std::size_t kKept = 400;
// With fewer of a size all sizes together count; with fewer of those, nothing.
constexpr std::size_t kEnough = 30;
constexpr double kUnknownRatio = 4;  // either way, as long as nothing is known
constexpr double kStep = 0.03;       // of a margin, with each start
constexpr double kMost = 5;          // of a margin, either way

double with_small(Duration wait) { return std::max(wait.in_seconds(), 0.0) + kSmall; }

Duration scaled(Duration wait, double log_ratio) {
  const double seconds = with_small(wait) * std::exp(log_ratio) - kSmall;
  const double most = 10.0 * 365 * 24 * 3600;
  return {static_cast<std::int64_t>(std::clamp(seconds, 0.0, most) * 1e9)};
}

}  // namespace

void StartCalibration::Side::follow(bool missed) {
  margin = std::clamp(margin + kStep * ((missed ? 1.0 : 0.0) - kOutside), -kMost, kMost);
}

void StartCalibration::Size::add(double score) {
  const auto place = [&](double value) {
    return std::lower_bound(sorted.begin(), sorted.end(), value);
  };
  if (in_order.size() == kKept) {
    sorted.erase(place(in_order.front()));
    in_order.pop_front();
  }
  in_order.push_back(score);
  sorted.insert(place(score), score);
}

double StartCalibration::Size::at(double quantile) const {
  const double index = quantile * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(index);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = index - static_cast<double>(below);
  return sorted[below] * (1 - part) + sorted[above] * part;
}

// Each four times as long as the one before, from four minutes on.
std::size_t StartCalibration::size_of(Duration estimated) {
  const double fours = std::log(with_small(estimated) / kSmall) / std::log(4.0);
  return std::min(static_cast<std::size_t>(std::max(fours, 0.0)), kSizes - 1);
}

WaitBand StartCalibration::band(Duration estimated) const {
  const Size& own = sizes_[size_of(estimated)];
  const Size& scores = own.sorted.size() >= kEnough ? own : all_;
  const bool known = scores.sorted.size() >= kEnough;
  if (!known)
    return {estimated, scaled(estimated, -std::log(kUnknownRatio)),
            scaled(estimated, std::log(kUnknownRatio))};
  const double low = scores.at(kOutside) - own.low.margin;
  const double high = scores.at(1 - kOutside) + own.high.margin;
  // Margins that cross leave the middle.
  const double middle = (low + high) / 2;
  return {estimated, scaled(estimated, std::min(low, middle)),
          scaled(estimated, std::max(high, middle))};
}

void StartCalibration::started(const WaitBand& issued, Duration waited) {
  Size& own = sizes_[size_of(issued.estimated)];
  const double score = std::log(with_small(waited) / with_small(issued.estimated));
  own.add(score);
  all_.add(score);
  own.low.follow(waited < issued.from);
  own.high.follow(waited > issued.until);
  ++learned_;
}

}  // namespace gridfold
