// Why a grid did less than it could: for each cause what a fix would have given
// back, found out by letting the same day happen again with the fix.
//
//   const DoctorReport diagnosis = diagnose(log.day(now, …));
//   for (const Finding& finding : diagnosis.findings) …    // the worst first
//
// Pure and without a clock; some dozen replays of the day. Whether devices that
// are held do anything is known from what jobs report alone (docs/formats.md);
// those of jobs that say nothing count as busy, and how many that are is told.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "doctor/fix.h"
#include "doctor/replay.h"
#include "model/solve.h"

namespace gridfold {

// In the order in which they are looked for; it breaks ties.
enum class Cause : std::uint8_t {
  kNotPooled,      // quota, limits or a drain keep devices from those who wait
  kWrongShape,     // what is free is not of the kind or the form asked for
  kStaticHolding,  // held, and never used
  kInputBound,     // steps wait for what they read
  kNetworkBound,   // steps wait for other tasks
  kGangWait,       // devices wait for the rest of a gang's
  kFaults,         // nodes and devices out of order, and the work lost with them
  kTooFew,         // there are not enough devices
};
inline constexpr std::size_t kCauses = 8;
// "not_pooled", …: as shown.
std::string_view to_string(Cause cause);

struct Finding {
  Cause cause = Cause::kNotPooled;
  std::vector<Fix> fixes;     // all of them together
  DeviceTime given_back = 0;  // by them alone; of kTooFew: more work done by more devices
  DeviceTime seen = 0;        // device-time that the account lays to this cause
};

struct DoctorReport {
  Instant from{};
  Instant to{};
  DayBalance balance;             // as it was
  std::int64_t jobs = 0;          // of the day
  std::int64_t guessed = 0;       // of these, how long they run is a guess
  std::vector<Finding> findings;  // what gives back most first
  DeviceTime together = 0;        // given back by all but new devices at once
  bool complete = true;           // false: a replay ran out of events

  // Nothing was found, and little is lost: less than a tenth of what was supplied.
  bool healthy() const { return findings.empty() && balance.lost() * 10 < balance.supplied; }
};

// A fix that gives back less of what was supplied is no finding.
inline constexpr std::int64_t kLeastShare = 20'000;  // millionths
// Likewise, more devices; and nobody is told to buy while other fixes give back
// as much as the second.
inline constexpr std::int64_t kLeastBought = 50'000;
inline constexpr std::int64_t kTooMuchToBuy = 100'000;

DoctorReport diagnose(const Day& day, const ReplayOptions& options = {});

struct DiagnosisAnswer final : SolveAnswer {
  DoctorReport diagnosis;
};

// For an executor.
class DiagnosisProblem final : public SolveProblem {
 public:
  explicit DiagnosisProblem(Day day) : day_(std::move(day)) {}
  // A few dozen events of the engine a job.
  std::int64_t steps() const override {
    return static_cast<std::int64_t>(day_.jobs.size()) * 1'000'000;
  }
  std::shared_ptr<const SolveAnswer> solve() const override {
    auto answer = std::make_shared<DiagnosisAnswer>();
    answer->diagnosis = diagnose(day_);
    return answer;
  }

 private:
  Day day_;
};

}  // namespace gridfold
