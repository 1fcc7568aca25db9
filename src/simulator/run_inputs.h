// Finds and reads what `--cluster` and `--workload` name.
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/run_settings.h"
#include "simulator/workload.h"

namespace gridfold {

struct RunInputs {
  ClusterSpec cluster;
  Workload workload;
};

// cluster: "nodes=64,gpus=8", a node list (.csv, .csv.gz), a cluster file
// (.yaml), or a directory of openb lists: its openb_node_list_gpu_node in
// saturation mode, openb_node_list_all_node otherwise.
//
// workload: a path, or a name within the cluster's directory: "default",
// "cpu200" or "openb_pod_list_default". What a file holds is told from it: a
// CSV header with num_gpu (openb), num_gpus (Philly) or scale_factor (Gavel),
// .swf, .yaml.
Result<RunInputs> read_run_inputs(const std::string& cluster, const std::string& workload,
                                  RunMode mode);

// A workload alone, found and read in the same way.
Result<Workload> read_run_workload(const std::string& cluster, const std::string& workload,
                                   const ClusterCapacity& capacity);

}  // namespace gridfold
