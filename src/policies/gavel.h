// Gavel (OSDI 2020): gangs of a fixed size on devices of several types. A
// linear programme says which part of the time each job should run on each
// type; each round runs the jobs that are the farthest behind their part.
//
//   objective  max_min   the worst-off job is as well off as can be
//              makespan  all jobs end soonest, by their declared lengths
//
// Rounds as in the published simulator: by type, in the order of the nodes, jobs
// by share / part of the type's time received, those with none fill up. The
// shares are worked out anew when jobs came or ended, at most each `reset`.
// Jobs without a scaling table are left to best fit.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/round_policy.h"
#include "policies/declared_rates.h"
#include "policies/registry.h"
#include "policies/round_types.h"

namespace gridfold {

enum class GavelObjective : std::uint8_t { kMaxMin, kMakespan };

struct GavelOptions {
  Duration round = Duration::seconds(360);
  GavelObjective objective = GavelObjective::kMaxMin;
  Duration reset = Duration::seconds(1920);
};
Result<GavelOptions> read_gavel_options(const PolicyOptions& options);

class Gavel final : public RoundPolicy {
 public:
  explicit Gavel(const GavelOptions& options) : options_(options) {}
  std::string_view name() const override { return "gavel"; }
  Duration round() const override { return options_.round; }
  bool takes(const JobSpec& job) const override { return declares_rates(job); }
  RoundPlan plan(const RoundView& view) override;
  std::int64_t steps() const override { return steps_; }

 private:
  // By type, in the order of the round's types.
  struct Account {
    std::vector<double> share;
    std::vector<double> seconds;  // received since the last reset, and half a round
    std::vector<double> owed;     // seconds missed before it
    std::size_t ran_on = 0;       // type of the last round; beyond all: none
  };
  void keep_accounts(const RoundView& view, const std::vector<RoundType>& types);
  void reset(const RoundView& view, const std::vector<RoundType>& types);
  double priority(const Account& account, std::size_t type) const;

  GavelOptions options_;
  std::map<JobId, Account> accounts_;
  std::vector<std::string> models_;   // of the types that the accounts are by
  std::vector<double> type_seconds_;  // as `seconds`, over all jobs
  Instant last_plan_{};
  Instant last_reset_ = Instant::never();
  bool has_changed_ = true;  // jobs came or ended since the last programme
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
