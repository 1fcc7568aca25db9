// What users say about how long their jobs may run: seldom what they do run.
#pragma once

#include <span>

#include "base/random.h"
#include "simulator/arrivals.h"
#include "simulator/workload.h"

namespace gridfold {

// Each user overestimates by a factor of his own, drawn from {1, 1.2, 2, 4, 10},
// and asks for the next of 15 min, 1, 2, 4, 12, 24 and 48 h; what is longer still
// is asked for as it is. Jobs of no known user are one user's.
void give_limits(const Workload& workload, std::span<Arrival> arrivals, RandomStream& random);

}  // namespace gridfold
