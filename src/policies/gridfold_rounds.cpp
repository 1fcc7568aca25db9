#include "policies/gridfold_rounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "planner/type_shares.h"
#include "policies/deadline_jobs.h"
#include "policies/declared_rates.h"
#include "policies/round_pool.h"
#include "policies/round_room.h"
#include "policies/settings.h"
#include "policies/type_seating.h"

namespace gridfold {
namespace {

// A task with a deadline that finds no place costs more than all moves.
constexpr double kShort = 1e6;
constexpr double kReferenceSeconds = 600;
constexpr double kLeastSeconds = 30;  // what is left is never taken to be less

constexpr std::array<std::string_view, 4> kKnowledge = {"declared", "nothing", "shared",
                                                        "profiled"};
constexpr RoundKnowledge kKnowledgeOf[] = {RoundKnowledge::kDeclared, RoundKnowledge::kNothing,
                                           RoundKnowledge::kShared, RoundKnowledge::kProfiled};

constexpr std::array<std::string_view, 2> kObjectives = {"completion", "makespan"};
// What a device that the makespan does not need is worth beside one that it does.
constexpr double kSpare = 1e-3;

}  // namespace

Result<GridfoldRoundsOptions> read_gridfold_rounds_options(const PolicyOptions& options) {
  SettingsReader settings("gridfold", options.settings);
  GridfoldRoundsOptions own;
  own.round = settings.duration("round", options.round);
  own.knows = kKnowledgeOf[settings.choice("knows", kKnowledge)];
  own.objective = settings.choice("objective", kObjectives) == 0 ? RoundObjective::kCompletion
                                                                 : RoundObjective::kMakespan;
  own.restart = settings.duration("restart", own.restart);
  own.order =
      static_cast<double>(settings.number("order_percent", std::lround(own.order * 100), 0, 300)) /
      100;
  own.evenness = static_cast<double>(settings.number("evenness_percent",
                                                     std::lround(own.evenness * 100), 10, 300)) /
                 100;
  own.long_job = settings.duration("long_job", own.long_job);
  own.horizon = settings.duration("horizon", own.horizon);
  own.idle_worth = static_cast<double>(settings.number(
                       "idle_permille", std::lround(own.idle_worth * 1000), 1, 1000)) /
                   1000;
  own.growth = static_cast<std::int32_t>(settings.number("growth", own.growth, 1, 1024));
  own.truth = options.truth;
  if (auto error = settings.finish()) return *error;
  if (own.knows == RoundKnowledge::kProfiled && own.truth == nullptr) {
    Error error = invalid("knows=profiled needs a world that tells the true speeds of its jobs");
    error.field = "policy.knows";
    error.hint = "choose such a world (--set world=elasticflow), or knows=declared";
    return error;
  }
  return own;
}

GridfoldRounds::GridfoldRounds(const GridfoldRoundsOptions& options)
    : options_(options),
      deadlines_({.restart = options.restart.in_seconds(), .round = options.round.in_seconds()}) {}

double GridfoldRounds::fair_speed(const Part& part, std::span<const RoundType> types) const {
  const RoundJob& job = *part.job;
  if (!declares_rates(*job.spec)) {
    if (!part.page->is_fitted()) return 0;
    std::int32_t node_devices = 1;
    for (const RoundType& type : types) node_devices = std::max(node_devices, type.node_devices);
    const std::int32_t node_tasks = std::max(1, node_devices / job.devices_each());
    const auto fair =
        std::min(static_cast<std::int32_t>(part.fair_tasks), job.spec->roles.front().count);
    return part.page->goodput((fair + node_tasks - 1) / node_tasks, fair);
  }
  double speed = 0;
  double devices = 0;
  for (const RoundType& type : types) {
    double best = 0;
    for (const DeclaredRate& rate : job.spec->training->rates) {
      if (rate.device_model == type.model) best = std::max(best, rate.steps_per_second);
    }
    speed += best * type.devices;
    devices += type.devices;
  }
  return devices > 0 ? speed / devices : 0;
}

double GridfoldRounds::speedup(const Part& part, const RoundType& type, std::int32_t nodes,
                               std::int32_t tasks) const {
  if (tasks == 0) return 0;
  if (part.fair_speed <= 0) return declares_rates(*part.job->spec) ? 0 : tasks / part.fair_tasks;
  return speed_on(*part.job, *part.page, type, nodes, tasks) / part.fair_speed;
}

double GridfoldRounds::cost(const Part& part, std::span<const RoundType> types, std::size_t type,
                            std::int32_t nodes, std::int32_t tasks, bool moved) const {
  const double speed = speedup(part, types[type], nodes, tasks);
  if (!part.shares.empty() && tasks > 0) {
    const double devices = tasks * part.job->devices_each();
    return -(part.shares[type] + kSpare * speed) * devices;
  }
  if (!part.shares.empty()) return 0;
  return cost_at(part, speed, moved);
}

// At a speed in fair shares.
double GridfoldRounds::cost_at(const Part& part, double speed, bool moved) const {
  if (moved && speed > 0) {
    const double until = std::min(options_.horizon.in_seconds(), part.left / speed);
    speed *= until / (until + options_.restart.in_seconds());
  }
  return part.weight / std::pow(speed + options_.idle_worth, options_.evenness);
}

Known<double> GridfoldRounds::steps_left(const RoundJob& job) const {
  if (options_.knows == RoundKnowledge::kNothing || !job.spec->training) return Unknown{};
  if (const auto steps = declared_steps_left(job); steps.is_known()) return steps;
  if (!job.spec->training->epochs.is_known()) return Unknown{};
  const auto epochs = static_cast<double>(job.spec->training->epochs.value());
  double epoch_steps = 0;
  double done = 0;
  if (job.history && job.history->progress_epochs.is_known() &&
      job.history->progress_epochs.value() > 0) {
    done = job.history->progress_epochs.value();
    epoch_steps = job.history->progress_steps / done;
  } else if (options_.knows == RoundKnowledge::kShared) {
    const ProgramPage* program = programs_.page(job);
    if (program != nullptr && program->epoch_steps().is_known()) {
      epoch_steps = program->epoch_steps().value();
    }
  }
  if (epoch_steps <= 0) return Unknown{};
  return (epochs - done) * epoch_steps;
}

Known<double> GridfoldRounds::seconds_left(const Part& part) const {
  const RoundJob& job = *part.job;
  const Known<double> steps = steps_left(job);
  if (steps.is_known() && part.fair_speed > 0) return steps.value() / part.fair_speed;
  // As much as it had.
  if (!is_rigid(*job.spec))
    return static_cast<double>(job.executed_ns) * 1e-9 / (job.devices_each() * part.fair_tasks);
  return lengths_.seconds_left(job);
}

// Of jobs of fixed size of which nothing is known who runs goes on, and who waits
// is no reason to stop another of fixed size: it weighs as the least of those.
void GridfoldRounds::weigh(std::vector<Part>& parts) const {
  std::vector<Part*> unknown;
  double most = kLeastSeconds;
  for (Part& part : parts) {
    const Known<double> left = seconds_left(part);
    part.left = std::max(left.is_known() ? left.value() : 0, kLeastSeconds);
    if (part.held > 0 && is_rigid(*part.job->spec)) most = std::max(most, part.left);
    if (part.held == 0 && !left.is_known()) unknown.push_back(&part);
  }
  for (Part* part : unknown) part->left = most;
  for (Part& part : parts)
    part.weight = std::pow(kReferenceSeconds / std::min(part.left, options_.long_job.in_seconds()),
                           options_.order);
}

std::vector<GridfoldRounds::Part> GridfoldRounds::parts_of(const RoundView& view,
                                                           std::span<const RoundType> types) const {
  const RoundMeasures measures = measures_of(view);
  std::vector<Part> parts;
  parts.reserve(view.jobs.size());
  for (const auto& job : view.jobs) {
    Part part;
    part.job = &job;
    part.page = &book_.page(job);
    const std::int32_t each = job.devices_each();
    const std::int32_t count = job.spec->roles.front().count;
    part.fair_tasks = is_rigid(*job.spec) ? count : measures.fair_tasks(each);
    part.fair_speed = fair_speed(part, types);
    part.held = task_count(job.places);
    part.held_type = type_of(types, job);
    part.most_tasks = declares_rates(*job.spec)
                          ? std::min(count, measures.devices / each)
                          : std::min({std::max(options_.growth * part.page->most_measured(),
                                               job.spec->roles.front().min),
                                      count, measures.devices / each});
    parts.push_back(part);
  }
  weigh(parts);
  return parts;
}

void GridfoldRounds::add_makespan_shares(std::vector<Part>& parts,
                                         std::span<const RoundType> types) {
  std::vector<SharedJob> gangs;
  std::vector<Part*> of_gang;
  std::vector<std::int32_t> devices;
  for (const RoundType& type : types) devices.push_back(type.devices);
  for (Part& part : parts) {
    const RoundJob& job = *part.job;
    const Role& role = job.spec->roles.front();
    const auto left = declared_steps_left(job);
    if (!declares_rates(*job.spec) || !left.is_known() || role.min != role.count) continue;
    SharedJob& gang = gangs.emplace_back();
    gang.devices = role.count * job.devices_each();
    gang.steps_left = left.value();
    for (const RoundType& type : types) {
      const std::int32_t nodes = type.fewest_nodes(role.count, job.devices_each());
      const bool fits = may_run_on(job, type) && gang.devices <= type.devices;
      gang.rates.push_back(fits ? speed_on(job, *part.page, type, nodes, role.count) : 0);
    }
    of_gang.push_back(&part);
  }
  const auto answer = makespan_shares(gangs, devices, steps_);
  if (!answer) return;  // by their costs, then
  for (std::size_t g = 0; g < of_gang.size(); ++g) of_gang[g]->shares = answer->shares[g];
}

ShareCurve GridfoldRounds::curve_of(const Part& part, std::span<const RoundType> types,
                                    std::size_t type) const {
  const RoundJob& job = *part.job;
  ShareCurve curve;
  curve.devices_each = job.devices_each();
  const std::int32_t node_tasks = std::max(1, types[type].node_devices / curve.devices_each);
  curve.costs.push_back(cost(part, types, type, 0, 0, true));
  if (!may_run_on(job, types[type])) return curve;
  const std::int64_t whole = types[type].whole_tasks(curve.devices_each);
  for (std::int32_t n = 1; n <= std::max(part.most_tasks, part.held); ++n) {
    const bool stays = n == part.held && type == part.held_type;
    // Beyond one node whole ones only: what is left of a node that is shared
    // out finds nobody that it fits. A scaling table says itself what is well.
    // The job's minimum is always offered: without it the job would never begin.
    const bool is_whole = n <= node_tasks || n % node_tasks == 0 || declares_rates(*job.spec) ||
                          n == job.spec->roles.front().min;
    const std::int32_t nodes =
        stays ? static_cast<std::int32_t>(job.places.size()) : (n + node_tasks - 1) / node_tasks;
    if (!may_have(job, n) || n > whole || (!stays && !is_whole) ||
        (declares_rates(*job.spec) && speedup(part, types[type], nodes, n) <= 0)) {
      curve.costs.push_back(kNotOffered);
      continue;
    }
    curve.costs.push_back(cost(part, types, type, nodes, n, !stays));
  }
  return curve;
}

GridfoldRounds::Timed GridfoldRounds::timed_of(const std::vector<Part>& parts,
                                               const RoundView& view) const {
  Timed timed;
  const std::int32_t node_devices = measures_of(view).node_devices;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const RoundJob& job = *parts[i].job;
    if (!job.spec->training || !job.spec->training->deadline.is_known()) continue;
    // Deadlines are planned in powers of two from one task on.
    if (job.spec->roles.front().min > 1 || job.spec->roles.front().multiple_of > 1) continue;
    DeadlineJob told;
    if (options_.knows == RoundKnowledge::kProfiled) {
      told = true_deadline_job(job, view.now, node_devices, *options_.truth);
    } else if (const Known<double> left = steps_left(job); left.is_known()) {
      told = fitted_deadline_job(job, view.now, node_devices, *parts[i].page, parts[i].most_tasks,
                                 left.value());
    }
    if (std::none_of(told.rates.begin(), told.rates.end(), [](double r) { return r > 0; }))
      continue;
    timed.parts.push_back(i);
    timed.jobs.push_back(std::move(told));
  }
  return timed;
}

std::vector<std::int32_t> GridfoldRounds::least_of(const std::vector<Part>& parts, Timed& timed,
                                                   std::int32_t devices) {
  std::vector<std::int32_t> least = deadlines_.least(timed.jobs, devices);
  // Among none but jobs with deadlines what is lent reaches the late ones too.
  for (std::size_t i = timed.jobs.size(); timed.jobs.size() < parts.size() && i-- > 0;) {
    if (deadlines_.can_alone(timed.jobs[i])) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    timed.jobs.erase(timed.jobs.begin() + at);
    timed.parts.erase(timed.parts.begin() + at);
    least.erase(least.begin() + at);
  }
  return least;
}

std::vector<TypeChoice> GridfoldRounds::choose(const std::vector<Part>& parts,
                                               std::span<const RoundType> types, Timed& timed) {
  std::vector<std::int32_t> devices;
  for (const RoundType& type : types) devices.push_back(type.devices);
  std::vector<std::int32_t> least;
  if (!timed.jobs.empty()) least = least_of(parts, timed, devices.front());
  for (std::size_t i = 0; i < least.size(); ++i)
    devices.front() -= least[i] * timed.jobs[i].devices_each;

  std::vector<std::vector<ShareCurve>> curves(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t t = 0; t < types.size(); ++t) {
      if (timed.has(i)) {
        curves[i].push_back({{0}, parts[i].job->devices_each()});
      } else {
        curves[i].push_back(curve_of(parts[i], types, t));
      }
    }
  }
  std::vector<TypeChoice> choices = choose_types(curves, devices, steps_);
  if (timed.jobs.empty()) return choices;
  for (std::size_t i = 0; i < parts.size(); ++i)
    devices.front() -= choices[i].tasks * parts[i].job->devices_each();
  deadlines_.lend(timed.jobs, devices.front(), least);
  steps_ += deadlines_.steps();
  for (std::size_t i = 0; i < least.size(); ++i) choices[timed.parts[i]] = {0, least[i]};
  return choices;
}

RoundPlan GridfoldRounds::plan(const RoundView& view) {
  steps_ = 0;
  if (view.jobs.empty() || view.nodes.empty()) return {};
  if (options_.knows == RoundKnowledge::kShared) programs_.update(view);
  lengths_.update(view);
  book_.update(view, options_.knows == RoundKnowledge::kShared ? &programs_ : nullptr);
  std::vector<RoundType> types = types_of(view.nodes);
  std::vector<Part> parts = parts_of(view, types);
  if (options_.objective == RoundObjective::kMakespan) add_makespan_shares(parts, types);
  std::vector<RoundAssignment> across = span_types(parts, types, view);
  if (!across.empty()) types = types_of(nodes_beside(view, across));

  Timed timed;
  if (types.size() == 1) timed = timed_of(parts, view);
  const std::vector<TypeChoice> choices = choose(parts, types, timed);
  std::vector<TypeSeat> seats;
  for (std::size_t i = 0; i < parts.size(); ++i) seats.push_back({parts[i].job, choices[i]});
  RoundPlan plan = seat_types(
      types, seats,
      [&](std::size_t i, std::span<const RoundPlace> at) {
        const auto& held = parts[i].job->places;
        const bool stays = std::equal(at.begin(), at.end(), held.begin(), held.end());
        if (timed.has(i)) return kShort * (choices[i].tasks - task_count(at)) + (stays ? 0 : 1);
        return cost(parts[i], types, choices[i].type, static_cast<std::int32_t>(at.size()),
                    task_count(at), !stays);
      },
      steps_);
  std::move(across.begin(), across.end(), std::back_inserter(plan.assignments));
  return plan;
}

}  // namespace gridfold
