// Which of a node's free devices the tasks of one job take: those of an island
// together, the tightest island that holds a task first, and then next to
// network cards that the job does not use yet.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/fabric.h"

namespace gridfold {

enum class DevicePick : std::uint8_t {
  kLinked,       // each task's devices on one island or socket
  kAcrossCards,  // each task's devices next to different network cards
  kInterleaved,  // the tasks' first devices together, their second, …
};

// `tasks` tasks of `each` devices out of `free`, which has as many: the devices
// of each task.
std::vector<std::uint64_t> pick_devices(const Fabric::Layout& layout, std::uint64_t free,
                                        std::int32_t tasks, std::int32_t each, DevicePick pick);

}  // namespace gridfold
