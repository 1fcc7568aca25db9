// What a simulated world tells a policy that was published with perfect
// knowledge. Whoever uses it is labelled `oracle` in every table.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/units.h"
#include "model/job.h"

namespace gridfold {

class TrainingTruth {
 public:
  virtual ~TrainingTruth() = default;
  // Seconds a step of this many tasks a node (one entry a node, any order) on
  // this model at this batch over all tasks; unknown: it cannot run so.
  virtual Known<double> step_seconds(const JobSpec& job, std::span<const std::int32_t> tasks,
                                     const std::string& model, std::int64_t batch) const = 0;
  // Steps of the job's own batch that are left once so many of its epochs are
  // done.
  virtual Known<double> remaining_steps(const JobSpec& job, double epochs_done) const = 0;
};

}  // namespace gridfold
