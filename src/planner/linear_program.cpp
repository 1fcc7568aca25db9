#include "planner/linear_program.h"

#include <coin/Clp_C_Interface.h>

#include <algorithm>
#include <cassert>

namespace gridfold {
namespace {

// CLP's codes of Clp_status.
constexpr int kClpOptimal = 0;
constexpr int kClpPrimalInfeasible = 1;
constexpr int kClpDualInfeasible = 2;
constexpr int kClpStopped = 3;

constexpr std::int64_t kMostIterations = std::numeric_limits<int>::max();

// CLP's infinity is the largest double.
double clp_bound(double bound) {
  if (bound == kNoBound) return std::numeric_limits<double>::max();
  if (bound == -kNoBound) return -std::numeric_limits<double>::max();
  return bound;
}

}  // namespace

// Rows and columns are handed over in one go before a solve: CLP copies its
// matrix for each addition.
struct LinearProgram::Solver {
  Clp_Simplex* model = Clp_newModel();
  int rows = 0;
  int columns = 0;

  std::vector<double> row_lower, row_upper;
  std::vector<double> column_lower, column_upper, objective;
  std::vector<CoinBigIndex> starts = {0};
  std::vector<int> term_rows;
  std::vector<double> term_coefficients;

  Solver() {
    Clp_setLogLevel(model, 0);
    Clp_setObjSense(model, 1);  // minimises the negated objective
  }
  ~Solver() { Clp_deleteModel(model); }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  void hand_over_rows() {
    if (row_lower.empty()) return;
    const std::vector<CoinBigIndex> no_terms(row_lower.size() + 1, 0);
    const int none = 0;
    const double zero = 0;
    Clp_addRows(model, static_cast<int>(row_lower.size()), row_lower.data(), row_upper.data(),
                no_terms.data(), &none, &zero);
    row_lower.clear();
    row_upper.clear();
  }

  void hand_over_columns() {
    if (column_lower.empty()) return;
    term_rows.reserve(1);  // never a null pointer, even without terms
    term_coefficients.reserve(1);
    Clp_addColumns(model, static_cast<int>(column_lower.size()), column_lower.data(),
                   column_upper.data(), objective.data(), starts.data(), term_rows.data(),
                   term_coefficients.data());
    column_lower.clear();
    column_upper.clear();
    objective.clear();
    starts = {0};
    term_rows.clear();
    term_coefficients.clear();
  }
};

Error error_of(LinearStatus status) {
  switch (status) {
    case LinearStatus::kInfeasible:
      return {ErrorKind::kInfeasible, "nothing satisfies the linear program"};
    case LinearStatus::kIterationLimit: {
      Error error{ErrorKind::kLimit, "the linear program needs more simplex iterations"};
      error.hint = "raise the budget";
      return error;
    }
    default: return internal("the linear program could not be solved");
  }
}

LinearProgram::LinearProgram() : solver_(std::make_unique<Solver>()) {}
LinearProgram::~LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) noexcept = default;
LinearProgram& LinearProgram::operator=(LinearProgram&&) noexcept = default;

int LinearProgram::add_row(double lower, double upper) {
  solver_->row_lower.push_back(clp_bound(lower));
  solver_->row_upper.push_back(clp_bound(upper));
  return solver_->rows++;
}

int LinearProgram::add_column(double objective, double lower, double upper,
                              std::span<const LinearTerm> terms) {
  Solver& solver = *solver_;
  for (const LinearTerm& term : terms) {
    assert(term.row >= 0 && term.row < solver.rows);
    solver.term_rows.push_back(term.row);
    solver.term_coefficients.push_back(term.coefficient);
  }
  solver.starts.push_back(static_cast<CoinBigIndex>(solver.term_rows.size()));
  solver.column_lower.push_back(clp_bound(lower));
  solver.column_upper.push_back(clp_bound(upper));
  solver.objective.push_back(-objective);
  return solver.columns++;
}

int LinearProgram::add_column(double objective, double lower, double upper,
                              std::initializer_list<LinearTerm> terms) {
  return add_column(objective, lower, upper, std::span(terms.begin(), terms.size()));
}

LinearStatus LinearProgram::maximize(std::int64_t iterations) {
  solver_->hand_over_rows();
  solver_->hand_over_columns();
  Clp_Simplex* model = solver_->model;
  Clp_setMaximumIterations(
      model, static_cast<int>(std::clamp<std::int64_t>(iterations, 0, kMostIterations)));
  Clp_primal(model, 0);
  switch (Clp_status(model)) {
    case kClpOptimal: return LinearStatus::kOptimal;
    case kClpPrimalInfeasible: return LinearStatus::kInfeasible;
    case kClpDualInfeasible: return LinearStatus::kUnbounded;
    case kClpStopped: return LinearStatus::kIterationLimit;
    default: return LinearStatus::kFailed;
  }
}

double LinearProgram::objective() const { return -Clp_objectiveValue(solver_->model); }

double LinearProgram::value(int column) const {
  assert(column >= 0 && column < solver_->columns);
  return Clp_primalColumnSolution(solver_->model)[column];
}

double LinearProgram::dual(int row) const {
  assert(row >= 0 && row < solver_->rows);
  return -Clp_dualRowSolution(solver_->model)[row];
}

}  // namespace gridfold
