// One run of a training world: its jobs on the real control loop and engine,
// and the simulated cluster, on virtual time.
//
// At a round's boundary first all jobs advance to it and report (or finish),
// then the arrivals up to it are seen, then the policy decides. So a job waits
// for the boundary after its submission, and what a finished job leaves is used
// from the next boundary on.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "control/store.h"
#include "engine/engine.h"
#include "policies/registry.h"
#include "simulator/simulated_cluster.h"
#include "simulator/training_metrics.h"
#include "simulator/training_workload.h"
#include "simulator/virtual_executor.h"

namespace gridfold {

struct TrainingRunOptions {
  std::string policy = "fifo";
  std::map<std::string, std::string> policy_settings;
  EngineOptions engine;
  SimulatedClusterOptions latencies;
  Thinking thinking = Thinking::kFree;
  std::function<void(double)> on_progress;  // now and then: the share of jobs that have come
};

// The store is empty and used for this run alone. Errors: of the policy's
// options, of the store, of a job that was refused.
Result<TrainingResult> run_training(const TrainingWorkload& workload,
                                    const TrainingRunOptions& options, Store& store);

}  // namespace gridfold
