// How long a job will run, learned from those that have ended.
//
//   RunTimeForecast forecast;
//   forecast.observe(spec, ran);
//   forecast.predict(spec, {})      // nothing: nobody like it has run yet
//
// Three of four jobs like it took no longer: of the last twenty, the upper
// quartile. Work that outlasts what was thought of it delays others, so a
// forecast that is rather long does less harm than one that is right in the
// mean. Like it is, first of these that has run: same user, name, size and
// limit; without the limit; without the size; same user and limit. Users give
// the same limit to work of the same kind, so the limit tells more than how long
// it may take. (After Tsafrir, Etsion, Feitelson, "Backfilling using
// system-generated predictions", TPDS 2007, who take the mean of the last two.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/job.h"

namespace gridfold {

class RunTimeForecast {
 public:
  // Its whole run when it has lasted for `ran` already: only who ran for longer
  // than that tells. Never longer than the job's limit.
  std::optional<Duration> predict(const JobSpec& spec, Duration ran) const;
  // 0 <= ran.
  void observe(const JobSpec& spec, Duration ran);
  // Kinds of jobs that are remembered, of all likenesses.
  std::size_t size() const { return last_.size(); }

 private:
  static constexpr std::size_t kLikenesses = 4;
  static constexpr std::size_t kMostRuns = 20;  // of a kind
  // Beyond it everything is forgotten and learned anew.
  static constexpr std::size_t kMostKinds = 250'000;

  struct LastRuns {
    std::vector<Duration> runs;  // in no order
    std::size_t oldest = 0;      // once there are kMostRuns
  };
  static std::array<std::string, kLikenesses> keys_of(const JobSpec& spec);

  std::map<std::string, LastRuns> last_;
};

}  // namespace gridfold
