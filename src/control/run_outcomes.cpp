#include "control/run_outcomes.h"

#include <algorithm>

namespace gridfold {
namespace {

constexpr __int128 kMillion = 1'000'000;

std::int64_t ratio_of(Duration ran, Duration guess) {
  const __int128 ratio = __int128{ran.ns} * kMillion / guess.ns;
  return static_cast<std::int64_t>(std::min<__int128>(ratio, INT64_MAX));
}

Duration times(Duration guess, std::int64_t ratio) {
  const __int128 ns = __int128{guess.ns} * ratio / kMillion;
  // Ten years are for ever, and can still be added to any time of today.
  const __int128 most = Duration::hours(24 * 3650).ns;
  return {static_cast<std::int64_t>(std::min(ns, most))};
}

}  // namespace

std::string_view to_string(RunBasis basis) {
  switch (basis) {
    case RunBasis::kLimit: return "limit";
    case RunBasis::kHistory: return "history";
    case RunBasis::kDefault: return "default";
  }
  return "";
}

RunGuess guess_run(const JobRecord& job, const Limit<Duration>& longest, Duration default_run) {
  RunGuess guess{default_run, RunBasis::kDefault, longest};
  if (const auto& own = job.spec->time_limit;
      !own.is_unlimited() && (longest.is_unlimited() || own.bound() < longest.bound()))
    guess.limit = own;
  if (!guess.limit.is_unlimited()) {
    guess.run = guess.limit.bound();
    guess.basis = RunBasis::kLimit;
  }
  if (job.expected_run.ns > 0 &&
      (guess.basis == RunBasis::kDefault || job.expected_run < guess.run)) {
    guess.run = job.expected_run;
    guess.basis = RunBasis::kHistory;
  }
  guess.run = std::max(guess.run, Duration::nanoseconds(1));
  return guess;
}

void RunOutcomes::ended(const RunGuess& guess, Duration ran) {
  Ratios& ratios = ratios_[static_cast<std::size_t>(guess.basis)];
  const std::int64_t ratio = ratio_of(std::max(ran, Duration{}), guess.run);
  const auto place = [&](std::int64_t value) {
    return std::lower_bound(ratios.sorted.begin(), ratios.sorted.end(), value);
  };
  if (ratios.in_order.size() == kKept) {
    ratios.sorted.erase(place(ratios.in_order.front()));
    ratios.in_order.pop_front();
  }
  ratios.in_order.push_back(ratio);
  ratios.sorted.insert(place(ratio), ratio);
}

Duration RunOutcomes::whole_run(const RunGuess& guess, Duration ran,
                                std::int64_t thousandths) const {
  const std::vector<std::int64_t>& sorted = of(guess.basis).sorted;
  // Nobody has lasted as long: half as long again.
  Duration run = ran + std::max(Duration{ran.ns / 2}, Duration::minutes(1));
  if (sorted.size() < kEnough) {
    if (guess.run > ran) run = guess.run;
  } else {
    const auto first = std::upper_bound(sorted.begin(), sorted.end(), ratio_of(ran, guess.run));
    const auto left = sorted.end() - (ran.ns > 0 ? first : sorted.begin());
    if (left > 0)
      run = std::max(times(guess.run, *(sorted.end() - left + left * thousandths / 1000)), ran);
  }
  if (!guess.limit.is_unlimited()) run = std::min(run, guess.limit.bound());
  return std::max({run, ran, Duration::nanoseconds(1)});
}

}  // namespace gridfold
