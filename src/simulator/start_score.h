// How well starts of waiting jobs were estimated in a run: of each estimate
// whether the job then started within its band.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "control/start_estimates.h"

namespace gridfold {

struct StartScore {
  std::int64_t jobs = 0;          // that were estimated and have started
  std::int64_t estimates = 0;     // of these jobs: several of a long wait
  std::int64_t below = 0;         // started before the band
  std::int64_t above = 0;         // after it
  std::int64_t first_within = 0;  // of the first estimate of each job
  std::vector<Duration> errors;   // real from estimated start, either way
  std::vector<Duration> widths;   // of bands

  void add(const SettledEstimate& settled);
  void add(const StartScore& other);
  double coverage() const;  // 0 when there is none
  double first_coverage() const;
};

}  // namespace gridfold
