// Which fillers are let in, where how much is idle follows a forecast: so many
// devices of each class and model are held back for work with rights to its
// place as it may need within the filler's guaranteed time.
#include <algorithm>

#include "engine/device_fit.h"
#include "engine/state.h"

namespace gridfold {

void Engine::State::follow_idle() {
  idle_devices.follow([this](JobId job) { return is_filler(jobs.at(job)); });
}

// After each turn: what the forecast learns from.
void Engine::State::note_idle() {
  if (options.fillers.admission != FillerAdmission::kForecast) return;
  follow_idle();
  const auto idle_pools = idle_devices.pools();
  noted_idle.resize(idle_pools.size(), -1);
  for (std::size_t at = 0; at < idle_pools.size(); ++at) {
    if (noted_idle[at] == idle_pools[at].left) continue;
    noted_idle[at] = idle_pools[at].left;
    idle_forecast->observe(now, at, idle_pools[at].left);
  }
}

// By pool, how many devices fillers may still take; what is held back may be
// more than what there is.
std::vector<std::int64_t> Engine::State::spare_devices() {
  follow_idle();
  std::vector<std::int64_t> spare;
  const auto idle_pools = idle_devices.pools();
  for (std::size_t at = 0; at < idle_pools.size(); ++at)
    spare.push_back(idle_pools[at].free - idle_forecast->drop(now, at, options.fillers.guaranteed));
  return spare;
}

// Whole devices of the class that the job's minimum takes: a part counts as one.
std::int64_t Engine::State::least_devices(const EngineJob& job, std::uint16_t device_class) {
  std::int64_t devices = 0;
  const auto& roles = job.record.spec->roles;
  for (std::size_t r = 0; r < roles.size(); ++r) {
    for (const DeviceNeed& need : job.requests[r]->devices) {
      if (need.device_class == device_class) devices += std::int64_t{need.count} * roles[r].min;
    }
  }
  return devices;
}

// What is held back changes with time alone: who has to wait is looked at again
// after a part of the guaranteed time.
void Engine::State::wake_held_back() {
  if (now < fillers_due) return;
  fillers_due = Instant::never();
  for (std::size_t i = parked.size(); i-- > 0;) {
    PendingGroup& group = *parked[i];
    if (group.filler && group.parked != PendingGroup::Parked::kForQuota) unpark(group);
  }
}

// Whether its class of devices has enough to spare in all.
bool Engine::State::has_spare_for(const EngineJob& job, std::span<const std::int64_t> spare) const {
  const auto idle_pools = idle_devices.pools();
  std::map<std::uint16_t, std::int64_t> of_class;
  for (std::size_t at = 0; at < idle_pools.size(); ++at)
    of_class[idle_pools[at].device_class] += std::max<std::int64_t>(spare[at], 0);
  return std::all_of(of_class.begin(), of_class.end(), [&](const auto& entry) {
    return least_devices(job, entry.first) <= entry.second;
  });
}

// Why a filler waits though there is room: of the class of devices that it asks
// for, so many are free and so many of these held back.
std::optional<Reason> Engine::State::held_back(const EngineJob& job) {
  if (!is_filler(job) || options.fillers.admission == FillerAdmission::kAny) return std::nullopt;
  if (options.fillers.admission == FillerAdmission::kNone)
    return Reason(ReasonCode::kHeldBack, {{"problem", "none_let_in"}});
  const std::vector<std::int64_t> spare = spare_devices();
  const auto idle_pools = idle_devices.pools();
  if (job.requests.front()->devices.empty()) return std::nullopt;
  const DeviceNeed& need = job.requests.front()->devices.front();
  std::int64_t free = 0;
  std::int64_t held = 0;
  for (std::size_t at = 0; at < idle_pools.size(); ++at) {
    if (idle_pools[at].device_class != need.device_class || !need.accepts(idle_pools[at].model))
      continue;
    free += idle_pools[at].free;
    held += std::min(idle_pools[at].free, idle_pools[at].free - spare[at]);
  }
  return Reason(ReasonCode::kHeldBack,
                {{"device_class", std::string(cluster.class_name(need.device_class))},
                 {"need", least_devices(job, need.device_class)},
                 {"free", free},
                 {"held_back", held},
                 {"guaranteed_ns", options.fillers.guaranteed.ns}});
}

// A filler of one task goes where most is spare; any other is let in where its
// class of devices has enough in all.
Engine::State::Placement Engine::State::place_filler(EngineJob& job) {
  const std::vector<std::int64_t> spare = spare_devices();
  const auto idle_pools = idle_devices.pools();
  const auto& roles = job.record.spec->roles;
  const bool single = roles.size() == 1 && roles.front().count == 1 && !goes_by_tree(job) &&
                      job.requests.front()->devices.size() == 1;
  if (!single) return has_spare_for(job, spare) ? place(job, wanted) : Placement{};
  const Request& request = *job.requests.front();
  const DeviceNeed& need = request.devices.front();
  std::vector<std::size_t> order;
  for (std::size_t at = 0; at < idle_pools.size(); ++at) {
    if (idle_pools[at].device_class == need.device_class && need.accepts(idle_pools[at].model) &&
        spare[at] >= need.count)
      order.push_back(at);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return spare[a] > spare[b]; });
  for (const std::size_t at : order) {
    TaskRequest there = request.source;
    there.devices.front().models = {std::string(cluster.model_name(idle_pools[at].model))};
    const Request& of_pool = cluster.compile(there);
    const auto best = scores.best(of_pool, random);
    if (!best) continue;
    const Allocation here{best->node, best->devices,
                          choose_start(cluster.room(best->node), request, best->devices)};
    const WhyHere why = scores.why(of_pool, *best);
    cluster.take(here, {job.record.id, 0}, request);
    return {{{0, here, why}}};
  }
  return {};
}

}  // namespace gridfold
