// How far an idle amount will fall within a time, by how far it fell in
// stretches of that length before: an empirical quantile over windows that
// begin one after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/time.h"

namespace gridfold {

class IdleCapacityForecast {
 public:
  static constexpr std::int64_t kSteps = 32;     // windows begin every so manieth of the horizon
  static constexpr std::size_t kWindows = 1024;  // remembered, the newest
  static constexpr std::int64_t kPerCent = 95;

  // Requires horizon >= 32 ns.
  explicit IdleCapacityForecast(Duration horizon) : step_{horizon.ns / kSteps} {}

  // It is so much from now on; times never go back.
  void observe(Instant now, std::int64_t idle);
  // So much less or not even that, in 95 of 100 windows; before the first one is
  // over, as far as it has fallen so far. Not negative.
  std::int64_t drop(Instant now);

 private:
  struct Step {
    std::int64_t number = 0;
    std::int64_t first = 0;  // at its beginning
    std::int64_t least = 0;
  };
  void advance(Instant now);
  void close_step();
  void remember(std::int64_t drop);

  Duration step_;
  bool begun_ = false;
  Instant until_{};  // the end of the step that is open
  Step open_;
  std::int64_t idle_ = 0;
  std::deque<Step> steps_;            // closed, of the last window
  std::deque<Step> least_;            // of these, those that a later one does not undercut
  std::deque<std::int64_t> drops_;    // of the windows remembered, the oldest first
  std::vector<std::int64_t> sorted_;  // the same
};

}  // namespace gridfold
