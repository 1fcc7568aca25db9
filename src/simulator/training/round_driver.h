// Runs a policy of rounds on a training workload without engine, control loop
// or simulated cluster: at each round all jobs advance, then the plan is taken
// as it is. The yardstick by which `gridfold sim run` is held to the artefact's
// rules, and a quick way to try a policy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/round_policy.h"
#include "simulator/training_workload.h"

namespace gridfold {

struct DrivenJob {
  std::string name;
  Instant submitted{};
  Instant finished{};
  std::int32_t starts = 0;
  double device_seconds = 0;  // held, to the end of its last round
  double active_jobs = 0;     // mean over its rounds, itself counted
};

struct DrivenRun {
  std::vector<DrivenJob> jobs;  // in the order of the workload
  Instant end{};                // when the last job ended
  std::int64_t rounds = 0;
  double held_device_seconds = 0;
  double policy_seconds = 0;  // of the wall clock, over all rounds
  std::string fault;          // not empty: the policy's plan could not be taken
};

// Until every job has ended, or `most_rounds` rounds.
DrivenRun drive_rounds(const TrainingWorkload& workload, RoundPolicy& policy,
                       std::int64_t most_rounds = 1'000'000);

}  // namespace gridfold
