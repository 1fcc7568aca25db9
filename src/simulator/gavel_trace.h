// The traces of Gavel (OSDI 2020), made from Philly's virtual clusters:
//
//   job_type,needs_data_dir,total_steps,arrival_time_s,scale_factor
//   Transformer (batch size 64),1,14612,11.000000,8
//
// A job's GPUs become a gang as Philly's do (simulator/philly_trace.h). How long
// its steps take depends on where it runs and is not in the trace, so the jobs
// have no duration: they serve saturation runs, and loads with `holding_mean`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/workload.h"

namespace gridfold {

// gpus_per_node: of the largest node of the cluster it will run on. The origin
// is the trace's own.
Result<Workload> read_gavel(std::string_view text, const std::string& file,
                            std::int32_t gpus_per_node);

}  // namespace gridfold
