// A cluster in one line: "nodes=64,gpus=8".
//
//   nodes=N        alike nodes, named node-0000, …
//   gpus=N         GPUs of each (default 0)
//   cpu=CORES      of each (default 96)
//   memory=BYTES   of each (default 1TiB)
//   model=NAME     of the GPUs (default "gpu")
#pragma once

#include <string_view>

#include "base/result.h"
#include "simulator/workload.h"

namespace gridfold {

// Whether the text means this form (it has a '=') rather than a path.
bool is_cluster_text(std::string_view text);

Result<ClusterSpec> parse_cluster_text(std::string_view text);

}  // namespace gridfold
