#include "policies/elasticflow.h"

#include <algorithm>

#include "policies/deadline_jobs.h"
#include "policies/round_room.h"
#include "policies/round_seating.h"
#include "policies/settings.h"

namespace gridfold {
namespace {

// A task without a place costs more than all moves.
constexpr double kShort = 1e6;

}  // namespace

Result<ElasticFlowOptions> read_elasticflow_options(const PolicyOptions& options) {
  SettingsReader settings("elasticflow", options.settings);
  ElasticFlowOptions own;
  own.round = settings.duration("round", options.round);
  own.shares.restart = settings.duration("elasticflow.restart", Duration::seconds(30)).in_seconds();
  own.shares.round = own.round.in_seconds();
  own.shares.keeps = false;
  own.shares.retries = false;
  own.truth = options.truth;
  if (auto error = settings.finish()) return *error;
  if (own.truth == nullptr) {
    Error error = invalid("policy elasticflow needs the true speeds of the jobs");
    error.field = "policy";
    error.hint = "choose a world that has them (--set world=elasticflow), or policy gridfold";
    return error;
  }
  return own;
}

RoundPlan ElasticFlow::plan(const RoundView& view) {
  steps_ = 0;
  if (view.jobs.empty() || view.nodes.empty()) return {};
  const RoundMeasures measures = measures_of(view);
  std::vector<DeadlineJob> jobs;
  for (const auto& job : view.jobs) {
    jobs.push_back(true_deadline_job(job, view.now, measures.node_devices, *options_.truth));
  }
  std::vector<std::int32_t> tasks = shares_.least(jobs, measures.devices);
  std::int32_t left = measures.devices;
  for (std::size_t i = 0; i < jobs.size(); ++i) left -= tasks[i] * jobs[i].devices_each;
  shares_.lend(jobs, left, tasks);
  steps_ = shares_.steps();
  std::vector<SeatWish> wishes;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    wishes.push_back({&view.jobs[i], tasks[i], jobs[i].held > 0 && jobs[i].held == tasks[i]});
  }
  const auto places = seat_best(
      view.nodes, std::move(wishes),
      [&](std::size_t i, std::span<const RoundPlace> at) {
        const auto& held = view.jobs[i].places;
        const bool stays = std::equal(at.begin(), at.end(), held.begin(), held.end());
        return kShort * (tasks[i] - task_count(at)) + (stays ? 0 : 1);
      },
      steps_);
  RoundPlan plan;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!places[i].empty()) plan.assignments.push_back({view.jobs[i].id, places[i]});
  }
  return plan;
}

}  // namespace gridfold
