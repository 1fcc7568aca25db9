// Once tasks leave, a tight fit is worth something by itself: what is left free
// on few nodes comes together as others leave, what is left on many does not.
// (While nothing leaves it is better to take the lowest name among nodes whose
// prices are alike.) How much depends on the load, the worse of that of devices
// and of CPU:
//
// - where there is ample room, more than all prices: everybody can be placed if
//   only room stays together;
// - where somebody is refused in any case, nothing for CPU. Where CPU is what
//   runs out it is even spread a little, so that some is left beside every
//   device and the largest tasks for CPU alone are those that find no room.
//
// Devices count only as far as CPU is not what the cluster runs out of: else
// they stay idle wherever they are.
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
  // `load`: what the tasks would hold of the devices if all found room, in
  // thousandths.
  Tightness(const Room& largest, const Room& capacity, const Room& demand, std::int64_t load);

  // The score in finer steps, less what is left behind.
  std::int64_t refine(std::int64_t units, std::int64_t cpu_left, std::int64_t share_left) const {
    if (steps_ == 1) return units;
    return units * steps_ - cpu_left * cpu_price_ / largest_.cpu -
           share_left * share_price_ / largest_.share;
  }

  friend bool operator==(const Tightness& a, const Tightness& b) {
    return a.steps_ == b.steps_ && a.largest_.cpu == b.largest_.cpu &&
           a.largest_.share == b.largest_.share && a.cpu_price_ == b.cpu_price_ &&
           a.share_price_ == b.share_price_;
  }

 private:
  static constexpr std::int64_t kSteps = 100;

  std::int64_t steps_ = 1;
  Room largest_{1, 1};
  // Of a largest node that is left wholly free.
  std::int64_t cpu_price_ = 0;
  std::int64_t share_price_ = 0;
};

}  // namespace gridfold
