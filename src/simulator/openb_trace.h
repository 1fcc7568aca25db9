// The public openb traces (Alibaba, 2023): node lists and pod lists.
//
//   sn,cpu_milli,memory_mib,gpu,model
//   name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec[,…,creation_time,
//   deletion_time,scheduled_time]]
//
// A list may lack gpu_spec and the times (the multigpu lists do): then its jobs
// have no arrival and no duration.
//
// And the node list of the same house's cluster with spot jobs (2026), which
// says nothing about memory:
//
//   gpu_model,gpu_capacity_num,cpu_num,node_name
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/workload.h"

namespace gridfold {

// `file` is named in errors and gives the values their name. Times are seconds;
// the origin is the first creation.
Result<ClusterSpec> read_openb_nodes(std::string_view text, const std::string& file);
// 1 TiB of memory a node, as in a cluster text.
Result<ClusterSpec> read_spot_nodes(std::string_view text, const std::string& file);
Result<Workload> read_openb_pods(std::string_view text, const std::string& file);

}  // namespace gridfold
