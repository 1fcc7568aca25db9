#include "policies/gridfold_tables.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gridfold {
namespace {

// Stranding weighs the commonest kinds only, up to so many per cent of all
// tasks: rare ones add little but the rounding of their size to cells.
constexpr std::int64_t kCommonPercent = 90;
// Differences of stranding that do not move a score.
constexpr Worth kNegligible = kDeviceWorth / 200;

bool accepts(const RequestKind::Need& need, std::uint16_t model) {
  return need.models.empty() || std::binary_search(need.models.begin(), need.models.end(), model);
}

}  // namespace

GridfoldTables::GridfoldTables(const LearnedMix& mix, const std::vector<Stranding::Extent>& largest,
                               Departures departures) {
  using Entry = const std::pair<const RequestKind, std::int64_t>*;
  std::vector<Entry> kinds;
  for (const auto& entry : mix.kinds()) kinds.push_back(&entry);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](Entry a, Entry b) { return a->second > b->second; });

  std::vector<std::vector<Ask>> asks;  // by device class
  std::int64_t covered = 0;
  std::int64_t demand = 0;
  for (const Entry entry : kinds) {
    const bool common = covered * 100 < mix.weight() * kCommonPercent;
    covered += entry->second;
    for (const RequestKind::Need& need : entry->first.needs) {
      if (need.device_class >= asks.size()) asks.resize(need.device_class + 1u);
      asks[need.device_class].push_back({&entry->first, &need, entry->second, common});
    }
  }
  for (std::uint16_t k = 0; k < asks.size(); ++k) demand += mix.demand(k);
  for (std::uint16_t k = 0; k < asks.size(); ++k)
    add_class(k, asks[k], k < largest.size() ? largest[k] : Stranding::Extent{}, demand,
              departures);
}

void GridfoldTables::add_class(std::uint16_t device_class, const std::vector<Ask>& asks,
                               const Stranding::Extent& largest, std::int64_t all_demand,
                               Departures departures) {
  Class& here = classes_.emplace_back();
  static_cast<void>(device_class);
  SharePrices::Demand demand{};
  BlockWorth::DemandByCount by_count{};
  std::vector<std::uint16_t> models;
  for (const Ask& ask : asks) {
    const RequestKind::Need& need = *ask.need;
    demand[share_step_of_need(need.share)] += ask.weight * need.count;
    if (need.count >= 2) by_count[need.count] += ask.weight * need.count * need.share;
    models.insert(models.end(), need.models.begin(), need.models.end());
  }
  demand[0] = 0;  // held by memory only
  here.prices = SharePrices(demand);
  if (departures == Departures::kSeen) here.blocks = BlockWorth(by_count, all_demand);

  // One pool for all models that the same kinds accept; the last is of models
  // that nobody names.
  const std::uint16_t others =
      models.empty()
          ? 0
          : static_cast<std::uint16_t>(*std::max_element(models.begin(), models.end()) + 1);
  std::map<std::vector<bool>, std::uint32_t> known;
  for (std::uint16_t model = 0; model <= others; ++model) {
    std::vector<bool> accepted;
    for (const Ask& ask : asks) accepted.push_back(accepts(*ask.need, model));
    const auto [it, fresh] = known.emplace(accepted, static_cast<std::uint32_t>(pools_.size()));
    if (fresh) pools_.push_back(make_pool(here.prices, asks, accepted, largest, departures));
    here.pool_of_model.push_back(it->second);
  }
}

GridfoldTables::Pool GridfoldTables::make_pool(const SharePrices& prices,
                                               const std::vector<Ask>& asks,
                                               const std::vector<bool>& accepted,
                                               const Stranding::Extent& largest,
                                               Departures departures) const {
  std::vector<DeviceValue::Item> items;
  std::vector<Stranding::Task> tasks;
  WeightByStep by_step{};
  std::int64_t all = 0;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const auto& [kind, need, weight, common] = asks[i];
    all += weight;
    if (!accepted[i]) continue;
    const int step = share_step_of_need(need->share);
    by_step[step] += weight;
    if (step == 0) continue;
    if (need->count == 1) items.push_back({step, prices.of_step(step), kind->cpu});
    if (common)
      tasks.push_back({static_cast<std::int64_t>(need->count) * need->share, kind->cpu, weight});
  }
  if (asks.empty()) return pool_of_unknown();
  Pool pool;
  pool.value = DeviceValue(items);
  if (departures == Departures::kSeen) pool.unusable = unusable_share(by_step, all);
  if (!tasks.empty()) pool.stranding = Stranding(tasks, largest);
  return pool;
}

// A share is worth its size.
GridfoldTables::Pool GridfoldTables::pool_of_unknown() {
  std::vector<DeviceValue::Item> items;
  const SharePrices prices;
  for (int step = 1; step <= kShareSteps; ++step) items.push_back({step, prices.of_step(step), 0});
  return {DeviceValue(items), {}, {}};
}

Worth GridfoldTables::price(const Request& request) const {
  static const SharePrices kUnknown;
  Worth sum = 0;
  for (const DeviceNeed& need : request.devices) {
    const SharePrices& prices =
        need.device_class < classes_.size() ? classes_[need.device_class].prices : kUnknown;
    sum += need.count * prices.of_need(need.share);
  }
  return sum;
}

bool GridfoldTables::alike(const GridfoldTables& a, const GridfoldTables& b) {
  const auto same_class = [](const Class& x, const Class& y) {
    return x.prices == y.prices && x.blocks == y.blocks && x.pool_of_model == y.pool_of_model;
  };
  const auto same_pool = [](const Pool& x, const Pool& y) {
    return x.value == y.value && x.unusable == y.unusable &&
           Stranding::distance(x.stranding, y.stranding) <= kNegligible;
  };
  return std::equal(a.classes_.begin(), a.classes_.end(), b.classes_.begin(), b.classes_.end(),
                    same_class) &&
         std::equal(a.pools_.begin(), a.pools_.end(), b.pools_.begin(), b.pools_.end(), same_pool);
}

}  // namespace gridfold
