// A second engine, built from what is stored, compared with the live one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/control_loop.h"
#include "simulator/verify/run.h"

namespace gridfold::verify {

// Loads a copy of the store into a new loop. The first difference between its
// records, rooms and usage and those of `live`; empty when there is none.
// Requires that the turns of `live` are stored.
std::optional<std::string> differs_from_stored(const Engine& live, Store& store, const World& world,
                                               const std::vector<QueueSpec>& queues,
                                               const MakeStore& make_store);

}  // namespace gridfold::verify
