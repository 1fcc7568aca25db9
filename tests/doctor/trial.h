// One ill day: what the doctor says, and what is true of it.
#pragma once

#include <optional>
#include <vector>

#include "tests/doctor/world_run.h"

namespace gridfold::doctor_worlds {

struct Trial {
  std::uint64_t seed = 0;
  std::vector<Cause> injected;  // in ascending order; none: a control
  double supplied = 0;
  Diagnosis diagnosis;
  // Device-hours that the removal of each injected fault alone gives back; of
  // kTooFew, how much more work is done with the devices that the doctor names,
  // 0 where it names none.
  std::vector<double> truth;
  // Of the doctor's first finding, what its fix gives in the real day.
  double top_claimed = 0, top_true = 0;
  double base_lost = 0, replayed_lost = 0;  // the day as it was, true and replayed

  bool found_nothing() const { return diagnosis.findings.empty(); }
  // What recovers most; nothing where nothing gives back enough to be a finding.
  std::optional<Cause> true_top() const;
  bool top_is_right() const;
  bool hours_are_right() const;  // within a tenth
  bool buys_needlessly() const;  // though another fix gives back a tenth of all
};

// When the doctor is asked: at the end of the day, when runs that have not ended
// must be guessed, or once they have.
enum class Asked : std::uint8_t { kAtOnce, kInHindsight };
Trial try_day(std::uint64_t seed, std::vector<Cause> injected, Asked asked);

// "input_bound+faults", or "control".
std::string name_of(const std::vector<Cause>& injected);

}  // namespace gridfold::doctor_worlds
