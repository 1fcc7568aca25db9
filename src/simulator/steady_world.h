// The simplest training world: every job of an ordinary trace is a training
// that goes the faster the more tasks it has, and pays for each start. The
// trace's duration is how long the job runs at the size its user would choose.
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/training_workload.h"

namespace gridfold {

struct SteadyWorldOptions {
  Duration restart = Duration::seconds(30);  // passes at each start, the first too
};

// Jobs without a time or a duration are an error. The trace's own times.
Result<TrainingWorkload> make_steady_world(const Workload& workload, ClusterSpec cluster,
                                           const SteadyWorldOptions& options);

}  // namespace gridfold
