#include "policies/gridfold_rounds.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "policies/deadline_jobs.h"
#include "policies/round_room.h"
#include "policies/settings.h"
#include "policies/share_out.h"

namespace gridfold {
namespace {

constexpr double kNotOffered = 1e9;  // more than any sum of costs
// A task with a deadline that finds no place costs more than all moves.
constexpr double kShort = 1e6;
constexpr double kReferenceSeconds = 600;
constexpr double kLeastSeconds = 30;  // what is left is never taken to be less

constexpr std::array<std::string_view, 4> kKnowledge = {"declared", "nothing", "shared",
                                                        "profiled"};
constexpr RoundKnowledge kKnowledgeOf[] = {RoundKnowledge::kDeclared, RoundKnowledge::kNothing,
                                           RoundKnowledge::kShared, RoundKnowledge::kProfiled};

}  // namespace

Result<GridfoldRoundsOptions> read_gridfold_rounds_options(const PolicyOptions& options) {
  SettingsReader settings("gridfold", options.settings);
  GridfoldRoundsOptions own;
  own.round = settings.duration("round", options.round);
  own.knows = kKnowledgeOf[settings.choice("knows", kKnowledge)];
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

double GridfoldRounds::speedup(const Part& part, std::int32_t nodes, std::int32_t tasks) const {
  if (tasks == 0) return 0;
  if (part.fair_goodput <= 0) return tasks / part.fair_tasks;
  return part.page->goodput(nodes, tasks) / part.fair_goodput;
}

double GridfoldRounds::cost(const Part& part, std::int32_t nodes, std::int32_t tasks,
                            bool moved) const {
  double speed = speedup(part, nodes, tasks);
  if (moved && speed > 0) {
    const double until = std::min(options_.horizon.in_seconds(), part.left / speed);
    speed *= until / (until + options_.restart.in_seconds());
  }
  return part.weight / std::pow(speed + options_.idle_worth, options_.evenness);
}

Known<double> GridfoldRounds::steps_left(const RoundJob& job) const {
  if (options_.knows == RoundKnowledge::kNothing || !job.spec->training ||
      !job.spec->training->epochs.is_known()) {
    return Unknown{};
  }
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

double GridfoldRounds::seconds_left(const Part& part) const {
  const RoundJob& job = *part.job;
  const Known<double> steps = steps_left(job);
  if (steps.is_known() && part.fair_goodput > 0) return steps.value() / part.fair_goodput;
  // As much as it had.
  return static_cast<double>(job.executed_ns) * 1e-9 / (job.devices_each() * part.fair_tasks);
}

std::vector<GridfoldRounds::Part> GridfoldRounds::parts_of(const RoundView& view) {
  const RoundMeasures measures = measures_of(view);
  std::vector<Part> parts;
  parts.reserve(view.jobs.size());
  for (const auto& job : view.jobs) {
    Part part;
    part.job = &job;
    part.page = &book_.page(job);
    const std::int32_t each = job.devices_each();
    part.node_tasks = measures.tasks_a_node(each);
    part.fair_tasks = measures.fair_tasks(each);
    if (part.page->is_fitted()) {
      const auto fair =
          std::min(static_cast<std::int32_t>(part.fair_tasks), job.spec->roles.front().count);
      part.fair_goodput = part.page->goodput((fair + part.node_tasks - 1) / part.node_tasks, fair);
    }
    part.held = task_count(job.places);
    part.most_tasks = std::min({std::max(options_.growth * part.page->most_measured(), 1),
                                job.spec->roles.front().count, measures.devices / each});
    part.left = std::max(seconds_left(part), kLeastSeconds);
    part.weight = std::pow(kReferenceSeconds / std::min(part.left, options_.long_job.in_seconds()),
                           options_.order);
    parts.push_back(part);
  }
  return parts;
}

GridfoldRounds::Timed GridfoldRounds::timed_of(const std::vector<Part>& parts,
                                               const RoundView& view) const {
  Timed timed;
  const std::int32_t node_devices = measures_of(view).node_devices;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const RoundJob& job = *parts[i].job;
    if (!job.spec->training || !job.spec->training->deadline.is_known()) continue;
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

std::vector<std::int32_t> GridfoldRounds::share(const std::vector<Part>& parts, Timed& timed,
                                                std::int32_t devices) {
  if (timed.jobs.empty()) return share_by_work(parts, timed, devices);
  std::vector<std::int32_t> least = deadlines_.least(timed.jobs, devices);
  // Among none but jobs with deadlines what is lent reaches the late ones too.
  for (std::size_t i = timed.jobs.size(); timed.jobs.size() < parts.size() && i-- > 0;) {
    if (deadlines_.can_alone(timed.jobs[i])) continue;
    timed.jobs.erase(timed.jobs.begin() + static_cast<std::ptrdiff_t>(i));
    timed.parts.erase(timed.parts.begin() + static_cast<std::ptrdiff_t>(i));
    least.erase(least.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < least.size(); ++i) devices -= least[i] * timed.jobs[i].devices_each;
  std::vector<std::int32_t> tasks = share_by_work(parts, timed, devices);
  for (std::size_t i = 0; i < parts.size(); ++i) devices -= tasks[i] * parts[i].job->devices_each();
  deadlines_.lend(timed.jobs, devices, least);
  steps_ += deadlines_.steps();
  for (std::size_t i = 0; i < least.size(); ++i) tasks[timed.parts[i]] = least[i];
  return tasks;
}

std::vector<std::int32_t> GridfoldRounds::share_by_work(const std::vector<Part>& parts,
                                                        const Timed& timed, std::int32_t devices) {
  std::vector<ShareCurve> curves;
  curves.reserve(parts.size());
  for (const auto& part : parts) {
    ShareCurve curve;
    curve.devices_each = part.job->devices_each();
    if (std::binary_search(timed.parts.begin(), timed.parts.end(), curves.size())) {
      curve.costs.push_back(0);
      curves.push_back(std::move(curve));
      continue;
    }
    for (std::int32_t n = 0; n <= std::max(part.most_tasks, part.held); ++n) {
      const bool stays = n == part.held && n > 0;
      // Beyond one node whole ones only: what is left of a node that is shared
      // out finds nobody that it fits.
      if (!stays && n > part.node_tasks && n % part.node_tasks != 0) {
        curve.costs.push_back(kNotOffered);
        continue;
      }
      const std::int32_t nodes = stays ? static_cast<std::int32_t>(part.job->places.size())
                                       : (n + part.node_tasks - 1) / part.node_tasks;
      curve.costs.push_back(cost(part, nodes, n, !stays));
    }
    curves.push_back(std::move(curve));
  }
  return share_out(curves, devices, steps_);
}

RoundPlan GridfoldRounds::plan(const RoundView& view) {
  steps_ = 0;
  if (view.jobs.empty() || view.nodes.empty()) return {};
  if (options_.knows == RoundKnowledge::kShared) programs_.update(view);
  book_.update(view, options_.knows == RoundKnowledge::kShared ? &programs_ : nullptr);
  const std::vector<Part> parts = parts_of(view);
  Timed timed = timed_of(parts, view);
  const auto tasks = share(parts, timed, device_count(view.nodes));
  std::vector<SeatWish> wishes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    wishes.push_back({parts[i].job, tasks[i], parts[i].held > 0 && parts[i].held == tasks[i]});
  }
  const auto places = seat_best(
      view.nodes, std::move(wishes),
      [&](std::size_t i, std::span<const RoundPlace> at) {
        const bool stays = std::equal(at.begin(), at.end(), parts[i].job->places.begin(),
                                      parts[i].job->places.end());
        if (std::binary_search(timed.parts.begin(), timed.parts.end(), i)) {
          return kShort * (tasks[i] - task_count(at)) + (stays ? 0 : 1);
        }
        return cost(parts[i], static_cast<std::int32_t>(at.size()), task_count(at), !stays);
      },
      steps_);
  RoundPlan plan;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!places[i].empty()) plan.assignments.push_back({parts[i].job->id, places[i]});
  }
  return plan;
}

}  // namespace gridfold
