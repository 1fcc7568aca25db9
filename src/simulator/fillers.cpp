#include "simulator/fillers.h"

#include <algorithm>
#include <iterator>

#include "simulator/workload_variant.h"

namespace gridfold {

Workload as_fillers(const Workload& list, const FillerSettings& settings) {
  Workload small = filtered(list, [&](const TraceJob& job) {
    const auto gpus = device_thousandths(list.shapes[job.shape], "gpu");
    return gpus > 0 && gpus <= settings.gpus * kWholeDevice.value;
  });
  for (JobSpec& shape : small.shapes) {
    shape.workload_class = WorkloadClass::kFiller;
    shape.checkpoint.emplace();
    shape.checkpoint->grace = settings.save;
    shape.checkpoint->interval = settings.interval + settings.cost;
  }
  return small;
}

Result<std::vector<Arrival>> draw_fillers(const Workload& fillers, const ClusterCapacity& capacity,
                                          const FillerSettings& settings, Duration longest,
                                          Duration end, RandomStream& random) {
  LoadOptions load{settings.load, 0, longest, {}};
  // A longer draw begins with the same jobs.
  std::vector<Arrival> arrivals;
  for (load.jobs = 1024;; load.jobs *= 2) {
    RandomStream again = random;
    auto drawn = draw_load(fillers, capacity, load, again);
    if (!drawn) return drawn.error();
    arrivals = std::move(*drawn);
    if (arrivals.back().at > end) break;
  }
  std::erase_if(arrivals, [&](const Arrival& arrival) { return arrival.at > end; });
  for (Arrival& arrival : arrivals) {
    const Duration work = arrival.duration.bound();
    arrival.duration = Duration{work.ns + work.ns / settings.interval.ns * settings.cost.ns};
  }
  return arrivals;
}

std::vector<Arrival> merged(const std::vector<Arrival>& first, const std::vector<Arrival>& second,
                            std::size_t jobs_of_first) {
  std::vector<Arrival> later = second;
  for (Arrival& arrival : later) arrival.job += static_cast<std::uint32_t>(jobs_of_first);
  std::vector<Arrival> all;
  all.reserve(first.size() + later.size());
  std::merge(first.begin(), first.end(), later.begin(), later.end(), std::back_inserter(all),
             [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
  return all;
}

}  // namespace gridfold
