// ElasticFlow (ASPLOS 2023): training with deadlines. Admission at arrival by
// the least shares that suffice; what is left goes, anew each round, where a
// device brings most. It knows speeds and lengths (an oracle: see
// policies/training_truth.h); jobs without deadline, and those refused, run on
// what is left.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/round_policy.h"
#include "policies/deadline_shares.h"
#include "policies/registry.h"
#include "policies/training_truth.h"

namespace gridfold {

struct ElasticFlowOptions {
  Duration round = Duration::seconds(60);
  DeadlineOptions shares;
  std::shared_ptr<const TrainingTruth> truth;
};
// Error: the world tells no truth.
Result<ElasticFlowOptions> read_elasticflow_options(const PolicyOptions& options);

class ElasticFlow final : public RoundPolicy {
 public:
  explicit ElasticFlow(const ElasticFlowOptions& options)
      : options_(options), shares_(options.shares) {}
  std::string_view name() const override { return "elasticflow"; }
  Duration round() const override { return options_.round; }
  bool takes(const JobSpec& job) const override { return job.training.has_value(); }
  RoundPlan plan(const RoundView& view) override;
  std::int64_t steps() const override { return steps_; }

 private:
  ElasticFlowOptions options_;
  DeadlineShares shares_;
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
