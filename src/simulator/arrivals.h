// Which jobs of a workload come when, in the three ways of a run:
//
//   own times    as the trace says
//   load L       drawn with replacement, Poisson arrivals at the rate at which
//                mean devices offered / devices of the cluster = L
//   saturation   one after another in random order until a share of the
//                cluster's GPUs has been asked for; nothing ever leaves
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "simulator/workload.h"

namespace gridfold {

struct Arrival {
  std::uint32_t job = 0;     // index in Workload::jobs
  Duration at{};             // since the start of the run
  Limit<Duration> duration;  // unlimited: stays for ever
  Limit<Duration> limit;     // what its user says at most; unlimited: nothing is said
};

// In order of time, then of the file. Error kInvalid when a job has no times.
Result<std::vector<Arrival>> own_times(const Workload& workload);

struct LoadOptions {
  double load = 0.95;
  std::int64_t jobs = 0;                   // to draw; 0: see draw_load
  Duration longest = Duration::hours(48);  // durations are cut to it
  // Above 0: durations are drawn exponentially with this mean, the list's own
  // play no part, and nothing is cut.
  Duration holding_mean{};
};
// GPUs count as the devices; on a cluster without any, cores do. When `jobs` is
// 0, as many as the workload has, but enough to span five times the longest
// duration (ten times the mean of drawn ones), so that the run reaches its
// steady state within the first fifth.
Result<std::vector<Arrival>> draw_load(const Workload& workload, const ClusterCapacity& capacity,
                                       const LoadOptions& options, RandomStream& random);

// The whole list shuffled, then further jobs drawn with replacement until the
// next would exceed `arrived_thousandths` of the cluster's GPUs; of a list
// that asks for more than that already, jobs are taken out at random. One
// arrives each second. As in the published openb experiments.
Result<std::vector<Arrival>> draw_saturation(const Workload& workload,
                                             const ClusterCapacity& capacity,
                                             std::int64_t arrived_thousandths,
                                             RandomStream& random);

// A mix that turns: draw_saturation of `first` to half of `arrived_thousandths`,
// then of `second` to the other half. Indices are those of joined(first, second).
Result<std::vector<Arrival>> draw_drift(const Workload& first, const Workload& second,
                                        const ClusterCapacity& capacity,
                                        std::int64_t arrived_thousandths, RandomStream& random);

}  // namespace gridfold
