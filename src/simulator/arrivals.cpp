#include "simulator/arrivals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gridfold {
namespace {

// Beyond this a run does not fit the memory of an ordinary machine.
constexpr std::int64_t kMaxJobs = 20'000'000;
constexpr double kLongestRunSeconds = 1e9;  // keeps sums of times in range
// Until the first jobs of every length have come and gone the load is not there
// yet: the first fifth of a run, which is not counted, outlasts the longest.
constexpr double kSpanOfLongest = 5;

Error no_jobs(const Workload& workload) {
  Error error = invalid(workload.name + ": there is no job in it");
  error.hint = "give a workload with at least one job";
  return error;
}

Error no_times(const Workload& workload, const TraceJob& job, const char* what) {
  Error error = invalid(workload.name + ": job " + job.name + " has no " + what);
  error.field = what;
  error.hint =
      "a run over time needs arrivals and durations (openb lists: the columns creation_time, "
      "deletion_time and scheduled_time); use a list with times, or --set mode=saturation";
  return error;
}

// What the shapes ask for, in thousandths of a device.
std::vector<std::int64_t> gpu_needs(const Workload& workload) {
  std::vector<std::int64_t> needs;
  for (const auto& shape : workload.shapes) needs.push_back(device_thousandths(shape, "gpu"));
  return needs;
}

std::vector<std::int64_t> core_needs(const Workload& workload) {
  std::vector<std::int64_t> needs;
  for (const auto& shape : workload.shapes) needs.push_back(millicores(shape));
  return needs;
}

// Of the workload, as if each job were drawn once.
struct Offer {
  double thousandth_seconds = 0;
  double longest_seconds = 0;
};
Result<Offer> offer_of(const Workload& workload, const std::vector<std::int64_t>& needs,
                       const LoadOptions& options) {
  Offer offer;
  if (const double mean = options.holding_mean.in_seconds(); mean > 0) {
    for (const auto& job : workload.jobs)
      offer.thousandth_seconds += static_cast<double>(needs[job.shape]) * mean;
    offer.longest_seconds = 2 * mean;  // so long until the first fifth is over
    return offer;
  }
  for (const auto& job : workload.jobs) {
    if (!job.duration.is_known()) return no_times(workload, job, "duration");
    const double seconds = std::min(job.duration.value(), options.longest).in_seconds();
    offer.thousandth_seconds += static_cast<double>(needs[job.shape]) * seconds;
    offer.longest_seconds = std::max(offer.longest_seconds, seconds);
  }
  return offer;
}

Error nothing_to_offer(const Workload& workload, const char* unit) {
  Error error = invalid(workload.name + ": its jobs ask for no " + std::string(unit) +
                        " for any time, so that no load can be made of them");
  error.hint = "use a workload that asks for what the cluster has";
  return error;
}

std::uint32_t draw_index(std::size_t count, RandomStream& random) {
  return static_cast<std::uint32_t>(random.below(count));
}

}  // namespace

Result<std::vector<Arrival>> own_times(const Workload& workload) {
  if (workload.jobs.empty()) return no_jobs(workload);
  std::vector<Arrival> arrivals;
  arrivals.reserve(workload.jobs.size());
  for (const auto& job : workload.jobs) {
    if (!job.arrives.is_known()) return no_times(workload, job, "arrival");
    if (!job.duration.is_known()) return no_times(workload, job, "duration");
    arrivals.push_back(
        {static_cast<std::uint32_t>(arrivals.size()), job.arrives.value(), job.duration.value()});
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
  return arrivals;
}

Result<std::vector<Arrival>> draw_load(const Workload& workload, const ClusterCapacity& capacity,
                                       const LoadOptions& options, RandomStream& random) {
  if (workload.jobs.empty()) return no_jobs(workload);
  const bool by_gpus = capacity.gpu_thousandths > 0;
  const auto devices =
      static_cast<double>(by_gpus ? capacity.gpu_thousandths : capacity.millicores);
  const auto offer =
      offer_of(workload, by_gpus ? gpu_needs(workload) : core_needs(workload), options);
  if (!offer) return offer.error();
  if (offer->thousandth_seconds <= 0 || devices <= 0) {
    return nothing_to_offer(workload, by_gpus ? "GPU" : "core");
  }
  const auto listed = static_cast<double>(workload.jobs.size());
  const double interval_seconds = offer->thousandth_seconds / listed / (options.load * devices);
  const double enough = std::ceil(kSpanOfLongest * offer->longest_seconds / interval_seconds);
  const double wanted =
      options.jobs > 0 ? static_cast<double>(options.jobs) : std::max(listed, enough);
  if (wanted > static_cast<double>(kMaxJobs)) {
    Error error{ErrorKind::kLimit, "the run would need more than " + std::to_string(kMaxJobs) +
                                       " jobs to become steady"};
    error.hint = "give fewer by --set jobs=N";
    return error;
  }
  if (wanted * interval_seconds > kLongestRunSeconds) {
    Error error{ErrorKind::kLimit, "the run would last more than thirty years"};
    error.hint = "give a higher load, or fewer jobs by --set jobs=N";
    return error;
  }
  std::vector<Arrival> arrivals(static_cast<std::size_t>(wanted));
  double at_seconds = 0;
  for (auto& arrival : arrivals) {
    at_seconds += random.exponential(interval_seconds);
    arrival.job = draw_index(workload.jobs.size(), random);
    arrival.at = Duration{static_cast<std::int64_t>(at_seconds * 1e9)};
    if (const double mean = options.holding_mean.in_seconds(); mean > 0) {
      arrival.duration = Duration{static_cast<std::int64_t>(random.exponential(mean) * 1e9)};
    } else {
      arrival.duration = std::min(workload.jobs[arrival.job].duration.value(), options.longest);
    }
  }
  return arrivals;
}

Result<std::vector<Arrival>> draw_saturation(const Workload& workload,
                                             const ClusterCapacity& capacity,
                                             std::int64_t arrived_thousandths,
                                             RandomStream& random) {
  if (workload.jobs.empty()) return no_jobs(workload);
  if (capacity.gpu_thousandths == 0) {
    Error error = invalid("a saturation run needs a cluster with GPUs");
    error.hint = "give GPUs to the nodes, or leave mode=saturation out";
    return error;
  }
  const auto needs = gpu_needs(workload);
  const auto need_of = [&](std::uint32_t job) { return needs[workload.jobs[job].shape]; };
  std::vector<std::uint32_t> order(workload.jobs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::int64_t total = 0;
  for (const auto job : order) total += need_of(job);
  if (total == 0) return nothing_to_offer(workload, "GPU");
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);

  const auto limit = static_cast<std::int64_t>(static_cast<__int128>(capacity.gpu_thousandths) *
                                               arrived_thousandths / 1000);
  while (total > limit) {
    const auto at = static_cast<std::ptrdiff_t>(random.below(order.size()));
    total -= need_of(order[static_cast<std::size_t>(at)]);
    order.erase(order.begin() + at);
  }
  const bool shortened = order.size() < workload.jobs.size();
  while (!shortened) {
    const std::uint32_t job = draw_index(workload.jobs.size(), random);
    if (total + need_of(job) > limit) break;
    if (order.size() >= static_cast<std::size_t>(kMaxJobs)) {
      Error error{ErrorKind::kLimit, "more than " + std::to_string(kMaxJobs) +
                                         " jobs would be needed to fill the cluster"};
      error.hint = "use a workload whose jobs ask for more, or a smaller cluster";
      return error;
    }
    total += need_of(job);
    order.push_back(job);
  }
  std::vector<Arrival> arrivals;
  arrivals.reserve(order.size());
  for (const auto job : order) {
    arrivals.push_back(
        {job, Duration::seconds(static_cast<std::int64_t>(arrivals.size())), Unlimited{}});
  }
  return arrivals;
}

Result<std::vector<Arrival>> draw_drift(const Workload& first, const Workload& second,
                                        const ClusterCapacity& capacity,
                                        std::int64_t arrived_thousandths, RandomStream& random) {
  auto arrivals = draw_saturation(first, capacity, arrived_thousandths / 2, random);
  if (!arrivals) return arrivals;
  const auto later = draw_saturation(second, capacity, arrived_thousandths / 2, random);
  if (!later) return later.error();
  for (Arrival arrival : *later) {
    arrival.job += static_cast<std::uint32_t>(first.jobs.size());
    arrival.at = Duration::seconds(static_cast<std::int64_t>(arrivals->size()));
    arrivals->push_back(arrival);
  }
  return arrivals;
}

}  // namespace gridfold
