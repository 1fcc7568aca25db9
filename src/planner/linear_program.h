// A linear program that is solved again and again while rows and columns are
// added, for column generation. The one place that knows the solver (COIN CLP).
//
//   LinearProgram program;                       // maximise x + y
//   const int row = program.add_row(-kNoBound, 4);
//   program.add_column(1, 0, kNoBound, {{row, 1}});
//   program.add_column(1, 0, 3, {{row, 2}});
//   program.maximize(1000);                      // LinearStatus::kOptimal
//   program.dual(row);                           // 1
//
// Each solve starts from the basis of the last one. Budgets are iterations,
// never seconds, so that equal calls give equal answers. One thread a program.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace gridfold {

// +kNoBound and -kNoBound: no upper, no lower bound.
inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

enum class LinearStatus : std::uint8_t {
  kOptimal,
  kInfeasible,
  kUnbounded,
  kIterationLimit,
  kFailed,  // the solver's numbers broke down
};

// The error for a status that is not kOptimal: kInfeasible, kLimit, kInternal.
Error error_of(LinearStatus status);

// A coefficient of a column.
struct LinearTerm {
  int row = 0;
  double coefficient = 0;
};

class LinearProgram {
 public:
  LinearProgram();
  ~LinearProgram();
  LinearProgram(LinearProgram&&) noexcept;
  LinearProgram& operator=(LinearProgram&&) noexcept;

  // lower <= sum of the row's terms <= upper. Returns its index. Rows come
  // before the columns that have terms in them.
  int add_row(double lower, double upper);
  // lower <= value <= upper; each row at most once in `terms`. Returns its index.
  int add_column(double objective, double lower, double upper, std::span<const LinearTerm> terms);
  int add_column(double objective, double lower, double upper,
                 std::initializer_list<LinearTerm> terms);

  // At most this many simplex iterations. What follows is of the last solve and
  // has a meaning after kOptimal only.
  LinearStatus maximize(std::int64_t iterations);
  double objective() const;
  double value(int column) const;
  // By how much the objective grows for one more of the row's bound: never
  // negative when only the upper bound holds it, never positive when only the
  // lower one does.
  double dual(int row) const;

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
};

}  // namespace gridfold
