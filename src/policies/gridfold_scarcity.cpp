#include "policies/gridfold_scarcity.h"

#include <algorithm>
#include <array>
#include <map>

namespace gridfold {
namespace {

// A model is scarce from this part of its usable idle devices on being spoken
// for, in per cent, and no more below the other.
constexpr std::int64_t kScarceFrom = 30;
constexpr std::int64_t kScarceDownTo = 20;
// Demand is poured on the models that accept it in so many portions.
constexpr int kPortions = 20;

}  // namespace

bool ScarceModels::has_choice(const DeviceNeed& need) const {
  if (need.models.empty()) return true;
  return std::any_of(need.models.begin(), need.models.end(),
                     [&](std::uint16_t model) { return state(model) == State::kPlenty; });
}

// Narrowest choice first.
std::vector<ScarceModels::Tied> ScarceModels::tied_tasks(const LearnedMix& mix) const {
  std::map<std::vector<std::uint16_t>, std::int64_t> demand;
  for (const auto& [kind, weight] : mix.kinds()) {
    for (const RequestKind::Need& need : kind.needs) {
      if (need.device_class == device_class_ && !need.models.empty())
        demand[need.models] += weight * need.count * need.share;
    }
  }
  std::vector<Tied> tied;
  for (const auto& [models, sum] : demand) tied.push_back({models, sum});
  std::stable_sort(tied.begin(), tied.end(),
                   [](const Tied& a, const Tied& b) { return a.models.size() < b.models.size(); });
  return tied;
}

std::vector<std::int64_t> ScarceModels::usable_idle(const Cluster& cluster, std::int64_t cpu,
                                                    std::int64_t share) const {
  std::vector<std::int64_t> idle;
  for (std::uint32_t i = 0; i < cluster.size(); ++i) {
    const NodeRoom room = cluster.room(NodeId(i));
    std::int64_t free = 0;
    for (const DeviceRoom& device : room.devices) {
      if (device.device_class != device_class_) continue;
      if (device.model >= idle.size()) idle.resize(device.model + 1u);
      idle[device.model] = std::max<std::int64_t>(idle[device.model], 1);
      if (device.usable) free += device.free_share;
    }
    if (free == 0 || !cluster.usable(NodeId(i))) continue;
    const std::int64_t by_cpu =
        cpu > 0 ? static_cast<std::int64_t>(static_cast<__int128>(room.cpu) * share / cpu) : free;
    for (const DeviceRoom& device : room.devices) {
      if (device.device_class != device_class_ || !device.usable) continue;
      idle[device.model] += device.free_share * std::min(free, by_cpu) / free;
    }
  }
  return idle;
}

bool ScarceModels::update(const Cluster& cluster, const LearnedMix& mix) {
  const std::vector<Tied> tied = tied_tasks(mix);
  const std::int64_t demand = mix.demand(device_class_);
  std::vector<State> now;
  if (!tied.empty() && demand > 0) {
    std::int64_t cpu = 0;
    for (const auto& [kind, weight] : mix.kinds()) {
      if (asked_share(kind, device_class_) > 0) cpu += weight / 16 * kind.cpu;
    }
    const std::vector<std::int64_t> idle = usable_idle(cluster, cpu, demand / 16);
    now = judge(idle, expected_load(idle, tied, demand));
  }
  if (now == states_) return false;
  states_ = std::move(now);
  return true;
}

// Thousandths by model that tied tasks will ask for until the cluster is full.
std::vector<std::int64_t> ScarceModels::expected_load(const std::vector<std::int64_t>& idle,
                                                      const std::vector<Tied>& tied,
                                                      std::int64_t demand) const {
  std::int64_t all_idle = 0;
  for (const std::int64_t share : idle) all_idle += share;
  std::vector<std::int64_t> load(idle.size());
  const auto freer = [&](std::uint16_t a, std::uint16_t b) {
    return static_cast<__int128>(load[a]) * idle[b] < static_cast<__int128>(load[b]) * idle[a];
  };
  for (const Tied& tasks : tied) {
    const auto portion = static_cast<std::int64_t>(static_cast<__int128>(tasks.demand) * all_idle /
                                                   demand / kPortions);
    for (int i = 0; i < kPortions; ++i) {
      const std::uint16_t* freest = nullptr;
      for (const std::uint16_t& model : tasks.models) {
        if (model >= idle.size() || idle[model] == 0) continue;
        if (freest == nullptr || freer(model, *freest)) freest = &model;
      }
      if (freest != nullptr) load[*freest] += portion;
    }
  }
  return load;
}

std::vector<ScarceModels::State> ScarceModels::judge(const std::vector<std::int64_t>& idle,
                                                     const std::vector<std::int64_t>& load) const {
  std::vector<State> states(idle.size(), State::kAbsent);
  for (std::size_t model = 0; model < idle.size(); ++model) {
    if (idle[model] == 0) continue;
    const bool before = is_scarce(static_cast<std::uint16_t>(model));
    const std::int64_t from = before ? kScarceDownTo : kScarceFrom;
    states[model] = load[model] * 100 > idle[model] * from ? State::kScarce : State::kPlenty;
  }
  return states;
}

}  // namespace gridfold
