#include "planner/fluid_bound.h"

#include "planner/linear_program.h"

namespace gridfold {
namespace {

constexpr double kCoresPerMilliCore = 1e-3;

}  // namespace

Result<double> fluid_bound(const PackingProblem& problem, const PackingGoal& goal,
                           std::int64_t simplex_iterations) {
  LinearProgram program;
  for (std::size_t c = 0; c < problem.classes.size(); ++c) program.add_row(-kNoBound, 0);
  for (const PackingNodeType& node : problem.nodes) {
    const auto count = static_cast<double>(node.count);
    const int cpu = program.add_row(
        -kNoBound, count * static_cast<double>(node.cpu.value) * kCoresPerMilliCore);
    const int devices = program.add_row(-kNoBound, count * node.devices);
    for (std::size_t c = 0; c < problem.classes.size(); ++c) {
      const PackingClass& task = problem.classes[c];
      if (!fits(task, node)) continue;
      program.add_column(0, 0, kNoBound,
                         {{static_cast<int>(c), -1},
                          {cpu, static_cast<double>(task.cpu.value) * kCoresPerMilliCore},
                          {devices, task.device_need()}});
    }
  }
  add_goal(program, goal);
  const LinearStatus status = program.maximize(simplex_iterations);
  if (status != LinearStatus::kOptimal) return error_of(status);
  return program.objective();
}

}  // namespace gridfold
