// A workload in YAML: when jobs come, how long they run, and what they are.
//
//   jobs:
//     - arrive: 0s        # since the start; default 0s
//       duration: 20m     # of every task once it runs
//       count: 50         # so many, default 1: name-0, name-1, …
//       every: 30s        # this far apart, default 0s
//       job:              # as in a job file (docs/formats.md)
//         name: train
//         each: {gpu: 8, cpu: 32, memory: 256GiB}
//         run: simulated
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/workload.h"

namespace gridfold {

inline constexpr std::int64_t kMaxWorkloadFileJobs = 1'000'000;

// `file` is named in errors and gives the workload its name. Dependencies and
// arrays have no place here and are refused.
Result<Workload> parse_workload_file(std::string_view text, const std::string& file);

}  // namespace gridfold
