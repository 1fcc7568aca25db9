// First come, first served, in rounds: each job at the size its user would
// choose, the first that does not fit stops those behind it, and whoever runs
// goes on to its end. The simplest baseline.
#pragma once

#include "base/result.h"
#include "engine/round_policy.h"
#include "policies/registry.h"

namespace gridfold {

struct FifoOptions {
  Duration round = Duration::seconds(60);
};
Result<FifoOptions> read_fifo_options(const PolicyOptions& options);

class Fifo final : public RoundPolicy {
 public:
  explicit Fifo(const FifoOptions& options) : options_(options) {}
  std::string_view name() const override { return "fifo"; }
  Duration round() const override { return options_.round; }
  RoundPlan plan(const RoundView& view) override;
  std::int64_t steps() const override { return steps_; }

 private:
  FifoOptions options_;
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
