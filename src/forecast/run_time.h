// How long a job will run, learned from those that have ended.
//
//   RunTimeForecast forecast;
//   forecast.observe(spec, ran);
//   forecast.predict(spec)          // nothing: nobody like it has run yet
//
// The mean of the last two runs of jobs like it (Tsafrir, Etsion, Feitelson,
// "Backfilling using system-generated predictions", TPDS 2007). Like it is, first
// of these that has run: same user, name, size and limit; without the limit;
// without the size; same user and limit. Users give the same limit to work of
// the same kind, so the limit tells more than how long it may take.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "model/job.h"

namespace gridfold {

class RunTimeForecast {
 public:
  // Never longer than the job's limit.
  std::optional<Duration> predict(const JobSpec& spec) const;
  // 0 <= ran.
  void observe(const JobSpec& spec, Duration ran);
  // Kinds of jobs that are remembered, of all likenesses.
  std::size_t size() const { return last_.size(); }

 private:
  static constexpr std::size_t kLikenesses = 4;
  // Beyond it everything is forgotten and learned anew.
  static constexpr std::size_t kMostKinds = 1'000'000;

  struct LastRuns {
    Duration last{};
    Duration before{};  // equal to last when there was one run only
    Duration mean() const { return {last.ns / 2 + before.ns / 2}; }
  };
  static std::array<std::string, kLikenesses> keys_of(const JobSpec& spec);

  std::map<std::string, LastRuns> last_;
};

}  // namespace gridfold
