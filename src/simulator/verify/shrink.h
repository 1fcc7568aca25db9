// Makes a failing run smaller: first without the cluster's own faults, then
// with fewer and fewer actions, by halves (after Zeller and Hildebrandt,
// "Simplifying and Isolating Failure-Inducing Input", TSE 2002).
#pragma once

#include "simulator/verify/verify.h"

namespace gridfold::verify {

// The same invariant breaks in what comes back. At most a few hundred runs.
Failure shrink(const RunRequest& request, const Failure& failure);

}  // namespace gridfold::verify
