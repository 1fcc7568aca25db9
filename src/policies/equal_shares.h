// Elastic jobs share the devices evenly, in rounds: each gets its least in the
// order of submission, then the one with the fewest devices grows, step by
// step, while there is room. It needs to know nothing of the jobs, and moves
// only those whose share has changed. Jobs that do not declare training are
// placed by best fit, and stay.
#pragma once

#include "base/result.h"
#include "engine/round_policy.h"
#include "policies/registry.h"

namespace gridfold {

struct EqualSharesOptions {
  Duration round = Duration::seconds(60);
};
Result<EqualSharesOptions> read_equal_shares_options(const PolicyOptions& options);

class EqualShares final : public RoundPolicy {
 public:
  explicit EqualShares(const EqualSharesOptions& options) : options_(options) {}
  std::string_view name() const override { return "equal_shares"; }
  Duration round() const override { return options_.round; }
  bool takes(const JobSpec& job) const override { return job.training.has_value(); }
  RoundPlan plan(const RoundView& view) override;
  std::int64_t steps() const override { return steps_; }

 private:
  // Tasks of each job of the view.
  std::vector<std::int64_t> shares(const RoundView& view);

  EqualSharesOptions options_;
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
