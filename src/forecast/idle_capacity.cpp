#include "forecast/idle_capacity.h"

#include <algorithm>

namespace gridfold {

void IdleCapacityForecast::observe(Instant now, std::int64_t idle) {
  if (!begun_) {
    begun_ = true;
    until_ = now + step_;
    open_ = {0, idle, idle};
  }
  advance(now);
  idle_ = idle;
  open_.least = std::min(open_.least, idle);
}

void IdleCapacityForecast::advance(Instant now) {
  // What lies so long ago that no window remembers it is skipped.
  constexpr std::int64_t kMost = static_cast<std::int64_t>(kWindows) + 2 * kSteps;
  const std::int64_t ended = now < until_ ? 0 : (now - until_).ns / step_.ns + 1;
  for (std::int64_t i = 0; i < std::min(ended, kMost); ++i) close_step();
  until_ = until_ + Duration{ended * step_.ns};
}

void IdleCapacityForecast::close_step() {
  while (!least_.empty() && least_.back().least >= open_.least) least_.pop_back();
  least_.push_back(open_);
  steps_.push_back(open_);
  if (steps_.size() == static_cast<std::size_t>(kSteps)) {
    remember(steps_.front().first - least_.front().least);
    if (least_.front().number == steps_.front().number) least_.pop_front();
    steps_.pop_front();
  }
  open_ = {open_.number + 1, idle_, idle_};
}

void IdleCapacityForecast::remember(std::int64_t drop) {
  if (drops_.size() == kWindows) {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), drops_.front()));
    drops_.pop_front();
  }
  drops_.push_back(drop);
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), drop), drop);
}

std::int64_t IdleCapacityForecast::drop(Instant now) {
  if (!begun_) return 0;
  advance(now);
  if (!sorted_.empty()) {
    const auto count = static_cast<std::int64_t>(sorted_.size());
    return sorted_[static_cast<std::size_t>((count * kPerCent + 99) / 100 - 1)];
  }
  std::int64_t least = open_.least;
  std::int64_t fallen = open_.first - open_.least;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    least = std::min(least, step->least);
    fallen = std::max(fallen, step->first - least);
  }
  return fallen;
}

}  // namespace gridfold
