// The world of Gavel (OSDI 2020): devices of several models, jobs of a fixed
// number of devices that go at the measured rate of the model they run on,
// rounds of six minutes, no cost of a change. Each line of a workload is a job:
//
//   job_type,total_steps,scale_factor,arrival_time_s        (other columns too)
//   Transformer (batch size 128),44334,2,0                  seconds
//
// and each of the rates is one of a job type at a scale, alone or beside
// another job (those are passed over):
//
//   gpu_type,job_type,scale_factor,other_job_type,other_scale_factor,steps_per_s,other_steps_per_s
//   k80_unconsolidated,LM (batch size 5),2,,,1.25,
//
// A job runs on devices of one model; `_unconsolidated` is its rate when these
// lie on several nodes; rate 0, or none, means that it cannot run there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulator/training_workload.h"

namespace gridfold {

// By (job type, scale): rows of a scaling table.
using GavelRates = std::map<std::pair<std::string, std::int32_t>, std::vector<DeclaredRate>>;
Result<GavelRates> read_gavel_rates(std::string_view text, const std::string& file);

struct GavelDevices {
  std::string model;  // as in the rates
  std::int32_t count = 0;
};
struct GavelWorldOptions {
  std::vector<GavelDevices> devices = {{"v100", 8}, {"p100", 16}, {"k80", 24}};
  std::int32_t node_devices = 8;  // the last node of a model may have fewer
  Duration restart{};
};

// Jobs that can run on none of the devices are dropped, and counted.
Result<TrainingWorkload> read_gavel_workload(std::string_view text, const std::string& file,
                                             const GavelRates& rates,
                                             const GavelWorldOptions& options);

// By linear relaxations (planner/gang_bounds.h) that know all rates and lengths.
// `interval` of the mean's: shorter is nearer, and takes longer.
Result<TrainingBounds> gavel_bounds(const TrainingWorkload& workload,
                                    const GavelWorldOptions& options, Duration interval);

}  // namespace gridfold
