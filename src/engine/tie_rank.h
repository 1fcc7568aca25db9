// The order of nodes among those of the best score.
#pragma once

#include <cstdint>

#include "engine/cluster.h"
#include "engine/placement_options.h"
#include "model/why_here.h"

namespace gridfold {

// Among equals the lowest rank wins: by name, or in an order drawn from `salt`.
std::uint64_t tie_rank(const Cluster& cluster, TieBreak tie_break, std::uint64_t salt, NodeId node);

// As it is told to people.
DecidedBy tie_rule(TieBreak tie_break);

}  // namespace gridfold
