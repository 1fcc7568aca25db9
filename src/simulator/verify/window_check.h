// Which windows close a node to a job, by the world's own list.
#pragma once

#include <span>
#include <vector>

#include "base/time.h"
#include "simulator/verify/world.h"

namespace gridfold::verify {

// For how long the job may run, if that is known.
Limit<Duration> known_run(const World& world, std::span<const QueueSpec> queues,
                          const JobSpec& job);

// The first window that keeps the job from starting on the node, at this time or
// so much later; null: there is none.
const NodeWindow* closing(const World& world, std::span<const QueueSpec> queues, const JobSpec& job,
                          std::size_t node, Instant now, Duration later = {});

}  // namespace gridfold::verify
