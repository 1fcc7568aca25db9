// Which of a node's free devices the tasks of one job take: those of an island
// together, the tightest island that holds a task first, and then next to
// network cards that the job does not use yet.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/fabric.h"

namespace gridfold {

// `tasks` times `each` devices out of `free`, which has as many.
std::uint64_t pick_devices(const NodeLayout& layout, std::uint64_t free, std::int32_t tasks,
                           std::int32_t each);

// Cuts devices picked for several tasks into tasks of `each`: near ones
// together, as the devices follow one another in the node.
std::vector<std::uint64_t> cut_into_tasks(const Fabric::Layout& layout, std::uint64_t devices,
                                          std::int32_t each);

}  // namespace gridfold
