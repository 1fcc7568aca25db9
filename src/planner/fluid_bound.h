// The fluid relaxation of packing_bound.h.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "planner/packing_goal.h"
#include "planner/packing_problem.h"

namespace gridfold {

// In devices. Errors: see error_of in linear_program.h; kInfeasible: not even
// this relaxation holds what the goal's floor asks for.
Result<double> fluid_bound(const PackingProblem& problem, const PackingGoal& goal,
                           std::int64_t simplex_iterations);

}  // namespace gridfold
