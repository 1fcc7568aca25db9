// Tiresias (NSDI 2019), as the Pollux artefact runs it: two queues by attained
// service. A job holds the devices that its user chose, or none. It falls into
// the second queue when it has held them for `demotion` device-time, and stays
// there. Both queues are served in order of entry; a job that does not fit is
// passed over and loses what it holds.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/round_policy.h"
#include "policies/registry.h"

namespace gridfold {

struct TiresiasOptions {
  Duration demotion = Duration::hours(16);  // of device-time
  Duration round = Duration::seconds(60);
};
Result<TiresiasOptions> read_tiresias_options(const PolicyOptions& options);

class Tiresias final : public RoundPolicy {
 public:
  explicit Tiresias(const TiresiasOptions& options) : options_(options) {}
  std::string_view name() const override { return "tiresias"; }
  Duration round() const override { return options_.round; }
  RoundPlan plan(const RoundView& view) override;
  std::int64_t steps() const override { return steps_; }

 private:
  void update_queues(const RoundView& view);
  // Jobs of the view by index, in the order in which they are served.
  std::vector<std::size_t> order(const RoundView& view) const;

  TiresiasOptions options_;
  std::vector<JobId> demoted_;  // in order of demotion
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
