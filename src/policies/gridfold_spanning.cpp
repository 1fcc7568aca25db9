// Jobs whose least number of tasks no type of devices could hold at all. They run
// across types, at the pace of their slowest; whether they do now is decided by
// the same costs as all else: a job gets its places when it gains more by them
// than the others lose together.
#include <algorithm>

#include "policies/gridfold_rounds.h"
#include "policies/round_pool.h"
#include "policies/round_room.h"

namespace gridfold {
namespace {

bool fits_a_type(const RoundJob& job, std::span<const RoundType> types) {
  return std::any_of(types.begin(), types.end(), [&](const RoundType& type) {
    return may_run_on(job, type) &&
           type.whole_tasks(job.devices_each()) >= job.spec->roles.front().min;
  });
}

double least_cost(std::span<const std::vector<ShareCurve>> curves,
                  std::span<const std::int32_t> devices, std::int64_t& steps) {
  const std::vector<TypeChoice> choices = choose_types(curves, devices, steps);
  double sum = 0;
  for (std::size_t i = 0; i < curves.size(); ++i)
    sum += curves[i][choices[i].type].costs[static_cast<std::size_t>(choices[i].tasks)];
  return sum;
}

// Devices by type that these places take.
std::vector<std::int32_t> devices_of(const RoundJob& job, std::span<const RoundPlace> places,
                                     std::span<const RoundType> types) {
  std::vector<std::int32_t> devices(types.size(), 0);
  for (const RoundPlace& place : places) {
    for (std::size_t t = 0; t < types.size(); ++t) {
      const bool here = std::any_of(types[t].nodes.begin(), types[t].nodes.end(),
                                    [&](const RoundNode& node) { return node.id == place.node; });
      if (here) devices[t] += place.tasks * job.devices_each();
    }
  }
  return devices;
}

}  // namespace

double GridfoldRounds::cost_across(const Part& part, std::span<const RoundType> types,
                                   std::span<const RoundPlace> places) const {
  const auto nodes = static_cast<std::int32_t>(places.size());
  const std::vector<std::int32_t> devices = devices_of(*part.job, places, types);
  double slowest = kNotOffered;
  for (std::size_t t = 0; t < types.size(); ++t) {
    if (devices[t] > 0)
      slowest = std::min(slowest, speedup(part, types[t], nodes, task_count(places)));
  }
  const auto& held = part.job->places;
  return cost_at(part, slowest,
                 !std::equal(places.begin(), places.end(), held.begin(), held.end()));
}

// Those that run across types first, then in order of submission; each has its
// least number of tasks.
std::vector<RoundAssignment> GridfoldRounds::span_types(const std::vector<Part>& parts,
                                                        std::span<const RoundType> types,
                                                        const RoundView& view) {
  std::vector<const Part*> wide;
  for (const Part& part : parts) {
    if (!fits_a_type(*part.job, types)) wide.push_back(&part);
  }
  if (wide.empty() || types.size() == 1) return {};
  const auto runs = [](const Part* part) {
    return part->held == part->job->spec->roles.front().min;
  };
  std::stable_partition(wide.begin(), wide.end(), runs);

  std::vector<std::vector<ShareCurve>> curves(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t t = 0; t < types.size(); ++t)
      curves[i].push_back(curve_of(parts[i], types, t));
  }
  std::vector<std::int32_t> devices;
  for (const RoundType& type : types) devices.push_back(type.devices);
  double others = least_cost(curves, devices, steps_);

  RoundPool pool(view);
  std::vector<RoundAssignment> across;
  for (const Part* part : wide) {
    const RoundJob& job = *part->job;
    const std::int32_t least = job.spec->roles.front().min;
    if (pool.room_for(job) < least) continue;
    std::vector<RoundPlace> places = runs(part) ? job.places : pool.consolidated(job, least);
    if (places.empty()) continue;
    std::vector<std::int32_t> rest = devices;
    const std::vector<std::int32_t> taken = devices_of(job, places, types);
    for (std::size_t t = 0; t < rest.size(); ++t) rest[t] -= taken[t];
    if (std::any_of(rest.begin(), rest.end(), [](std::int32_t left) { return left < 0; })) continue;
    // Its own curve has but its cost without any.
    const double beside = least_cost(curves, rest, steps_);
    const double gain = cost_at(*part, 0, false) - cost_across(*part, types, places);
    if (gain <= beside - others) continue;
    others = beside;
    devices = std::move(rest);
    pool.take(job, places);
    across.push_back({job.id, std::move(places)});
  }
  return across;
}

}  // namespace gridfold
