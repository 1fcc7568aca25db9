// The Standard Workload Format (Parallel Workloads Archive): 18 numbers a line,
// -1 for unknown, comments after ';'.
//
// A processor is a core here; a job of more processors than a node has cores is
// a gang (split as in philly_trace.h).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/workload.h"

namespace gridfold {

// millicores_per_node: of the largest node of the cluster it will run on. The
// origin is the first submission. A line whose run time or processors are
// unknown, or that used no processor, is an error.
Result<Workload> read_swf(std::string_view text, const std::string& file,
                          std::int64_t millicores_per_node);

}  // namespace gridfold
