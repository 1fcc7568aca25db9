#include "planner/packing_goal.h"

#include <cassert>
#include <vector>

namespace gridfold {
namespace {

// Tasks of a class for each device asked for by all of them together.
double tasks_per_device(const PackingProblem& problem, const PackingClass& task) {
  return static_cast<double>(task.tasks) / problem.device_demand();
}

}  // namespace

PackingGoal lossless_goal(const PackingProblem& problem) {
  GoalColumn asked_for;
  asked_for.objective = 1;
  asked_for.upper = problem.devices();
  for (std::size_t c = 0; c < problem.classes.size(); ++c) {
    asked_for.terms.push_back({c, tasks_per_device(problem, problem.classes[c])});
  }
  return {{std::move(asked_for)}, {}};
}

PackingGoal arrived_goal(const PackingProblem& problem, double arrived) {
  PackingGoal goal;
  for (std::size_t c = 0; c < problem.classes.size(); ++c) {
    const PackingClass& task = problem.classes[c];
    if (task.devices == 0) continue;  // refused for nothing
    const double tasks = tasks_per_device(problem, task) * arrived * problem.devices();
    goal.columns.push_back({task.device_need(), tasks, {{c, 1}}, 0});
  }
  return goal;
}

// Two columns a class: held of those that had come by then, and of the later.
PackingGoal kept_goal(const PackingProblem& problem, double arrived, const KeptShare& kept) {
  assert(arrived >= kept.at);
  PackingGoal goal = arrived_goal(problem, kept.at);
  for (auto& column : goal.columns) column.floor_term = column.objective;
  const PackingGoal later = arrived_goal(problem, arrived - kept.at);
  goal.columns.insert(goal.columns.end(), later.columns.begin(), later.columns.end());
  goal.floor = kept.share * problem.devices();
  return goal;
}

int add_goal(LinearProgram& program, const PackingGoal& goal) {
  const int floor = goal.floor ? program.add_row(*goal.floor, kNoBound) : -1;
  std::vector<LinearTerm> terms;
  for (const GoalColumn& column : goal.columns) {
    terms.clear();
    for (const GoalTerm& term : column.terms) {
      terms.push_back({static_cast<int>(term.task_class), term.tasks});
    }
    if (floor >= 0 && column.floor_term > 0) terms.push_back({floor, column.floor_term});
    program.add_column(column.objective, 0, column.upper, terms);
  }
  return floor;
}

}  // namespace gridfold
