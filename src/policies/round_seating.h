// Seats jobs of given sizes on nodes, near together. No node has tasks of two
// jobs that each go over several nodes: their traffic would meet there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/round_policy.h"

namespace gridfold {

struct SeatWish {
  const RoundJob* job = nullptr;
  std::int32_t tasks = 0;
  bool keeps = false;  // stays where it is, with as many tasks as it has
};

// Places of each wish, in its order. First those that keep, then the others, the
// largest first: on the one node that it fills best, else on as few nodes as can
// be. A wish for which there is no room gets fewer tasks, or none.
std::vector<std::vector<RoundPlace>> seat(std::span<const RoundNode> nodes,
                                          std::span<const SeatWish> wishes);

// What it costs that wish `i` sits in these places.
using SeatCost = std::function<double(std::size_t i, std::span<const RoundPlace> places)>;

// Seats all wishes at the least summed cost that is found by letting more and
// more of those that keep make way, the smallest first. `steps` grows by the
// wishes seated.
std::vector<std::vector<RoundPlace>> seat_best(std::span<const RoundNode> nodes,
                                               std::vector<SeatWish> wishes, const SeatCost& cost,
                                               std::int64_t& steps);

}  // namespace gridfold
