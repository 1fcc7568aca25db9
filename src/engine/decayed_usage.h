// How much was held lately: means of amounts in which the past counts half
// after each half-life. Integers, so that it is the same on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace gridfold {

class DecayedUsage {
 public:
  // `held` is what has been held, by resource, since the last call; times do
  // not go back. A half-life of zero remembers nothing.
  void advance(Instant now, std::span<const std::int64_t> held, Duration half_life);
  // Whether anything was ever told.
  bool has_begun() const { return begun_; }
  // As it is, to go on elsewhere as if it had gone on here.
  struct Parts {
    Instant since{};
    Instant until{};
    std::vector<std::int64_t> means;  // by resource, with kFraction bits after the point
    std::vector<std::int64_t> areas;
  };
  Parts parts() const;
  void restore(const Parts& parts);

  // In the unit of what was held; 0 for a resource never seen.
  std::int64_t mean(std::size_t resource) const {
    return resource < means_.size() ? means_[resource] >> kFraction : 0;
  }

 private:
  static constexpr int kFraction = 16;  // bits of a mean after its point
  Instant since_{};                     // the means are of this time
  Instant until_{};                     // and the areas reach from there to here
  bool begun_ = false;
  std::vector<std::int64_t> means_;
  std::vector<__int128> areas_;  // amount x microseconds
};

// 2^-(elapsed / half_life) in units of 2^-62, for elapsed >= 0, half_life > 0.
std::int64_t decay_factor(Duration elapsed, Duration half_life);

}  // namespace gridfold
