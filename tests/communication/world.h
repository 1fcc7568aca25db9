// Random clusters, busy with others' work, and random jobs for them: what the
// experiment of placements draws. Plain data; the placer and the judge each
// make their own of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/node.h"
#include "topology/fabric.h"
#include "topology/placement_search.h"

namespace gridfold {

// One flow of another job, from card to card.
struct ForeignFlow {
  NodeId from;
  std::int32_t from_card = 0;
  NodeId to;
  std::int32_t to_card = 0;
  double bits_per_second = 0;  // it sends no more than this
};

struct World {
  std::uint64_t seed = 0;
  std::vector<NodeSpec> nodes;
  std::vector<NodeWiring> layouts;
  std::vector<std::uint32_t> layout_of_node;
  std::vector<Link> links;          // ends are domains of the tree of `nodes`
  std::vector<std::uint64_t> free;  // devices, by node
  std::vector<ForeignFlow> foreign;
  GangRequest job;
  // Communication over every rank's own card would take more than the computing.
  bool bandwidth_bound = false;
};

// The same seed gives the same world. The job always fits.
World draw_world(std::uint64_t seed);

}  // namespace gridfold
