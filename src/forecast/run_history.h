// How long jobs ran that were like this one, for several meanings of "like".
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

// From the most alike on. The first four say how long a job will run where
// nothing better is known; users give the same limit to work of the same kind,
// so that the limit tells more than how long it may take. The rest only help
// where many have run (run_time_model.h).
enum class Likeness : std::uint8_t {
  kUserNameSizeLimit,
  kUserNameSize,
  kUserName,
  kUserLimit,
  kUserCommand,
  kSizeLimit,
  kLimit,
};
inline constexpr std::size_t kLikenesses = 7;
inline constexpr std::size_t kLikenessesThatSay = 4;

// The last twenty runs of a kind.
class LastRuns {
 public:
  static constexpr std::size_t kMost = 20;

  void add(Duration ran);
  std::size_t size() const { return runs_.size(); }
  // The run before `back` later ones; requires back < size().
  Duration newest(std::size_t back = 0) const;
  // So many of a hundred took no longer, of those that ran for longer than
  // `than`, or of all where that is 0; nothing where there is none.
  std::optional<Duration> quantile(std::int64_t per_cent, Duration than = {}) const;

 private:
  std::vector<Duration> runs_;
  std::size_t oldest_ = 0;  // once there are kMost
};

class RunHistory {
 public:
  // Of the kinds that this job belongs to; null: none of it has ended.
  using Kinds = std::array<const LastRuns*, kLikenesses>;
  Kinds kinds_of(const JobSpec& spec) const;
  // 0 <= ran.
  void observe(const JobSpec& spec, Duration ran);
  // Kinds that are remembered.
  std::size_t size() const { return last_.size(); }

 private:
  // Beyond it everything is forgotten and learned anew.
  static constexpr std::size_t kMostKinds = 500'000;

  std::map<std::string, LastRuns> last_;
};

}  // namespace gridfold
