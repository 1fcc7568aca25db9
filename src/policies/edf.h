// Earliest deadline first: a job holds the devices that its user chose, or none.
// Who does not fit is passed over and loses what it holds; jobs without a
// deadline come last, in the order of their arrival. Nobody is refused.
#pragma once

#include <string_view>

#include "base/result.h"
#include "engine/round_policy.h"
#include "policies/registry.h"

namespace gridfold {

struct EdfOptions {
  Duration round = Duration::seconds(60);
};
Result<EdfOptions> read_edf_options(const PolicyOptions& options);

class Edf final : public RoundPolicy {
 public:
  explicit Edf(const EdfOptions& options) : options_(options) {}
  std::string_view name() const override { return "edf"; }
  Duration round() const override { return options_.round; }
  RoundPlan plan(const RoundView& view) override;
  std::int64_t steps() const override { return steps_; }

 private:
  EdfOptions options_;
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
