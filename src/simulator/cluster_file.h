// A cluster in YAML:
//
//   nodes:
//     - name: a100                # one node a100, or a100-0 … when count > 1
//       count: 16                 # default 1
//       cpu: 96
//       memory: 1TiB
//       devices:                  # default: none
//         - {class: gpu, model: A100-SXM4-80GB, count: 8, memory: 80GiB,
//            numa: [0, 0, 0, 0, 1, 1, 1, 1],       # default: unknown
//            switch: [0, 0, 1, 1, 2, 2, 3, 3],     # likewise
//            island: [0, 0, 0, 0, 0, 0, 0, 0],     # likewise
//            card: [0, 1, 2, 3, 4, 5, 6, 7],       # the nearest of the cards in `links`
//            partitioned: true}                    # given out in the model's partitions only
//       domains: [{zone: a}, {rack: r3}]  # widest first; default: none. A plain
//                                 # text is a domain of no named level.
//       links: …                  # default: unknown; simulator/links_reader.h
//   fabric: …                     # likewise
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/workload.h"

namespace gridfold {

// Nodes a cluster file may describe, counts expanded.
inline constexpr std::int64_t kMaxClusterNodes = 1'000'000;

// `file` is named in errors and gives the cluster its name.
Result<ClusterSpec> parse_cluster_file(std::string_view text, const std::string& file);

}  // namespace gridfold
