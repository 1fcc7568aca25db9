#include "policies/gridfold_tightness.h"

#include <algorithm>

namespace gridfold {
namespace {

// In hundredths of a unit of score, of a largest node left wholly free.
constexpr std::int64_t kTight = 1000;
constexpr std::int64_t kTightest = 10000;
constexpr std::int64_t kSpread = -1000;

// Eighths of something that holds up to a load of `full` thousandths and no
// more from `none` on.
std::int64_t eighths(std::int64_t load, std::int64_t full, std::int64_t none) {
  return std::clamp<std::int64_t>((none - load) * 8 / (none - full), 0, 8);
}

// CPU to a device in the cluster against that in the mix: at a tenth more of
// it devices count in full, at less than the mix has not at all.
std::int64_t share_eighths(__int128 offered, __int128 asked) {
  if (asked <= 0) return 8;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>((offered - asked) * 80 / asked), 0, 8);
}

}  // namespace

Tightness::Tightness(const Room& largest, const Room& capacity, const Room& demand,
                     std::int64_t load)
    : steps_(kSteps),
      largest_{std::max<std::int64_t>(largest.cpu, 1), std::max<std::int64_t>(largest.share, 1)} {
  const __int128 offered = static_cast<__int128>(capacity.cpu) * demand.share;
  const __int128 asked = static_cast<__int128>(demand.cpu) * capacity.share;
  const std::int64_t cpu_load = offered > 0 ? static_cast<std::int64_t>(load * asked / offered) : 0;
  const std::int64_t worse = std::max(load, cpu_load);
  const std::int64_t ample = (kTightest - kTight) * eighths(worse, 880, 920) / 8;
  cpu_price_ = ample + kTight * eighths(worse, 1000, 1050) / 8 +
               kSpread * (8 - eighths(cpu_load, 1000, 1050)) / 8;
  share_price_ = (ample + kTight) * share_eighths(offered, asked) / 8;
}

}  // namespace gridfold
