#include "policies/gridfold_tightness.h"

#include <algorithm>

namespace gridfold {

Tightness::Tightness(const Room& largest, const Room& capacity, const Room& demand)
    : steps_(kSteps),
      largest_{std::max<std::int64_t>(largest.cpu, 1), std::max<std::int64_t>(largest.share, 1)} {
  // CPU to a device in the cluster against that in the mix: at a tenth more of
  // it devices count in full, at less than the mix has not at all.
  const __int128 offered = static_cast<__int128>(capacity.cpu) * demand.share;
  const __int128 asked = static_cast<__int128>(demand.cpu) * capacity.share;
  if (asked <= 0) {
    share_eighths_ = 8;
    return;
  }
  share_eighths_ =
      std::clamp<std::int64_t>(static_cast<std::int64_t>((offered - asked) * 80 / asked), 0, 8);
}

}  // namespace gridfold
