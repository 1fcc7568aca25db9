// How long runs last in the mean, from those that have ended and those that have
// not yet: who only counts what has ended takes all runs for short ones. The
// product-limit estimate (Kaplan and Meier, "Nonparametric Estimation from
// Incomplete Observations", JASA 1958). A value.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"

namespace gridfold {

class RunLengths {
 public:
  enum class Seen : std::uint8_t { kEnded, kGoesOn };
  void add(Duration ran, Seen seen) { runs_.push_back({ran, seen}); }
  // Once, after the last add().
  void settle();

  std::size_t ended() const { return ended_; }
  // The mean of those that last longer than `ran`; `ran` itself when no run that
  // has ended lasted longer. Past the longest that ended runs are taken to be over.
  Duration mean_beyond(Duration ran) const;

 private:
  struct Run {
    Duration ran{};
    Seen seen = Seen::kEnded;
  };
  struct Step {
    Duration at{};
    double survive = 0;  // a run lasts longer than that
    double beyond = 0;   // integral of the survival from there on, in nanoseconds
  };
  std::vector<Run> runs_;
  std::vector<Step> steps_;  // in order of time
  std::size_t ended_ = 0;
};

}  // namespace gridfold
