// The questions of the bounds, in the form that both linear programs share:
// columns beside those that say what the nodes hold.
//
// Let h_c be how many tasks of class c the nodes hold. A goal is a few columns
// z with 0 <= z <= upper, rows  sum of terms(z) <= h_c  for every class, at most
// one further row  sum of floor terms(z) >= floor, and the sum of objectives to
// maximise, all in devices.
#pragma once

#include <optional>
#include <vector>

#include "planner/linear_program.h"
#include "planner/packing_problem.h"

namespace gridfold {

struct GoalTerm {
  std::size_t task_class = 0;  // index in PackingProblem::classes
  double tasks = 0;
};

struct GoalColumn {
  double objective = 0;  // devices
  double upper = 0;
  std::vector<GoalTerm> terms;
  double floor_term = 0;  // devices
};

struct PackingGoal {
  std::vector<GoalColumn> columns;
  std::optional<double> floor;  // devices
};

// Shares are of the cluster's devices. Tasks arrive in the proportions of the
// workload, their numbers are the expected ones and need not be whole.

// The most that can have arrived with none refused, those that ask for no
// device included.
PackingGoal lossless_goal(const PackingProblem& problem);

// Devices allocated once tasks that ask for `arrived` of the devices have come,
// whichever of them are taken.
PackingGoal arrived_goal(const PackingProblem& problem, double arrived);

// What was held earlier is still held: when `at` had been asked for, at least
// `share` was allocated.
struct KeptShare {
  double share = 0;
  double at = 0;
};
// As arrived_goal, for arrived >= kept.at.
PackingGoal kept_goal(const PackingProblem& problem, double arrived, const KeptShare& kept);

// Adds the goal to a program whose row c, for every class c, says
// terms of the goal <= h_c. Returns the index of the floor's row, -1 for none.
int add_goal(LinearProgram& program, const PackingGoal& goal);

}  // namespace gridfold
