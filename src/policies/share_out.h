// Shares a number of devices out over jobs at the least summed cost, exactly: a
// dynamic programme over jobs and devices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gridfold {

// costs[n]: of n tasks, from 0 on; devices_each of a task.
struct ShareCurve {
  std::vector<double> costs;
  std::int32_t devices_each = 1;
};

// Tasks of each job. Of equal sums the one that gives the later jobs less.
// `steps` grows by the combinations looked at.
std::vector<std::int32_t> share_out(std::span<const ShareCurve> jobs, std::int32_t devices,
                                    std::int64_t& steps);

}  // namespace gridfold
