// How soon gangs of a fixed size on devices of several types can end at best,
// by any schedule, also one that knows all: what figures of schedulers are held
// against. Linear relaxations, so no schedule is below them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace gridfold {

struct BoundGang {
  double arrival = 0;  // seconds
  std::int32_t devices = 1;
  std::vector<double> rates;  // by type: steps a second at best; 0: it cannot run there
  double steps = 0;
};

// Seconds until the last one has ended: as if those that come after some time all
// came then, and the devices could be shared in any parts; the most over such
// times. In order of arrival.
Result<double> makespan_bound(std::span<const BoundGang> gangs,
                              std::span<const std::int32_t> type_devices);

struct CompletionBoundOptions {
  double round = 360;           // seconds: no job begins but at its multiples
  double interval = 1800;       // work within one counts as done at its beginning
  std::int32_t intervals = 48;  // after them there is room for everything
  std::int64_t iterations = 1'000'000;
};

// Least mean over gangs of the seconds from arrival to end. A job ends at least
// half of its shortest run after the mean time of its work; the relaxation makes
// the sum of the mean times least.
Result<double> mean_completion_bound(std::span<const BoundGang> gangs,
                                     std::span<const std::int32_t> type_devices,
                                     const CompletionBoundOptions& options);

}  // namespace gridfold
