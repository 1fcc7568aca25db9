// Eight causes singly and in pairs, and days with nothing wrong. Every build
// tries each cause once; GRIDFOLD_DOCTOR_SEEDS=10 tries all days of as many
// seeds and prints a line for each, and what they come to.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/doctor/trial.h"

namespace gridfold::doctor_worlds {
namespace {

using Kind = std::vector<Cause>;

std::vector<Kind> singles() {
  std::vector<Kind> kinds = {{}};
  for (std::size_t a = 0; a < kCauses; ++a) kinds.push_back({static_cast<Cause>(a)});
  return kinds;
}

std::vector<Kind> singles_and_pairs() {
  std::vector<Kind> kinds = singles();
  for (std::size_t a = 0; a < kCauses; ++a) {
    for (std::size_t b = a + 1; b < kCauses; ++b)
      kinds.push_back({static_cast<Cause>(a), static_cast<Cause>(b)});
  }
  return kinds;
}

std::string line_of(const Trial& trial) {
  std::string line = name_of(trial.injected) + ", seed " + std::to_string(trial.seed) + ":";
  if (!trial.top_is_right()) line += " WRONG TOP";
  if (!trial.hours_are_right()) line += " WRONG HOURS";
  if (trial.buys_needlessly()) line += " NEEDLESS BUY";
  char text[160];
  std::snprintf(text, sizeof text, " lost %.0f (replayed %.0f) of %.0f, top %.0f, truly %.0f;",
                trial.base_lost, trial.replayed_lost, trial.supplied, trial.top_claimed,
                trial.top_true);
  line += text;
  const auto add = [&](Cause cause, double hours) {
    std::snprintf(text, sizeof text, " %s=%.0f", std::string(to_string(cause)).c_str(), hours);
    line += text;
  };
  for (std::size_t i = 0; i < trial.injected.size(); ++i) add(trial.injected[i], trial.truth[i]);
  line += " | found:";
  for (const Finding& finding : trial.diagnosis.findings)
    add(finding.cause, device_hours(finding.given_back));
  return line;
}

struct Count {
  int days = 0, top = 0, hours = 0, removed = 0, needless = 0;
  void add(const Trial& trial) {
    ++days;
    top += trial.top_is_right();
    hours += trial.hours_are_right();
    removed += trial.hours_are_those_of_the_fault();
    needless += trial.buys_needlessly();
  }
  void print(const char* what) const {
    const auto share = [&](int part) { return 100.0 * part / days; };
    std::printf(
        "%-14s %4d days: top cause right %.1f %%, hours within 10 %% of what the fix gives %.1f "
        "%%, "
        "of what no fault gives %.1f %%, %d needless purchases\n",
        what, days, share(top), share(hours), share(removed), needless);
  }
};

TEST(DoctorTrial, EachCauseAlone) {
  for (const Kind& kind : singles()) {
    const Trial trial = try_day(1, kind, Asked::kInHindsight);
    EXPECT_TRUE(trial.top_is_right()) << line_of(trial);
    EXPECT_TRUE(trial.hours_are_right()) << line_of(trial);
    EXPECT_FALSE(trial.buys_needlessly()) << line_of(trial);
  }
}

TEST(DoctorTrial, TheReplayIsTheDay) {
  const Trial trial = try_day(2, {Cause::kNotPooled, Cause::kFaults}, Asked::kInHindsight);
  EXPECT_NEAR(trial.replayed_lost, trial.base_lost, 0.01 * trial.supplied);
}

TEST(DoctorTrial, AllDaysOfManySeeds) {
  const char* seeds = std::getenv("GRIDFOLD_DOCTOR_SEEDS");
  if (seeds == nullptr) GTEST_SKIP() << "set GRIDFOLD_DOCTOR_SEEDS, such as to 10";
  for (const Asked asked : {Asked::kInHindsight, Asked::kAtOnce}) {
    std::printf("Asked %s:\n", asked == Asked::kAtOnce ? "at the end of the day, runs guessed"
                                                       : "when all jobs have ended");
    Count control, alone, paired;
    for (const Kind& kind : singles_and_pairs()) {
      for (int seed = 1; seed <= std::atoi(seeds); ++seed) {
        const Trial trial = try_day(static_cast<std::uint64_t>(seed), kind, asked);
        std::printf("%s\n", line_of(trial).c_str());
        std::fflush(stdout);
        (kind.empty() ? control : kind.size() == 1 ? alone : paired).add(trial);
      }
    }
    control.print("nothing wrong");
    alone.print("one cause");
    paired.print("two causes");
    if (asked == Asked::kAtOnce) continue;  // how good the guesses are is told, not promised
    EXPECT_EQ(control.top, control.days);
    EXPECT_GE(20 * (alone.top + paired.top), 19 * (alone.days + paired.days));
    EXPECT_GE(20 * (alone.hours + paired.hours), 19 * (alone.days + paired.days));
    EXPECT_EQ(alone.needless + paired.needless, 0);
  }
}

}  // namespace
}  // namespace gridfold::doctor_worlds
