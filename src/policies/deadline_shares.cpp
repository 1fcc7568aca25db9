#include "policies/deadline_shares.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gridfold {
namespace {

// Steps a second on so many tasks: those of the largest measured share within.
double rate_on(const DeadlineJob& job, std::int32_t tasks) {
  double rate = 0;
  for (std::size_t k = 0; k < job.rates.size() && (1 << k) <= tasks; ++k) {
    rate = std::max(rate, job.rates[k]);
  }
  return rate;
}

// The smallest share that is as fast as any within `tasks`; 0: none runs.
std::int32_t useful_share(const DeadlineJob& job, std::int32_t tasks) {
  double best = 0;
  std::int32_t share = 0;
  for (std::size_t k = 0; k < job.rates.size() && (1 << k) <= tasks; ++k) {
    if (job.rates[k] <= best) continue;
    best = job.rates[k];
    share = 1 << k;
  }
  return share;
}

// The next larger share that is faster; 0: there is none.
std::int32_t next_share(const DeadlineJob& job, std::int32_t tasks) {
  const double rate = rate_on(job, tasks);
  for (std::size_t k = 0; k < job.rates.size(); ++k) {
    if ((1 << k) > tasks && job.rates[k] > rate) return 1 << k;
  }
  return 0;
}

}  // namespace

bool DeadlineShares::is_admitted(JobId job) const {
  const auto found = standing_.find(job);
  return found != standing_.end() && found->second == Standing::kAdmitted;
}

bool DeadlineShares::can_alone(const DeadlineJob& job) const {
  for (std::size_t k = 0; k < job.rates.size(); ++k) {
    if (job.rates[k] <= 0) continue;
    const double begin = job.held == (1 << k) ? 0 : options_.restart;
    if (begin + job.left / job.rates[k] <= job.until) return true;
  }
  return false;
}

bool DeadlineShares::fill(const DeadlineJob& job, std::int32_t most, Profile& free, Fill& filled) {
  struct Use {
    double from, to;
    std::int32_t devices;
  };
  std::vector<Use> uses;
  double left = job.left;
  std::int32_t before = job.held;
  for (auto at = free.begin(); at != free.end() && left > 0; ++at) {
    ++steps_;
    const auto next = std::next(at);
    const double end = next == free.end() ? std::numeric_limits<double>::infinity() : next->first;
    if (at->first >= job.until) break;
    const std::int32_t tasks = useful_share(job, std::min(most, at->second / job.devices_each));
    if (at == free.begin()) filled.now = tasks;
    if (tasks > 0) {
      const double begin = at->first + (tasks == before ? 0 : options_.restart);
      const double rate = rate_on(job, tasks);
      const double done = begin + left / rate;
      left = done <= end ? 0 : left - std::max(0.0, end - begin) * rate;
      const double to = left > 0 ? end : std::ceil(done / options_.round) * options_.round;
      if (left <= 0 && done > job.until) return false;
      uses.push_back({at->first, std::min(to, end), tasks * job.devices_each});
      if (to > end && left <= 0 && next != free.end()) {
        uses.push_back({end, to, std::min(tasks * job.devices_each, next->second)});
      }
    }
    before = tasks;
  }
  if (left > 0) return false;
  for (const Use& use : uses) {
    for (const double edge : {use.from, use.to}) {
      auto after = free.upper_bound(edge);
      const std::int32_t there = std::prev(after)->second;
      free.try_emplace(edge, there);
    }
    for (auto at = free.find(use.from); at != free.end() && at->first < use.to; ++at) {
      at->second = std::max(0, at->second - use.devices);
    }
  }
  filled.suffices = true;
  return true;
}

DeadlineShares::Fill DeadlineShares::fill_least(const DeadlineJob& job, Profile& free) {
  Fill filled;
  for (std::size_t k = 0; k < job.rates.size(); ++k) {
    if (job.rates[k] > 0 && fill(job, 1 << k, free, filled)) return filled;
  }
  return {};
}

std::vector<std::size_t> DeadlineShares::fill_all(std::span<const DeadlineJob> jobs,
                                                  std::vector<std::size_t> chosen, Profile& free,
                                                  std::vector<std::int32_t>& tasks) {
  std::vector<std::size_t> lacking;
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a].until < jobs[b].until; });
  for (const std::size_t i : chosen) {
    const Fill filled = fill_least(jobs[i], free);
    tasks[i] = filled.now;
    if (!filled.suffices) lacking.push_back(i);
  }
  return lacking;
}

std::vector<std::int32_t> DeadlineShares::least(std::span<const DeadlineJob> jobs,
                                                std::int32_t devices) {
  steps_ = 0;
  std::map<JobId, Standing> standing;
  std::vector<std::size_t> admitted, asking, refused;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto found = standing_.find(jobs[i].id);
    Standing& now = standing[jobs[i].id];
    now = found == standing_.end() ? Standing::kNew : found->second;
    // Who is late vetoes nobody.
    if (!can_alone(jobs[i]))
      now = Standing::kRefused;
    else if (now == Standing::kAdmitted)
      admitted.push_back(i);
    else
      (now == Standing::kNew ? asking : refused).push_back(i);
  }
  standing_ = std::move(standing);
  Profile free{{0, devices}};
  std::vector<std::int32_t> tasks(jobs.size(), 0);
  // Who turns out to be too late after all vetoes nobody either.
  for (const std::size_t i : fill_all(jobs, admitted, free, tasks)) {
    standing_[jobs[i].id] = Standing::kRefused;
    std::erase(admitted, i);
  }
  for (const std::size_t i : asking) {
    auto with = admitted;
    with.push_back(i);
    Profile trial{{0, devices}};
    std::vector<std::int32_t> then(jobs.size(), 0);
    const bool fits = fill_all(jobs, with, trial, then).empty();
    standing_[jobs[i].id] = fits ? Standing::kAdmitted : Standing::kRefused;
    if (!fits) continue;
    admitted = std::move(with);
    free = std::move(trial);
    tasks = std::move(then);
  }
  if (!options_.retries) return tasks;
  for (const std::size_t i : refused) {
    const Fill filled = fill_least(jobs[i], free);
    if (!filled.suffices) continue;
    standing_[jobs[i].id] = Standing::kAdmitted;
    tasks[i] = filled.now;
  }
  return tasks;
}

double DeadlineShares::worth(const DeadlineJob& job, std::int32_t from, std::int32_t to) const {
  const double slow = rate_on(job, from);
  const double fast = rate_on(job, to);
  if (fast <= slow) return 0;
  // A share that is changed anyway costs no restart more.
  if (options_.keeps && from == job.held && from > 0) {
    const double rest = job.left / fast;
    if (rest < options_.amortise || job.left / slow - rest < 2 * options_.restart) return 0;
  }
  const std::int32_t one = useful_share(job, 1) > 0 ? 1 : next_share(job, 0);
  const double usual = rate_on(job, one) / one;
  return (fast - slow) / (to - from) / usual / job.devices_each;
}

void DeadlineShares::keep_held(std::span<const DeadlineJob> jobs, std::vector<std::int32_t>& tasks,
                               std::int32_t& devices) const {
  // Those that are moved at the greatest loss come first: the longest rest.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].held > tasks[i] && rate_on(jobs[i], jobs[i].held) > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return is_admitted(jobs[a].id) > is_admitted(jobs[b].id);
  });
  for (const std::size_t i : order) {
    const std::int32_t more = (jobs[i].held - tasks[i]) * jobs[i].devices_each;
    if (more > devices) continue;
    tasks[i] = jobs[i].held;
    devices -= more;
  }
}

std::int32_t DeadlineShares::lend(std::span<const DeadlineJob> jobs, std::int32_t devices,
                                  std::vector<std::int32_t>& tasks) {
  if (options_.keeps) keep_held(jobs, tasks, devices);
  for (const bool in_time : {true, false}) {
    while (devices > 0) {
      std::size_t best = jobs.size();
      std::int32_t share = 0;
      double most = 0;
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (in_time && !is_admitted(jobs[i].id) && !can_alone(jobs[i])) continue;
        const std::int32_t next = next_share(jobs[i], tasks[i]);
        if (next == 0 || (next - tasks[i]) * jobs[i].devices_each > devices) continue;
        const double gain = worth(jobs[i], tasks[i], next);
        ++steps_;
        if (gain > most) {
          most = gain;
          best = i;
          share = next;
        }
      }
      if (best == jobs.size()) break;
      devices -= (share - tasks[best]) * jobs[best].devices_each;
      tasks[best] = share;
    }
  }
  return devices;
}

}  // namespace gridfold
