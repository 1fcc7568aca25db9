// Fillers in a run at a load: the small jobs of a second list, drawn as its
// guaranteed work is, which take what that leaves. They save every so often and
// go on from there, at a cost each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "simulator/arrivals.h"
#include "simulator/workload.h"

namespace gridfold {

struct FillerSettings {
  std::string workload;   // where they come from; empty: there are none
  double load = 0.2;      // devices offered by them / devices of the cluster
  std::int32_t gpus = 1;  // jobs of more are no fillers
  // They save whenever they have worked for so long, which stops them for `cost`.
  Duration interval = Duration::minutes(10);
  Duration cost = Duration::seconds(5);
  Duration save{};  // asked to leave, they save for so long; 0: they leave at once
  Duration restart = Duration::seconds(30);  // from a start, but the first, to where they were
};

// The jobs of the list that are small enough, as fillers.
Workload as_fillers(const Workload& list, const FillerSettings& settings);

// Fillers drawn at their load until `end`; their indices are those of `fillers`.
// A job's duration holds the time that it saves.
Result<std::vector<Arrival>> draw_fillers(const Workload& fillers, const ClusterCapacity& capacity,
                                          const FillerSettings& settings, Duration longest,
                                          Duration end, RandomStream& random);

// Both in order of time, the indices of `second` counted on from `jobs_of_first`.
std::vector<Arrival> merged(const std::vector<Arrival>& first, const std::vector<Arrival>& second,
                            std::size_t jobs_of_first);

}  // namespace gridfold
