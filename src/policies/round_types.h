// The nodes of a round by the model of their devices, for policies to which it
// matters what a job runs on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/round_policy.h"

namespace gridfold {

struct RoundType {
  std::string device_class;
  std::string model;
  std::vector<RoundNode> nodes;   // in order of their numbers
  std::int32_t devices = 0;       // of all nodes
  std::int32_t node_devices = 0;  // of the largest

  // Tasks that its nodes hold, none of them cut in two.
  std::int64_t whole_tasks(std::int32_t devices_each) const;
  // Nodes that so many tasks take at least.
  std::int32_t fewest_nodes(std::int32_t tasks, std::int32_t devices_each) const;
};

// In the order in which the nodes name them.
std::vector<RoundType> types_of(std::span<const RoundNode> nodes);

// Whether the job may run on devices of this type, by its request.
bool may_run_on(const RoundJob& job, const RoundType& type);

// Index of the type on which the job runs now; types.size(): it does not run,
// or on devices of several.
std::size_t type_of(std::span<const RoundType> types, const RoundJob& job);

}  // namespace gridfold
