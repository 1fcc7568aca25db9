// The streams of tasks that `gridfold bench` places, and the nodes they go to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "model/job.h"
#include "model/record.h"

namespace gridfold {

inline constexpr std::int64_t kBenchDevices = 8;  // of each node

// A kind of task of the openb default list; see bench_openb_mix.cpp.
struct OpenbKind {
  std::int32_t millicores = 0;
  std::int32_t mebibytes = 0;
  std::int32_t gpus = 0;
  std::int32_t gpu_thousandths = 0;  // of each
  std::int32_t pods = 0;
};
extern const OpenbKind kOpenbKinds[151];

// Tasks drawn at random from a few kinds by weight.
class TaskStream {
 public:
  // "single", "eight", "fraction" or "openb"; anything else is kInvalid.
  static Result<TaskStream> of(std::string_view name);

  const std::vector<TaskRequest>& kinds() const { return kinds_; }
  const std::vector<std::int64_t>& weights() const { return weights_; }
  std::size_t draw(RandomStream& random) const;  // index of a kind

 private:
  void add(TaskRequest request, std::int64_t weight);

  std::vector<TaskRequest> kinds_;
  std::vector<std::int64_t> weights_;
  std::vector<std::int64_t> sums_;  // of the weights up to each
};

// Node `number` of a cluster of alike nodes: 8 GPUs, 128 cores, 1 TiB, and the
// memory of a node's tasks to spare.
NodeRecord bench_node(std::uint32_t number);

}  // namespace gridfold
