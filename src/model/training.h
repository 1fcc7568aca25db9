// Training whose size may change: what such a job declares, and what is known
// of it from its reports. Amounts of a step are over all tasks unless said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/units.h"

namespace gridfold {

// A row of a scaling table: how fast the job goes on devices of one model.
struct DeclaredRate {
  std::string device_model;
  std::int32_t nodes = 1;  // 1: all tasks on one; 2: on two or more
  std::int32_t tasks = 0;
  double steps_per_second = 0;  // 0: it cannot run so
  friend bool operator==(const DeclaredRate&, const DeclaredRate&) = default;
};

// What the job says of itself. A policy that plans by goodput needs the batch;
// the others use only what they know of.
struct TrainingDeclaration {
  std::string program;             // jobs of one program may learn from each other; empty: of none
  std::int64_t initial_batch = 0;  // examples a step, which its progress is counted in
  std::int64_t batch = 0;          // examples a step when nobody chooses one
  std::int64_t max_batch = 0;      // a chosen batch is at most this
  std::int64_t min_local_batch = 1;  // what one task takes of it at once, at least
  std::int64_t max_local_batch = 0;  // and what it can hold at most
  Known<std::int64_t> epochs;        // its declared length
  Known<Duration> deadline;          // from its submission
  Known<std::int64_t> steps;         // its declared length in steps, for who plans by rates
  std::vector<DeclaredRate> rates;   // measured before; sizes that are missing are not known
  friend bool operator==(const TrainingDeclaration&, const TrainingDeclaration&) = default;
};

// One thing that was measured: a size, and how long a step took there.
struct StepMeasurement {
  std::int32_t nodes = 0;
  std::int32_t tasks = 0;
  std::string device_model;       // of all its tasks
  std::int64_t local_batch = 0;   // examples a task between two gradients
  std::int32_t accumulation = 0;  // gradients beyond the first before a step
  Duration step{};                // forward, backward and synchronisation
  Duration sync{};                // of that: synchronisation
  friend bool operator==(const StepMeasurement&, const StepMeasurement&) = default;
};

// All that a job has reported, over all its runs.
struct TrainingHistory {
  std::vector<StepMeasurement> steps;  // each size once, in the order of their first step
  double gradient_square = 0;          // |g|^2 and tr(cov) at the initial batch; both
  double gradient_variance = 0;        // 0: not reported (see AdaScale, Pollux sec. 3)
  double progress_steps = 0;           // done so far, in steps of the initial batch
  Known<double> progress_epochs;       // done so far, in epochs
  std::int64_t batch = 0;              // examples a step now; 0: unknown
};

}  // namespace gridfold
