// Which part of the time each job should run on each type of devices, so that
// all do well at once: the linear programmes of Gavel (OSDI 2020).
//
// Jobs are gangs: `devices` of one type at a time, at a rate that depends on it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace gridfold {

struct SharedJob {
  std::int32_t devices = 1;
  std::vector<double> rates;  // by type: steps a second; 0: it cannot run there
  double steps_left = 0;      // for the makespan only
};

// By job and type, each from 0 to 1, each job's at most 1 together.
using TypeShares = std::vector<std::vector<double>>;

struct TypeShareAnswer {
  TypeShares shares;
  double objective = 0;
};

// The largest least of all jobs' rates, each by its rate on an equal share of
// every type, times its devices. Of equal answers one with more work done.
// `steps` grows by jobs times types.
Result<TypeShareAnswer> max_min_shares(std::span<const SharedJob> jobs,
                                       std::span<const std::int32_t> type_devices,
                                       std::int64_t& steps);

// The shares with which all jobs end soonest; objective: seconds until then.
// Jobs without a rate anywhere get none and are not waited for. Of equal answers
// one with more work done, for which the end may be a trifle later; kExact: the
// end is the soonest, whatever the shares.
enum class ShareTies : std::uint8_t { kMoreWork, kExact };
Result<TypeShareAnswer> makespan_shares(std::span<const SharedJob> jobs,
                                        std::span<const std::int32_t> type_devices,
                                        std::int64_t& steps, ShareTies ties = ShareTies::kMoreWork);

}  // namespace gridfold
