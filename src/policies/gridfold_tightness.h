// Once tasks leave, a tight fit is worth something by itself: what is left free
// on few nodes comes together as others leave, what is left on many does not.
// (While nothing leaves it is better to take the lowest name among nodes whose
// prices are alike.)
//
// CPU that is left counts always, devices only as far as CPU is not what the
// cluster runs out of: then they stay idle wherever they are.
#pragma once

#include <cstdint>

namespace gridfold {

class Tightness {
 public:
  struct Room {
    std::int64_t cpu = 0;    // millicores
    std::int64_t share = 0;  // thousandths of devices
  };

  Tightness() = default;  // nothing leaves: scores stay as they are
  // `largest`: of any node. `capacity`: of all. `demand`: of the mix, in any
  // unit that is the same for both.
  Tightness(const Room& largest, const Room& capacity, const Room& demand);

  // The score in finer steps, less what is left behind.
  std::int64_t refine(std::int64_t units, std::int64_t cpu_left, std::int64_t share_left) const {
    if (steps_ == 1) return units;
    return units * steps_ - cpu_left * kPerLargest / largest_.cpu -
           share_left * kPerLargest / largest_.share * share_eighths_ / 8;
  }

  friend bool operator==(const Tightness& a, const Tightness& b) {
    return a.steps_ == b.steps_ && a.largest_.cpu == b.largest_.cpu &&
           a.largest_.share == b.largest_.share && a.share_eighths_ == b.share_eighths_;
  }

 private:
  // A largest node left wholly free costs ten units of score.
  static constexpr std::int64_t kPerLargest = 1000;
  static constexpr std::int64_t kSteps = 100;

  std::int64_t steps_ = 1;
  Room largest_{1, 1};
  std::int64_t share_eighths_ = 0;
};

}  // namespace gridfold
