// One run: a workload's arrivals, the real control loop and engine, and the
// simulated cluster, on virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "accounting/parts.h"
#include "base/result.h"
#include "control/store.h"
#include "doctor/doctor.h"
#include "engine/engine.h"
#include "policies/registry.h"
#include "simulator/arrivals.h"
#include "simulator/filler_metrics.h"
#include "simulator/run_metrics.h"
#include "simulator/run_settings.h"
#include "simulator/simulated_cluster.h"
#include "simulator/start_score.h"
#include "simulator/workload.h"

namespace gridfold {

struct SimulationInput {
  const ClusterSpec& cluster;
  const Workload& workload;
  std::vector<Arrival> arrivals;  // in order of time
  std::size_t counted_from = 0;   // index of the first arrival that counts
};

struct SimulationOptions {
  std::string policy = "best_fit";
  PolicyOptions policy_options;
  EngineOptions engine;
  SimulatedClusterOptions latencies;
  // A job that has not started in the turn of its arrival is cancelled.
  bool leave_when_full = false;
  FillerSettings fillers;
  RunTimeSource run_times = RunTimeSource::kLimits;
  bool account = false;  // for SimulationResult::effective; it takes as long as the run itself
  bool doctor = false;   // for SimulationResult::diagnosis; some dozen runs more
  Duration estimates{};  // from one table of estimated starts to the next; 0: none
  // Allocation and fragmentation at each per cent of the GPUs asked for, up to
  // this many; 0: not recorded.
  std::size_t record_to_per_cent = 0;
  // Called now and then with the share of jobs that have ended or arrived.
  std::function<void(double)> on_progress;
};

struct SimulationResult {
  std::string decisions_sha256;
  std::int64_t events = 0;  // arrivals and reports
  std::int64_t turns = 0;
  double wall_seconds = 0;
  RunMetrics::Counts counts;
  std::int64_t waiting = 0;     // pending at the end
  std::int64_t infeasible = 0;  // of these, can never run on this cluster
  DurationSummary wait, completion;
  double bounded_slowdown = 0;  // mean over counted jobs that ended, see RunMetrics
  Duration makespan{};          // first arrival to last end; 0 when nothing ended
  double gpu_allocated = 0;     // of the capacity, at the end
  double gpu_utilisation = 0;   // of the capacity, mean over the counted time
  double cpu_utilisation = 0;
  double gpu_demand_blocked = 0;          // of what counted jobs asked for: left unserved
  std::optional<FillerSummary> fillers;   // of a run with fillers
  double fragmentation = 0;               // of the idle GPUs at the end
  StartScore starts;                      // of counted jobs
  EffectiveTotals effective;              // over the counted time; of devices of all classes
  std::optional<DoctorReport> diagnosis;  // of the counted time, in hindsight
  // Index p: when p per cent of the capacity had arrived, or at the end when
  // the arrivals stop short of it.
  std::vector<double> gpu_allocated_by_arrived;
  std::vector<double> fragmentation_by_arrived;
  // For plots.
  std::vector<UsagePoint> usage;
  std::vector<Duration> waits;
};

// The store is empty and used for this run alone. Errors: of the policy's
// options, of the store, of a job that was refused.
Result<SimulationResult> simulate(const SimulationInput& input, const SimulationOptions& options,
                                  Store& store);

}  // namespace gridfold
