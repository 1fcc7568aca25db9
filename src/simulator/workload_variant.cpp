#include "simulator/workload_variant.h"

#include <algorithm>
#include <numeric>

namespace gridfold {

Workload shuffled_mix(const Workload& workload, RandomStream& random) {
  std::vector<double> factors(workload.shapes.size());
  for (double& factor : factors) factor = random.exponential(1);
  // Running sums of the jobs' weights; a draw is a place in them.
  std::vector<double> until(workload.jobs.size());
  double sum = 0;
  for (std::size_t i = 0; i < until.size(); ++i) until[i] = sum += factors[workload.jobs[i].shape];
  Workload drawn{workload.name, workload.shapes, {}};
  drawn.jobs.reserve(workload.jobs.size());
  constexpr std::uint64_t kSteps = std::uint64_t{1} << 53;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const double place = sum * static_cast<double>(random.below(kSteps)) / double{kSteps};
    const auto at = std::upper_bound(until.begin(), until.end(), place) - until.begin();
    const auto last = static_cast<std::ptrdiff_t>(until.size()) - 1;
    drawn.jobs.push_back(workload.jobs[static_cast<std::size_t>(std::min(at, last))]);
  }
  return drawn;
}

Workload joined(const Workload& first, const Workload& second) {
  Workload both = first;
  both.name += " then " + second.name;
  const auto offset = static_cast<std::uint32_t>(first.shapes.size());
  both.shapes.insert(both.shapes.end(), second.shapes.begin(), second.shapes.end());
  for (TraceJob job : second.jobs) {
    job.shape += offset;
    both.jobs.push_back(std::move(job));
  }
  return both;
}

}  // namespace gridfold
