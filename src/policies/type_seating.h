// Seats jobs whose type of devices and number of tasks are chosen, and what
// several policies of rounds ask of a job on a type.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/round_policy.h"
#include "policies/goodput_book.h"
#include "policies/round_types.h"
#include "policies/type_choice.h"

namespace gridfold {

// Whether the job may have so many tasks, by its role.
bool may_have(const RoundJob& job, std::int32_t tasks);

// Steps a second: by the job's scaling table where it declares one, else by the
// model of its page (one for all types); 0: it cannot run so, or is not known.
double speed_on(const RoundJob& job, const GoodputPage& page, const RoundType& type,
                std::int32_t nodes, std::int32_t tasks);

struct TypeSeat {
  const RoundJob* job = nullptr;
  TypeChoice choice;
};
// What it costs that seat `i` has these places on its type; none: it waits.
using TypeSeatCost = std::function<double(std::size_t i, std::span<const RoundPlace> places)>;

// The plan of a round. A job whose type and number stay may be left where it is;
// one for which there is no room in a number that it may have waits.
RoundPlan seat_types(std::span<const RoundType> types, std::span<const TypeSeat> seats,
                     const TypeSeatCost& cost, std::int64_t& steps);

}  // namespace gridfold
