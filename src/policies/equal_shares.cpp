#include "policies/equal_shares.h"

#include <algorithm>
#include <numeric>

#include "policies/round_pool.h"
#include "policies/settings.h"

namespace gridfold {
namespace {

const Role& role_of(const RoundJob& job) { return job.spec->roles.front(); }

std::int64_t tasks_of(const RoundJob& job) {
  std::int64_t tasks = 0;
  for (const RoundPlace& place : job.places) tasks += place.tasks;
  return tasks;
}

}  // namespace

Result<EqualSharesOptions> read_equal_shares_options(const PolicyOptions& options) {
  SettingsReader settings("equal_shares", options.settings);
  EqualSharesOptions own;
  own.round = settings.duration("round", options.round);
  if (auto error = settings.finish()) return *error;
  return own;
}

std::vector<std::int64_t> EqualShares::shares(const RoundView& view) {
  RoundPool pool(view);
  const auto nodes = static_cast<std::int64_t>(view.nodes.size());
  std::vector<std::int64_t> tasks(view.jobs.size(), 0);
  std::vector<std::size_t> growing;
  const auto add = [&](std::size_t i, std::int64_t more) {
    steps_ += nodes;
    const std::vector<RoundPlace> places = pool.consolidated(view.jobs[i], more);
    if (places.empty()) return false;
    pool.take(view.jobs[i], places);
    tasks[i] += more;
    return true;
  };
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    if (add(i, role_of(view.jobs[i]).min)) growing.push_back(i);
  }
  while (!growing.empty()) {
    // The first of those with the fewest devices.
    const auto next =
        std::min_element(growing.begin(), growing.end(), [&](std::size_t a, std::size_t b) {
          return tasks[a] * view.jobs[a].devices_each() < tasks[b] * view.jobs[b].devices_each();
        });
    const Role& role = role_of(view.jobs[*next]);
    if (tasks[*next] + role.multiple_of > role.count || !add(*next, role.multiple_of))
      growing.erase(next);
  }
  return tasks;
}

RoundPlan EqualShares::plan(const RoundView& view) {
  steps_ = 0;
  const std::vector<std::int64_t> share = shares(view);
  RoundPool pool(view);
  RoundPlan plan;
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    const RoundJob& job = view.jobs[i];
    if (share[i] > 0 && tasks_of(job) == share[i]) {
      pool.take(job, job.places);
      plan.assignments.push_back({job.id, job.places});
    } else if (share[i] > 0) {
      moving.push_back(i);
    }
  }
  // The largest first; where the rest lies too scattered, a job gets less.
  std::stable_sort(moving.begin(), moving.end(),
                   [&](std::size_t a, std::size_t b) { return share[a] > share[b]; });
  for (const std::size_t i : moving) {
    const RoundJob& job = view.jobs[i];
    const Role& role = role_of(job);
    for (std::int64_t tasks = share[i]; tasks >= role.min; tasks -= role.multiple_of) {
      steps_ += static_cast<std::int64_t>(view.nodes.size());
      std::vector<RoundPlace> places = pool.consolidated(job, tasks);
      if (places.empty()) continue;
      pool.take(job, places);
      plan.assignments.push_back({job.id, std::move(places)});
      break;
    }
  }
  return plan;
}

}  // namespace gridfold
