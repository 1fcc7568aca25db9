// The placements that ours is held against: topology-blind best fit, and the
// best that a long search finds with the judge itself as its guide.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/communication/judge.h"
#include "tests/communication/world.h"

namespace gridfold {

// A task of the gang by rank: node and devices.
using Gang = std::vector<TaskPlace>;

// Rank r's place: tasks in order, devices by number (how the judge reads a gang).
std::vector<Place> ranks_of(const Gang& gang);

// Each task to the node with the fewest free devices that has enough, the first
// of equals; the lowest devices; ranks in the order of placing.
Gang blind_best_fit(const World& world);

struct Reference {
  Gang gang;
  double seconds = 0;
  bool exhaustive = false;  // every way of sharing the tasks out over nodes was judged
};

// Knows the true links. Small worlds: all ways of sharing tasks out over nodes;
// larger ones: from the given gangs and random ones on. Then moves tasks, swaps
// ranks and changes devices, as long as that helps, `judgements` times at most.
Reference reference_search(const World& world, Judge& judge, const std::vector<Gang>& starts,
                           std::int64_t judgements);

}  // namespace gridfold
