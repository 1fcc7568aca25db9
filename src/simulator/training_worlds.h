// The training worlds by name: `--set world=NAME`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulator/training_workload.h"

namespace gridfold {

struct WorldInputs {
  std::string cluster;   // as given by --cluster; empty: the world's own
  std::string workload;  // as given by --workload
  std::string tables;    // folder of the world's measurements; empty: it needs none
  std::map<std::string, std::string> settings;  // keys that begin with "world.", without that
};

// Error kInvalid names the nearest world or setting.
Result<TrainingWorkload> read_training_world(std::string_view name, const WorldInputs& inputs);
std::vector<std::string_view> training_world_names();

}  // namespace gridfold
