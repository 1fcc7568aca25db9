// How much longer a job of unknown length may be expected to run, by those that
// have ended: for jobs whose size is fixed, to which a turn of another costs a
// stop. Among equal jobs who has run longest has least left, and goes on to its
// end; where a few run for much longer than most, who has run long has much left.
#pragma once

#include <cstdint>
#include <map>

#include "base/units.h"
#include "engine/round_policy.h"

namespace gridfold {

class RunLengths {
 public:
  // Notes how long jobs have run; a job that is in no view any more has ended.
  void update(const RoundView& view);

  // Seconds at its full size, on the average over those that ended and ran longer
  // than it has, and as many as one job that ends at the rate at which all have.
  // Unknown: none has ended yet.
  Known<double> seconds_left(const RoundJob& job) const;

 private:
  static constexpr std::size_t kMostEnded = 1000;  // the oldest are forgotten
  struct Run {
    double seconds = 0;
    bool runs = false;
  };
  std::map<JobId, Run> seen_;      // jobs of the last view
  std::map<JobId, double> ended_;  // seconds
  Instant last_{};
};

// Whether the size of the job is fixed.
bool is_rigid(const JobSpec& job);

}  // namespace gridfold
