// How many of a cluster's devices any policy could have allocated at best: upper
// bounds by linear programming.
//
//   auto bounds = PackingBounds::make(problem);
//   bounds->arrived(1.3)->ratio()         // 0.9989: of the devices, at best
//
// Two relaxations, each a true bound:
//
//   fluid          the nodes of a type are one pool of CPU and devices, and tasks
//                  may be cut (aggregated linear program)
//   configuration  every node holds a set of whole tasks that fits it, its
//                  devices one by one; only the numbers of nodes may be broken
//                  (Gilmore and Gomory 1961, by column generation). CPU needs
//                  are rounded down to half a core (on nodes of more than 256
//                  cores to 1/512 of the largest), memory is left out.
//
// The configuration bound is taken from the duals (Lagrange), so it holds even
// when the budget ends the search early. Equal calls give equal answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "planner/packing_goal.h"
#include "planner/packing_problem.h"

namespace gridfold {

struct PackingBudget {
  int rounds = 2'000;                           // of pricing, for each bound
  std::int64_t simplex_iterations = 1'000'000;  // for each linear program
  double gap_ratio = 1e-5;                      // near enough to the optimum, of the devices
};

// Shares of the cluster's devices.
struct PackingBound {
  double fluid_ratio = 0;
  double configuration_ratio = 0;
  double reached_ratio = 0;  // by the sets found: the configuration optimum is not below
  int rounds = 0;
  std::int64_t patterns = 0;  // sets of tasks known at the end

  // Both are bounds. The fluid one is lower where CPU binds, which it counts
  // exactly.
  double ratio() const { return std::min(fluid_ratio, configuration_ratio); }
};

// The sets of tasks found for one bound serve the next. One thread.
class PackingBounds {
 public:
  // Errors: those of checked_packing_problem.
  static Result<PackingBounds> make(PackingProblem problem, const PackingBudget& budget = {});
  ~PackingBounds();
  PackingBounds(PackingBounds&&) noexcept;
  PackingBounds& operator=(PackingBounds&&) noexcept;

  // See packing_goal.h. Errors: kInvalid for shares that are not positive or in
  // the wrong order, kInfeasible when not even kept.share can be held, kLimit
  // when the budget is too small to answer, kInternal when the solver fails.
  Result<PackingBound> lossless();
  Result<PackingBound> arrived(double share);
  Result<PackingBound> kept(double arrived, const KeptShare& kept);

  // As checked and put together.
  const PackingProblem& problem() const;

 private:
  class Search;
  explicit PackingBounds(std::unique_ptr<Search> search);
  std::unique_ptr<Search> search_;
};

}  // namespace gridfold
