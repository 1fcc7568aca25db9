#include "tests/doctor/trial.h"

#include <algorithm>
#include <cmath>

namespace gridfold::doctor_worlds {
namespace {

World world_with(std::uint64_t seed, const std::vector<Cause>& injected, std::optional<Cause> but) {
  World world = healthy_world(seed);
  for (const Cause cause : injected) {
    const bool stays = cause != but || cause == Cause::kGangWait;
    if (stays) world = inject(std::move(world), cause);
    if (cause == but) world = mend(std::move(world), cause);
  }
  return world;
}

bool is_removal(const Fix& fix) {
  return !std::holds_alternative<PlanBy>(fix) && !std::holds_alternative<BuyNodes>(fix);
}

}  // namespace

Trial try_day(std::uint64_t seed, std::vector<Cause> injected, Asked asked) {
  Trial trial;
  trial.seed = seed;
  trial.injected = std::move(injected);
  const World world = world_with(seed, trial.injected, {});
  const DayRun run = run_day(world);
  trial.supplied = run.truth.supplied;
  trial.diagnosis = diagnose(asked == Asked::kAtOnce ? run.at_once : run.in_hindsight);
  trial.base_lost = run.truth.lost;
  trial.replayed_lost = device_hours(trial.diagnosis.balance.lost());
  const auto& findings = trial.diagnosis.findings;
  const auto bought = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.cause == Cause::kTooFew;
  });
  double more_work = 0;
  if (bought != findings.end())
    more_work = run_day(with(world, bought->fixes.front())).truth.busy - run.truth.busy;
  for (const Cause cause : trial.injected) {
    if (cause == Cause::kTooFew) {
      trial.truth.push_back(more_work);
      continue;
    }
    const World without = world_with(seed, trial.injected, cause);
    trial.truth.push_back(run.truth.lost - run_day(without).truth.lost);
  }
  if (findings.empty()) return trial;
  const Finding& top = findings.front();
  trial.top_claimed = device_hours(top.given_back);
  if (top.cause == Cause::kTooFew) {
    trial.top_true = more_work;
  } else if (!is_removal(top.fixes.front())) {
    trial.top_true = run.truth.lost - run_day(with(world, top.fixes.front())).truth.lost;
  } else {
    const auto at = std::find(trial.injected.begin(), trial.injected.end(), top.cause);
    if (at != trial.injected.end())
      trial.top_true = trial.truth[static_cast<std::size_t>(at - trial.injected.begin())];
  }
  return trial;
}

std::optional<Cause> Trial::true_top() const {
  std::optional<Cause> top;
  double most = 0;
  bool recoverable = false;
  for (std::size_t i = 0; i < injected.size(); ++i) {
    if (injected[i] == Cause::kTooFew) continue;
    recoverable |= truth[i] >= 0.1 * supplied;
    if (truth[i] < 0.02 * supplied || truth[i] <= most) continue;
    top = injected[i];
    most = truth[i];
  }
  const bool short_of =
      std::find(injected.begin(), injected.end(), Cause::kTooFew) != injected.end();
  if (short_of && !recoverable && (!top || truth.back() > most)) top = Cause::kTooFew;
  return top;
}

bool Trial::top_is_right() const {
  const auto top = true_top();
  if (!top) return found_nothing();
  return !found_nothing() && diagnosis.findings.front().cause == *top;
}

bool Trial::hours_are_right() const {
  return std::abs(top_claimed - top_true) <= 0.1 * std::abs(top_true);
}

bool Trial::buys_needlessly() const {
  const bool buys =
      std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                  [](const Finding& finding) { return finding.cause == Cause::kTooFew; });
  for (std::size_t i = 0; i < injected.size(); ++i) {
    if (buys && injected[i] != Cause::kTooFew && truth[i] >= 0.1 * supplied) return true;
  }
  return false;
}

std::string name_of(const std::vector<Cause>& injected) {
  if (injected.empty()) return "control";
  std::string name;
  for (const Cause cause : injected)
    name += (name.empty() ? "" : "+") + std::string(to_string(cause));
  return name;
}

}  // namespace gridfold::doctor_worlds
