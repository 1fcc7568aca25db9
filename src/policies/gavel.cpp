#include "policies/gavel.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "planner/type_shares.h"
#include "policies/round_pool.h"
#include "policies/settings.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 2> kObjectives = {"max_min", "makespan"};

std::int32_t tasks_of(const RoundJob& job) {
  return static_cast<std::int32_t>(preferred_tasks(*job.spec));
}

// On as few nodes of the type as it needs, as a gang.
double rate_on(const RoundJob& job, const RoundType& type) {
  if (!may_run_on(job, type)) return 0;
  const std::int32_t nodes = type.fewest_nodes(tasks_of(job), job.devices_each());
  return declared_rate(*job.spec->training, type.model, nodes, tasks_of(job));
}

// Jobs of one type, the largest first; of equal ones those that can stay.
void place_gangs(const RoundType& type, std::vector<const RoundJob*> jobs, RoundPlan& plan) {
  RoundView own;
  own.nodes = type.nodes;
  RoundPool pool(own);
  std::map<NodeId, std::int64_t> free;
  for (const RoundNode& node : type.nodes) free[node.id] = node.devices;
  const auto devices = [](const RoundJob& job) { return tasks_of(job) * job.devices_each(); };
  const auto could_stay = [&](const RoundJob& job) {
    return !job.places.empty() &&
           std::all_of(job.places.begin(), job.places.end(), [&](const RoundPlace& place) {
             const auto at = free.find(place.node);
             return at != free.end() && at->second >= place.tasks * job.devices_each();
           });
  };
  const auto seat = [&](const RoundJob& job, std::vector<RoundPlace> places) {
    if (places.empty()) return;  // it waits: the gaps are too small
    for (const RoundPlace& place : places) free[place.node] -= place.tasks * job.devices_each();
    pool.take(job, places);
    plan.assignments.push_back({job.id, std::move(places)});
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const RoundJob* a, const RoundJob* b) { return devices(*a) > devices(*b); });
  for (std::size_t from = 0; from < jobs.size();) {
    std::size_t end = from;
    while (end < jobs.size() && devices(*jobs[end]) == devices(*jobs[from])) ++end;
    std::vector<const RoundJob*> moving;
    for (; from < end; ++from) {
      if (could_stay(*jobs[from])) {
        seat(*jobs[from], jobs[from]->places);
      } else {
        moving.push_back(jobs[from]);
      }
    }
    for (const RoundJob* job : moving) seat(*job, pool.consolidated(*job, tasks_of(*job)));
  }
}

}  // namespace

Result<GavelOptions> read_gavel_options(const PolicyOptions& options) {
  SettingsReader settings("gavel", options.settings);
  GavelOptions own;
  own.round = settings.duration("round", options.round);
  own.objective = settings.choice("objective", kObjectives) == 0 ? GavelObjective::kMaxMin
                                                                 : GavelObjective::kMakespan;
  own.reset = settings.duration("gavel.reset", own.reset);
  if (auto error = settings.finish()) return *error;
  return own;
}

// Who came, who went, and what the last round gave.
void Gavel::keep_accounts(const RoundView& view, const std::vector<RoundType>& types) {
  const std::size_t none = types.size();
  const double half = options_.round.in_seconds() / 2;
  std::vector<std::string> models;
  for (const RoundType& type : types) models.push_back(type.device_class + "/" + type.model);
  if (models != models_) {  // other types: all begins anew
    models_ = std::move(models);
    accounts_.clear();
    type_seconds_.assign(none, 0);
    last_reset_ = Instant::never();
  }
  const double passed = (view.now - last_plan_).in_seconds();
  last_plan_ = view.now;
  for (auto& [id, account] : accounts_) {
    if (account.ran_on == none) continue;
    account.seconds[account.ran_on] += passed;
    type_seconds_[account.ran_on] += passed;
  }
  std::map<JobId, Account> kept;
  for (const RoundJob& job : view.jobs) {
    const auto found = accounts_.find(job.id);
    if (found != accounts_.end()) {
      kept.emplace(job.id, std::move(found->second));
      continue;
    }
    kept.emplace(job.id, Account{std::vector<double>(none, 0), std::vector<double>(none, half),
                                 std::vector<double>(none, 0), none});
    has_changed_ = true;
  }
  has_changed_ = has_changed_ || kept.size() != accounts_.size();
  accounts_ = std::move(kept);
}

void Gavel::reset(const RoundView& view, const std::vector<RoundType>& types) {
  const double half = options_.round.in_seconds() / 2;
  const double passed = last_reset_.is_never() ? 0 : (view.now - last_reset_).in_seconds();
  last_reset_ = view.now;
  has_changed_ = false;
  std::fill(type_seconds_.begin(), type_seconds_.end(), 0);
  std::vector<SharedJob> jobs;
  std::vector<std::int32_t> devices;
  for (const RoundType& type : types) devices.push_back(type.devices);
  for (const RoundJob& job : view.jobs) {
    Account& account = accounts_.at(job.id);
    SharedJob& shared = jobs.emplace_back();
    shared.devices = tasks_of(job) * job.devices_each();
    if (const auto left = declared_steps_left(job); left.is_known())
      shared.steps_left = left.value();
    for (std::size_t t = 0; t < types.size(); ++t) {
      shared.rates.push_back(shared.devices <= devices[t] ? rate_on(job, types[t]) : 0);
      account.owed[t] += account.share[t] * passed - (account.seconds[t] - half);
      account.seconds[t] = half;
      type_seconds_[t] += half;
    }
  }
  const auto answer = options_.objective == GavelObjective::kMaxMin
                          ? max_min_shares(jobs, devices, steps_)
                          : makespan_shares(jobs, devices, steps_);
  if (!answer) return;  // the old shares stand
  for (std::size_t j = 0; j < jobs.size(); ++j)
    accounts_.at(view.jobs[j].id).share = answer->shares[j];
}

double Gavel::priority(const Account& account, std::size_t type) const {
  const double part = account.seconds[type] / std::max(type_seconds_[type], 1.0);
  return account.share[type] / part;
}

RoundPlan Gavel::plan(const RoundView& view) {
  steps_ = 0;
  const std::vector<RoundType> types = types_of(view.nodes);
  keep_accounts(view, types);
  if (has_changed_ && (last_reset_.is_never() || view.now - last_reset_ >= options_.reset))
    reset(view, types);
  for (auto& [id, account] : accounts_) account.ran_on = types.size();
  RoundPlan plan;
  for (std::size_t t = 0; t < types.size(); ++t) {
    struct Queued {
      const RoundJob* job;
      Account* account;
      double priority;
    };
    std::vector<Queued> queue;
    for (const RoundJob& job : view.jobs) {
      Account& account = accounts_.at(job.id);
      if (account.ran_on != types.size() || rate_on(job, types[t]) <= 0) continue;
      queue.push_back({&job, &account, priority(account, t)});
    }
    steps_ += static_cast<std::int64_t>(view.jobs.size());
    std::stable_sort(queue.begin(), queue.end(), [t](const Queued& a, const Queued& b) {
      if (a.priority != b.priority) return a.priority > b.priority;
      if (a.account->owed[t] != b.account->owed[t]) return a.account->owed[t] > b.account->owed[t];
      return a.account->share[t] > b.account->share[t];
    });
    std::int32_t free = types[t].devices;
    std::vector<const RoundJob*> chosen;
    for (const Queued& next : queue) {
      const std::int32_t devices = tasks_of(*next.job) * next.job->devices_each();
      if (devices > free) continue;
      free -= devices;
      next.account->ran_on = t;
      chosen.push_back(next.job);
    }
    place_gangs(types[t], std::move(chosen), plan);
  }
  return plan;
}

}  // namespace gridfold
