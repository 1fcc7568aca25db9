#include "planner/packing_bound.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "planner/fluid_bound.h"
#include "planner/linear_program.h"
#include "planner/node_pricing.h"

namespace gridfold {
namespace {

constexpr std::int64_t kCellMilliCores = 500;
constexpr std::int64_t kMostCpuCells = 512;
// Sets of tasks worth less than this many devices more are no progress.
constexpr double kLeastGain = 1e-7;

// Cells of node_pricing.h. Tasks are rounded down, nodes too: what fits the
// nodes still fits them in cells.
struct Cells {
  std::int64_t milli_cores = kCellMilliCores;
  std::int64_t thousandths = kWholeDevice.value;

  explicit Cells(const PackingProblem& problem) {
    for (const auto& node : problem.nodes) {
      milli_cores = std::max(milli_cores, (node.cpu.value + kMostCpuCells - 1) / kMostCpuCells);
    }
    for (const auto& task : problem.classes) {
      if (task.devices > 0) thousandths = std::gcd(thousandths, task.share.value);
    }
  }
  int cpu(MilliCores amount) const { return static_cast<int>(amount.value / milli_cores); }
  int share(DeviceShare share) const { return static_cast<int>(share.value / thousandths); }
};

// Node types that may run the same classes, and the tables that price them.
struct PricingGroup {
  std::vector<std::size_t> types;
  std::vector<PricedTask> tasks;  // values are filled in each round
  NodePricing pricing;
};

// A set of tasks that a node of the type can hold.
struct TypedPattern {
  std::size_t type = 0;
  NodePattern tasks;
};

// The most that the goal's columns give when a task of class c costs prices[c]
// and a device more than the floor earns floor_price: with the worth of the
// nodes at the same prices, no placement has more.
double worth_of(const PackingGoal& goal, const std::vector<double>& prices, double floor_price) {
  double worth = -floor_price * goal.floor.value_or(0);
  for (const GoalColumn& column : goal.columns) {
    double gain = column.objective + floor_price * column.floor_term;
    for (const GoalTerm& term : column.terms) gain -= prices[term.task_class] * term.tasks;
    worth += column.upper * std::max(0.0, gain);
  }
  return worth;
}

}  // namespace

// The known patterns and what is needed to find more.
class PackingBounds::Search {
 public:
  Search(PackingProblem problem, const PackingBudget& budget)
      : problem_(std::move(problem)), budget_(budget), cells_(problem_) {
    for (std::size_t type = 0; type < problem_.nodes.size(); ++type) add_to_group(type);
  }

  const PackingProblem& problem() const { return problem_; }

  // The configuration bound alone. Ends early when the patterns found reach
  // `enough` devices.
  Result<PackingBound> bound(const PackingGoal& goal, double enough = kNoBound);
  Result<PackingBound> both_bounds(const PackingGoal& goal) {
    const auto fluid = fluid_bound(problem_, goal, budget_.simplex_iterations);
    if (!fluid) return fluid.error();
    auto both = bound(goal);
    if (both) both->fluid_ratio = *fluid / problem_.devices();
    return both;
  }

 private:
  struct Master;
  struct Priced {
    std::vector<double> prices;                         // of one task of each class
    std::vector<std::pair<TypedPattern, double>> best;  // a pattern of each type and its value
    double worth = 0;                                   // of all nodes
  };

  void add_to_group(std::size_t type);
  bool has_cells(const PackingClass& task) const {
    return task.devices > 0 || cells_.cpu(task.cpu) > 0;
  }
  Master make_master(const PackingGoal& goal) const;
  static void add_pattern(Master& master, const TypedPattern& pattern);
  std::vector<double> class_prices(const Master& master) const;
  static double floor_price(const Master& master);
  Priced price(std::vector<double> prices);
  bool add_improving(Master& master, const Priced& priced);

  PackingProblem problem_;
  PackingBudget budget_;
  Cells cells_;
  std::vector<PricingGroup> groups_;
  std::vector<TypedPattern> patterns_;
};

// Rows: one a class (goal's terms <= held), one a type (its patterns <= its
// nodes), the floor.
struct PackingBounds::Search::Master {
  LinearProgram program;
  int first_type_row = 0;
  int floor_row = -1;
};

void PackingBounds::Search::add_to_group(std::size_t type) {
  const PackingNodeType& node = problem_.nodes[type];
  const auto same_classes = [&](const PricingGroup& group) {
    const PackingNodeType& other = problem_.nodes[group.types.front()];
    return std::all_of(problem_.classes.begin(), problem_.classes.end(), [&](const auto& task) {
      return allows_model(task, node) == allows_model(task, other);
    });
  };
  const int share_cells = cells_.share(kWholeDevice);
  auto group = std::find_if(groups_.begin(), groups_.end(), same_classes);
  if (group != groups_.end()) {
    group->types.push_back(type);
    group->pricing = NodePricing(std::max(group->pricing.devices(), node.devices),
                                 std::max(group->pricing.cpu(), cells_.cpu(node.cpu)), share_cells);
    return;
  }
  PricingGroup fresh{{type}, {}, NodePricing(node.devices, cells_.cpu(node.cpu), share_cells)};
  for (std::size_t c = 0; c < problem_.classes.size(); ++c) {
    const PackingClass& task = problem_.classes[c];
    if (!has_cells(task) || (task.devices > 0 && !allows_model(task, node))) continue;
    fresh.tasks.push_back({static_cast<int>(c), cells_.cpu(task.cpu), task.devices,
                           task.devices > 0 ? cells_.share(task.share) : 0, 0});
  }
  groups_.push_back(std::move(fresh));
}

PackingBounds::Search::Master PackingBounds::Search::make_master(const PackingGoal& goal) const {
  Master master;
  for (const PackingClass& task : problem_.classes) {
    // What is rounded to nothing fits everywhere.
    master.program.add_row(-kNoBound, has_cells(task) ? 0 : kNoBound);
  }
  master.first_type_row = static_cast<int>(problem_.classes.size());
  for (const PackingNodeType& node : problem_.nodes) {
    master.program.add_row(-kNoBound, static_cast<double>(node.count));
  }
  master.floor_row = add_goal(master.program, goal);
  for (const TypedPattern& pattern : patterns_) add_pattern(master, pattern);
  return master;
}

void PackingBounds::Search::add_pattern(Master& master, const TypedPattern& pattern) {
  std::vector<LinearTerm> terms;
  for (const auto& [task_class, count] : pattern.tasks) {
    terms.push_back({task_class, -static_cast<double>(count)});
  }
  terms.push_back({master.first_type_row + static_cast<int>(pattern.type), 1});
  master.program.add_column(0, 0, kNoBound, terms);
}

Result<PackingBound> PackingBounds::Search::bound(const PackingGoal& goal, double enough) {
  const double gap = budget_.gap_ratio * problem_.devices();
  Master master = make_master(goal);
  double upper = problem_.devices();
  double reached = 0;
  int rounds = 0;
  while (rounds < budget_.rounds) {
    const LinearStatus status = master.program.maximize(budget_.simplex_iterations);
    if (status != LinearStatus::kOptimal) return error_of(status);
    reached = master.program.objective();
    if (reached >= enough) break;
    ++rounds;
    const Priced priced = price(class_prices(master));
    upper = std::min(upper, priced.worth + worth_of(goal, priced.prices, floor_price(master)));
    if (upper - reached <= gap || !add_improving(master, priced)) break;
  }
  const auto ratio = [&](double devices) { return devices / problem_.devices(); };
  return PackingBound{0, ratio(upper), ratio(reached), rounds,
                      static_cast<std::int64_t>(patterns_.size())};
}

std::vector<double> PackingBounds::Search::class_prices(const Master& master) const {
  std::vector<double> prices;
  for (std::size_t c = 0; c < problem_.classes.size(); ++c) {
    prices.push_back(std::max(0.0, master.program.dual(static_cast<int>(c))));
  }
  return prices;
}

double PackingBounds::Search::floor_price(const Master& master) {
  return master.floor_row < 0 ? 0 : std::max(0.0, -master.program.dual(master.floor_row));
}

PackingBounds::Search::Priced PackingBounds::Search::price(std::vector<double> prices) {
  Priced priced;
  for (PricingGroup& group : groups_) {
    for (PricedTask& task : group.tasks) task.value = prices[static_cast<std::size_t>(task.id)];
    group.pricing.price(group.tasks);
    for (const std::size_t type : group.types) {
      const PackingNodeType& node = problem_.nodes[type];
      const int cpu = cells_.cpu(node.cpu);
      const double value = group.pricing.best(node.devices, cpu);
      priced.worth += value * static_cast<double>(node.count);
      priced.best.push_back({{type, group.pricing.pattern(node.devices, cpu)}, value});
    }
  }
  priced.prices = std::move(prices);
  return priced;
}

// False: no pattern is worth more than what its type of node costs.
bool PackingBounds::Search::add_improving(Master& master, const Priced& priced) {
  const std::size_t before = patterns_.size();
  for (const auto& [pattern, value] : priced.best) {
    const int type_row = master.first_type_row + static_cast<int>(pattern.type);
    if (value <= master.program.dual(type_row) + kLeastGain) continue;
    patterns_.push_back(pattern);
  }
  for (std::size_t i = before; i < patterns_.size(); ++i) add_pattern(master, patterns_[i]);
  return patterns_.size() > before;
}

namespace {

Result<void> check_share(const char* what, double share) {
  // More than a thousand clusters' worth is a mistake, and keeps sums in range.
  constexpr double kMost = 1000;
  if (share > 0 && share <= kMost) return {};
  Error error = invalid(std::string(what) + " must be a share of the devices above 0");
  error.hint = "1 is all of the cluster's devices";
  return error;
}

}  // namespace

Result<PackingBounds> PackingBounds::make(PackingProblem problem, const PackingBudget& budget) {
  auto checked = checked_packing_problem(std::move(problem));
  if (!checked) return checked.error();
  return PackingBounds(std::make_unique<Search>(std::move(*checked), budget));
}

PackingBounds::PackingBounds(std::unique_ptr<Search> search) : search_(std::move(search)) {}
PackingBounds::~PackingBounds() = default;
PackingBounds::PackingBounds(PackingBounds&&) noexcept = default;
PackingBounds& PackingBounds::operator=(PackingBounds&&) noexcept = default;

const PackingProblem& PackingBounds::problem() const { return search_->problem(); }

Result<PackingBound> PackingBounds::lossless() {
  return search_->both_bounds(lossless_goal(problem()));
}

Result<PackingBound> PackingBounds::arrived(double share) {
  if (const auto checked = check_share("arrived", share); !checked) return checked.error();
  return search_->both_bounds(arrived_goal(problem(), share));
}

Result<PackingBound> PackingBounds::kept(double arrived, const KeptShare& kept) {
  for (const auto& [what, share] : {std::pair{"arrived", arrived},
                                    {"the share kept", kept.share},
                                    {"the share arrived when it was held", kept.at}}) {
    if (const auto checked = check_share(what, share); !checked) return checked.error();
  }
  if (kept.at > arrived) return invalid("what is kept must have been held before the end");
  // First enough sets of tasks to hold the floor at all.
  const double floor = kept.share * problem().devices();
  const auto before = search_->bound(arrived_goal(problem(), kept.at), floor);
  if (!before) return before.error();
  if (before->reached_ratio < kept.share) {
    Error error{ErrorKind::kInfeasible, "no placement can have held that much by then"};
    error.hint = "keep less: at most " + std::to_string(before->reached_ratio);
    return error;
  }
  auto bound = search_->both_bounds(kept_goal(problem(), arrived, kept));
  if (bound) bound->rounds += before->rounds;
  return bound;
}

}  // namespace gridfold
