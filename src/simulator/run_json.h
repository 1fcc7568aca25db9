// The outcome of a run as JSON.
#pragma once

#include <span>
#include <string>

#include "simulator/run_settings.h"
#include "simulator/simulation.h"

namespace gridfold {

// What was run.
struct RunDescription {
  std::string policy;
  RunSettings settings;
  std::string cluster;
  std::string workload;
  ClusterCapacity capacity;
  std::int64_t workload_jobs = 0;
  double reading_seconds = 0;
};

struct SeedResult {
  std::uint64_t seed = 0;
  SimulationResult result;
};

// One run: one object. Several: an object of the same shape whose figures are
// the means over the runs (sums for wall_seconds and all counts), whose
// decisions_sha256 is that of the runs' hashes in order, and `runs`.
// `seed_text` is the seed or range as it was given. At least one result.
std::string run_json(const RunDescription& description, std::string_view seed_text,
                     std::span<const SeedResult> results);

}  // namespace gridfold
