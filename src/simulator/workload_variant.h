// Workloads made of workloads, for experiments that a list alone cannot pose:
// another mix of the same kinds of tasks, and a mix that turns.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "simulator/workload.h"

namespace gridfold {

// As many jobs as before, drawn with replacement, each shape's weight being its
// share of the list times a draw from Exp(1).
Workload shuffled_mix(const Workload& workload, RandomStream& random);

// The jobs of `first`, then those of `second`, over one table of shapes.
Workload joined(const Workload& first, const Workload& second);

// Those of the workload's jobs for which `kept` says so, in their order.
template <class Predicate>
Workload filtered(const Workload& workload, Predicate kept) {
  Workload some{workload.name, workload.shapes, {}};
  for (const TraceJob& job : workload.jobs) {
    if (kept(job)) some.jobs.push_back(job);
  }
  return some;
}

}  // namespace gridfold
