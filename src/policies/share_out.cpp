#include "policies/share_out.h"

#include <algorithm>

namespace gridfold {

std::vector<std::int32_t> share_out(std::span<const ShareCurve> jobs, std::int32_t devices,
                                    std::int64_t& steps) {
  const auto width = static_cast<std::size_t>(devices) + 1;
  std::vector<double> best(width, 0);  // least cost of the jobs so far on at most so many devices
  std::vector<double> next(width);
  std::vector<std::int32_t> chosen(jobs.size() * width, 0);  // tasks of the last of them
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto each = static_cast<std::size_t>(jobs[j].devices_each);
    for (std::size_t d = 0; d < width; ++d) {
      const std::size_t most = std::min(jobs[j].costs.size() - 1, d / each);
      double least = best[d] + jobs[j].costs[0];
      std::int32_t tasks = 0;
      for (std::size_t n = 1; n <= most; ++n) {
        const double cost = best[d - n * each] + jobs[j].costs[n];
        if (cost < least) {
          least = cost;
          tasks = static_cast<std::int32_t>(n);
        }
      }
      steps += static_cast<std::int64_t>(most) + 1;
      next[d] = least;
      chosen[j * width + d] = tasks;
    }
    std::swap(best, next);
  }
  std::vector<std::int32_t> tasks(jobs.size(), 0);
  std::size_t left = width - 1;
  for (std::size_t j = jobs.size(); j-- > 0;) {
    tasks[j] = chosen[j * width + left];
    left -= static_cast<std::size_t>(tasks[j] * jobs[j].devices_each);
  }
  return tasks;
}

}  // namespace gridfold
