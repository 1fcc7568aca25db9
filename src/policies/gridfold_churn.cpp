#include "policies/gridfold_churn.h"

namespace gridfold {
namespace {

// part / all in 2^-16. Weights go to 2^60.
std::int64_t ratio(std::int64_t part, std::int64_t all) {
  if (all <= 0) return 0;
  return static_cast<std::int64_t>(static_cast<__int128>(part) * kDeviceWorth / all);
}

}  // namespace

UnusableShare unusable_share(const WeightByStep& weight_by_step, std::int64_t all) {
  UnusableShare unusable{};
  std::int64_t fitting = 0;
  for (int r = 0; r <= kShareSteps; ++r) {
    fitting += weight_by_step[r];
    unusable[r] = static_cast<Worth>(r * ratio(all - fitting, all) / kShareSteps);
  }
  return unusable;
}

BlockWorth::BlockWorth(const DemandByCount& demand_by_count, std::int64_t all) {
  for (std::size_t count = 2; count < demand_by_count.size(); ++count) {
    const std::int64_t part = ratio(demand_by_count[count], all);
    for (std::size_t n = count; n < blocks_.size(); ++n) {
      blocks_[n] += static_cast<Worth>(static_cast<std::int64_t>(n / count * count) * part / 5);
      each_[n] += static_cast<Worth>(part / 2);
    }
  }
}

}  // namespace gridfold
