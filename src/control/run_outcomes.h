// How long runs last, as far as anyone can say beforehand, and how right that
// was for those that have ended.
//
//   RunOutcomes outcomes;
//   outcomes.ended(guess_run(record, longest, kDefaultRun), ran);
//   outcomes.whole_run(guess, ran_so_far, 500)      // the median of what is left
//
// Limits are far above what jobs take and predictions are wrong either way, so
// what is taken for a run is its guess times a quantile of the ratios of ended
// runs to their guesses: of those alone that lasted at least as long already.
// A value; a copy is a few pages.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "model/record.h"

namespace gridfold {

enum class RunBasis : std::uint8_t {
  kLimit,    // its own time limit or its queue's
  kHistory,  // what earlier runs of jobs like it tell
  kDefault,  // nothing: what any job is taken to run
};
std::string_view to_string(RunBasis basis);

struct RunGuess {
  Duration run{};  // above 0
  RunBasis basis = RunBasis::kDefault;
  Limit<Duration> limit;  // it cannot last longer
};

// Of jobs about which nothing is known.
inline constexpr Duration kDefaultRun = Duration::hours(1);

// `longest`: what the job's queue allows.
RunGuess guess_run(const JobRecord& job, const Limit<Duration>& longest, Duration default_run);

class RunOutcomes {
 public:
  void ended(const RunGuess& guess, Duration ran);
  // How long a run lasts in all that has lasted `ran` already (0: it has not
  // begun): of runs like it so many thousandths are over by then. Longer than
  // `ran`, unless its limit is not.
  Duration whole_run(const RunGuess& guess, Duration ran, std::int64_t thousandths) const;
  // Ended runs that were guessed on this basis, of the last kKept.
  std::size_t known(RunBasis basis) const { return of(basis).sorted.size(); }

 private:
  static constexpr std::size_t kKept = 1000;
  // With fewer the guess itself is taken.
  static constexpr std::size_t kEnough = 10;
  struct Ratios {
    std::deque<std::int64_t> in_order;  // millionths of the guess
    std::vector<std::int64_t> sorted;   // the same
  };
  const Ratios& of(RunBasis basis) const { return ratios_[static_cast<std::size_t>(basis)]; }

  std::array<Ratios, 3> ratios_;
};

}  // namespace gridfold
