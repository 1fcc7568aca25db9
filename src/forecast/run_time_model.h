// How long a job will run by quantile regression on all that is known of it:
// what jobs like it took, for each meaning of "like", what its user said and its
// size.
//
// Trees correct what the most alike said, on a logarithmic scale, so that where
// there is nothing to correct, that stays. What they see of an ended job is what
// was known when it ended, itself not among it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/time.h"
#include "forecast/boosted_quantile.h"
#include "forecast/run_history.h"
#include "model/solve.h"

namespace gridfold {

inline constexpr std::int64_t kPlannedPerCent = 75;  // of jobs end within what is forecast

class RunTimeModel {
 public:
  // A model is asked for when this many jobs have ended, then whenever their
  // number has doubled, then each interval, which grows with it.
  static constexpr std::int64_t kFirst = 200;
  static constexpr std::int64_t kInterval = 1000;
  static constexpr std::int64_t kLongestInterval = 5000;
  static constexpr std::size_t kMostRows = 10'000;  // the newest are learned from

  // Nothing before the first model, and where nobody like it has ended and its
  // user has set no limit.
  std::optional<Duration> predict(const JobSpec& spec, const RunHistory::Kinds& kinds) const;
  // Before the history is told.
  void observe(const JobSpec& spec, const RunHistory::Kinds& kinds, Duration ran);

  // A new model, when it is time for one; null else.
  std::shared_ptr<const SolveProblem> problem();
  void adopt(const SolveAnswer& answer);

 private:
  // Of each likeness three quantities, and five of the job.
  static constexpr std::size_t kColumns = 3 * kLikenesses + 5;
  struct Row {
    std::array<float, kColumns> cells;
    float base = 0;
    float target = 0;
  };
  static std::optional<Row> row_of(const JobSpec& spec, const RunHistory::Kinds& kinds);

  std::deque<Row> rows_;
  std::int64_t seen_ = 0;
  std::int64_t next_ = kFirst;
  std::shared_ptr<const BoostedTrees> trees_;  // null: none yet
};

}  // namespace gridfold
