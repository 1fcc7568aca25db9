#include "tests/doctor/trial.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace gridfold::doctor_worlds {
namespace {

// Which draw of the fault is put in: the first that costs a tenth of all devices'
// time when it is there alone, so that it is worth finding.
int draw_of(std::uint64_t seed, Cause cause) {
  constexpr int kMost = 20;
  static std::map<std::pair<std::uint64_t, Cause>, int> known;
  const auto [at, added] = known.try_emplace({seed, cause}, 0);
  // More devices are always worth it: nodes were taken out until there were few.
  if (!added || cause == Cause::kTooFew) return at->second;
  for (int draw = 0; draw < kMost; ++draw) {
    const World ill = inject(healthy_world(seed), cause, draw);
    const World well = cause == Cause::kGangWait ? mend(ill, cause) : healthy_world(seed);
    const Truth truth = run_day(ill).truth;
    at->second = draw;
    if (truth.lost - run_day(well).truth.lost >= 0.1 * truth.supplied) break;
  }
  return at->second;
}

World world_with(std::uint64_t seed, const std::vector<Cause>& injected, std::optional<Cause> but) {
  World world = healthy_world(seed);
  for (const Cause cause : injected) {
    const bool stays = cause != but || cause == Cause::kGangWait;
    if (stays) world = inject(std::move(world), cause, draw_of(seed, cause));
    if (cause == but) world = mend(std::move(world), cause);
  }
  return world;
}

World with(World world, const std::vector<Fix>& fixes) {
  for (const Fix& fix : fixes) world = with(std::move(world), fix);
  return world;
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
  // What the fix of a finding gives in the real day.
  const auto given_by = [&](const Finding& finding) {
    const Truth fixed = run_day(with(world, finding.fixes)).truth;
    return finding.cause == Cause::kTooFew ? fixed.busy - run.truth.busy
                                           : run.truth.lost - fixed.lost;
  };
  for (const Cause cause : trial.injected) {
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const Finding& f) { return f.cause == cause; });
    double removed = 0;
    if (cause != Cause::kTooFew) {
      const World without = world_with(seed, trial.injected, cause);
      removed = run.truth.lost - run_day(without).truth.lost;
    }
    trial.removed.push_back(removed);
    trial.truth.push_back(found != findings.end() ? given_by(*found) : removed);
  }
  if (findings.empty()) return trial;
  const Finding& top = findings.front();
  trial.top_claimed = device_hours(top.given_back);
  trial.top_true = given_by(top);
  const auto at = std::find(trial.injected.begin(), trial.injected.end(), top.cause);
  if (at != trial.injected.end() && top.cause != Cause::kTooFew)
    trial.top_removed = trial.removed[static_cast<std::size_t>(at - trial.injected.begin())];
  else
    trial.top_removed = trial.top_true;
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

bool Trial::hours_are_those_of_the_fault() const {
  return std::abs(top_claimed - top_removed) <= 0.1 * std::abs(top_removed);
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
