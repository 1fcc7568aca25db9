#include "policies/gridfold_node_value.h"

#include <algorithm>
#include <vector>

namespace gridfold {
namespace {

// Thousandths of a device for one core.
constexpr std::array<std::int64_t, kCorePrices> kThousandthsPerCore = {
    0, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 130, 170, 220, 300, 500};
constexpr std::int64_t kMostMillicores = 32'768'000;

}  // namespace

ByCorePrice cost_of_cpu(std::int64_t millicores) {
  const std::int64_t cpu = std::min(millicores, kMostMillicores);
  ByCorePrice cost;
  for (std::size_t u = 0; u < kCorePrices; ++u)
    cost[u] =
        static_cast<Worth>((cpu * kThousandthsPerCore[u] * kDeviceWorth + 500'000) / 1'000'000);
  return cost;
}

DeviceValue::DeviceValue(std::span<const Item> items) {
  std::vector<ByCorePrice> costs;
  for (const Item& item : items) costs.push_back(cost_of_cpu(item.cpu));
  for (std::size_t u = 0; u < kCorePrices; ++u) {
    // Of the items of one size only the most valuable matters.
    std::array<Worth, kShareSteps + 1> best{};
    std::vector<int> sizes;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Worth value = items[i].price - costs[i][u];
      Worth& known = best[items[i].step];
      if (value <= known) continue;
      if (known == 0) sizes.push_back(items[i].step);
      known = value;
    }
    for (int r = 1; r <= kShareSteps; ++r) {
      Worth most = table_[r - 1][u];
      for (const int size : sizes) {
        if (size <= r) most = std::max(most, table_[r - size][u] + best[size]);
      }
      table_[r][u] = most;
    }
  }
}

}  // namespace gridfold
