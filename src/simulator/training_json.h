// The outcome of runs of a training world as JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "simulator/training_metrics.h"

namespace gridfold {

struct TrainingDescription {
  std::string policy;
  std::string world;
  std::string cluster;
  std::string workload;
};

struct TrainingSeedResult {
  std::uint64_t seed = 0;
  TrainingResult result;
};

// One run: one object. Several: one whose figures are the means over the runs
// (sums of wall_seconds and counts) and whose decisions_sha256 is that of the
// runs' hashes in order, and `runs`. At least one result.
std::string training_json(const TrainingDescription& description, std::string_view seed_text,
                          std::span<const TrainingSeedResult> results);

}  // namespace gridfold
