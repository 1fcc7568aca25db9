// Fragmentation of a cluster's GPUs as FGD defines it (Weng et al., "Beware of
// Fragmentation", USENIX ATC 2023): what of the idle GPUs a task drawn from the
// workload could not use, on average.
//
// Of a node, for one task: all that is idle there when the task asks for no
// GPU or does not fit the node (CPU, GPUs, model); else only the devices whose
// free share is too small for it. Memory is left out, as it is there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cluster.h"
#include "simulator/workload.h"

namespace gridfold {

class FragmentationMeter {
 public:
  // The mix is that of the jobs in the workload, task by task.
  FragmentationMeter(const Workload& workload, const ClusterSpec& cluster);

  // Idle and fragmented thousandths of a GPU of one node, in this state.
  struct Amount {
    double idle = 0;
    double fragmented = 0;
  };
  Amount measure(std::size_t node, const NodeRoom& room) const;

 private:
  struct Kind {  // of task
    std::int64_t cpu = 0;
    std::int32_t gpus = 0;
    std::int32_t share = 0;    // of each
    std::vector<bool> models;  // empty: any
    double weight = 0;         // share of the tasks
    bool accepts(std::size_t model) const { return models.empty() || models[model]; }
  };
  double wasted(const Kind& kind, std::size_t model, const NodeRoom& room, double idle) const;

  std::vector<Kind> kinds_;
  std::vector<std::size_t> model_of_node_;  // of its first GPU
};

}  // namespace gridfold
