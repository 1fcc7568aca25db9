// What the tasks that come would hold if all of them found room, as a part of
// the devices there are: above 1 somebody is refused whatever one does.
//
// No clock is needed, and it tells while the cluster still fills up. Where
// tasks hold U in the mean and, of as much as is asked for, a part D / A leaves,
// they stay for U / D of the time in which A comes, so all that comes would hold
// A U / D (Little's law).
#pragma once

#include <cstdint>

namespace gridfold {

class OfferedLoad {
 public:
  void arrived(std::int64_t share) { arrived_ += share; }  // thousandths
  void left(std::int64_t share) { left_ += share; }

  // Takes account of what has come and gone since the last call. What is older
  // fades by a factor of e while as much as all devices is asked for.
  void update(std::int64_t idle, std::int64_t capacity);

  // In thousandths of the devices; 1,000 while nothing is known.
  std::int64_t permille() const;

 private:
  // Since the last update.
  std::int64_t arrived_ = 0;
  std::int64_t left_ = 0;
  // Sums that fade: of what left, and of what came times the part of the
  // devices (in 2^-16) that was held then.
  std::int64_t gone_ = 0;
  std::int64_t held_ = 0;
};

}  // namespace gridfold
