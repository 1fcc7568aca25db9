// A training world's jobs, its cluster, and what it knows: read from tables,
// run by the simulation.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "model/job.h"
#include "policies/training_truth.h"
#include "simulator/training_process.h"
#include "simulator/workload.h"

namespace gridfold {

struct TrainingArrival {
  Instant at{};
  std::shared_ptr<const JobSpec> spec;  // with a name
  // Makes the job as it really behaves, as new: once a run.
  std::function<std::unique_ptr<TrainingProcess>()> make_process;
  // Seconds from its start to its end had it this many devices (also parts of
  // one) all along: what its finish-time ratio is measured against. Empty: the
  // world says nothing of it.
  std::function<Known<double>(double devices)> seconds_on_share;
};

// No schedule comes below these; unknown: nobody has worked them out.
struct TrainingBounds {
  Known<double> makespan_seconds;
  Known<double> completion_mean_seconds;
};

struct TrainingWorkload {
  std::string name;
  ClusterSpec cluster;
  std::vector<TrainingArrival> arrivals;       // in order of time
  std::int64_t dropped = 0;                    // jobs that can never run here, not among them
  std::shared_ptr<const TrainingTruth> truth;  // null: no policy can be an oracle here
  TrainingBounds bounds;
  Duration round = Duration::seconds(60);  // of policies that are given none
};

}  // namespace gridfold
