// The Philly trace (Microsoft, 2017), as one CSV:
//
//   timestamp,duration,num_gpus[,cluster][,…]
//   2017-10-09 07:01:55,66.0,1,11cb48,…
//
// Lines need not be in order of time. A job of more GPUs than a node has is a
// gang: the smallest number of equal tasks that each fit a node (12 GPUs on
// nodes of 8 are 2 x 6, 24 are 3 x 8). Users are not named: the virtual cluster
// is taken for one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/csv_table.h"
#include "simulator/workload.h"

namespace gridfold {

// How `total` units are split into equal tasks of at most `most` units each.
struct GangSplit {
  std::int32_t tasks = 1;
  std::int64_t each = 0;
};
// total >= 1, most >= 1.
GangSplit split_gang(std::int64_t total, std::int64_t most);

// A job of so many GPUs on nodes of at most so many; 0: one task, however many.
JobSpec gpu_gang(std::int64_t gpus, std::int32_t gpus_per_node);

// A field of a trace: seconds such as 66.0, and the GPUs of a job.
Result<Duration> read_trace_seconds(const CsvTable& table, std::size_t column);
Result<std::int64_t> read_gang_gpus(const CsvTable& table, std::size_t column);

// gpus_per_node: of the largest node of the cluster it will run on; without
// GPUs there (0) a job is one task. The origin is the first timestamp.
Result<Workload> read_philly(std::string_view text, const std::string& file,
                             std::int32_t gpus_per_node);

}  // namespace gridfold
