#include "simulator/user_limits.h"

#include <algorithm>
#include <map>

namespace gridfold {
namespace {

constexpr std::int64_t kFactorsTenths[] = {10, 12, 20, 40, 100};
constexpr Duration kLimits[] = {Duration::minutes(15), Duration::hours(1),  Duration::hours(2),
                                Duration::hours(4),    Duration::hours(12), Duration::hours(24),
                                Duration::hours(48)};

Duration limit_for(Duration ran, std::int64_t factor_tenths) {
  const Duration asked{ran.ns / 10 * factor_tenths};
  for (const Duration limit : kLimits) {
    if (asked <= limit) return limit;
  }
  return std::max(ran, kLimits[std::size(kLimits) - 1]);
}

}  // namespace

void give_limits(const Workload& workload, std::span<Arrival> arrivals, RandomStream& random) {
  std::map<std::string, std::int64_t> factors;  // in order of name, whatever the trace's
  for (const TraceJob& job : workload.jobs) factors.emplace(job.user, 0);
  for (auto& [user, factor] : factors)
    factor = kFactorsTenths[random.below(std::size(kFactorsTenths))];
  for (Arrival& arrival : arrivals) {
    if (arrival.duration.is_unlimited()) continue;
    arrival.limit =
        limit_for(arrival.duration.bound(), factors.at(workload.jobs[arrival.job].user));
  }
}

}  // namespace gridfold
