// Eight causes singly and in pairs, and days with nothing wrong. Every build
// tries a few; GRIDFOLD_DOCTOR_SEEDS=20 tries all of as many seeds and prints a
// line for each kind of day.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "tests/doctor/trial.h"

namespace gridfold::doctor_worlds {
namespace {

std::vector<std::vector<Cause>> all_kinds() {
  std::vector<std::vector<Cause>> kinds = {{}};
  for (std::size_t a = 0; a < kCauses; ++a) kinds.push_back({static_cast<Cause>(a)});
  for (std::size_t a = 0; a < kCauses; ++a) {
    for (std::size_t b = a + 1; b < kCauses; ++b)
      kinds.push_back({static_cast<Cause>(a), static_cast<Cause>(b)});
  }
  return kinds;
}

void print_line(const Trial& trial) {
  std::printf("%-30s seed %2llu %s%s%s lost %.0f (replayed %.0f) of %.0f; claimed %.0f true %.0f; ",
              name_of(trial.injected).c_str(), static_cast<unsigned long long>(trial.seed),
              trial.top_is_right() ? "" : "TOP ", trial.hours_are_right() ? "" : "HOURS ",
              trial.buys_needlessly() ? "BUY " : "", trial.base_lost, trial.replayed_lost,
              trial.supplied, trial.top_claimed, trial.top_true);
  for (std::size_t i = 0; i < trial.injected.size(); ++i)
    std::printf("%s=%.0f ", std::string(to_string(trial.injected[i])).c_str(), trial.truth[i]);
  std::printf("| found:");
  for (const Finding& finding : trial.diagnosis.findings)
    std::printf(" %s=%.0f", std::string(to_string(finding.cause)).c_str(),
                device_hours(finding.given_back));
  std::printf("\n");
}

TEST(DoctorTrial, Explore) {
  const char* seeds = std::getenv("GRIDFOLD_DOCTOR_SEEDS");
  const int last = seeds != nullptr ? std::atoi(seeds) : 1;
  const char* only = std::getenv("ONLY");
  for (const auto& kind : all_kinds()) {
    if (only != nullptr && name_of(kind).find(only) == std::string::npos) continue;
    for (int seed = 1; seed <= last; ++seed)
      print_line(try_day(static_cast<std::uint64_t>(seed), kind,
                         std::getenv("AT_ONCE") != nullptr ? Asked::kAtOnce : Asked::kInHindsight));
  }
}

}  // namespace
}  // namespace gridfold::doctor_worlds
