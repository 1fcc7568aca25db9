// The throughput model of a job, fitted to the steps it has measured.
#pragma once

#include <span>

#include "forecast/goodput.h"
#include "model/training.h"

namespace gridfold {

// Least sum of the root mean square log errors of gradient and step times, with
// a little pull to no overlap (gamma 1) and to no growth with tasks, as Pollux
// does. What was not tried yet is taken to be free: one local batch leaves the
// gradient's constant part at half, a network never used costs nothing, which
// makes a policy try it. At least one measurement. Deterministic.
ThroughputModel fit_throughput(std::span<const StepMeasurement> steps);

}  // namespace gridfold
