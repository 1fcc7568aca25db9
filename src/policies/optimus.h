// Optimus (EuroSys 2018), as the Pollux artefact runs it: one device each in
// order of arrival, then one at a time to the job whose remaining time falls the
// most, by true step times and true remaining steps: an oracle. Batches are the
// users'. A job whose number of devices stays keeps its place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/round_policy.h"
#include "policies/registry.h"
#include "policies/training_truth.h"

namespace gridfold {

struct OptimusOptions {
  Duration round = Duration::seconds(60);
  std::shared_ptr<const TrainingTruth> truth;  // never null
};
// Error kInvalid where no world tells the truth.
Result<OptimusOptions> read_optimus_options(const PolicyOptions& options);

class Optimus final : public RoundPolicy {
 public:
  explicit Optimus(const OptimusOptions& options) : options_(options) {}
  std::string_view name() const override { return "optimus"; }
  Duration round() const override { return options_.round; }
  RoundPlan plan(const RoundView& view) override;
  std::int64_t steps() const override { return steps_; }

 private:
  // Tasks of each job.
  std::vector<std::int32_t> share_out(const RoundView& view);
  // By how many seconds one task more shortens the job; 0: it takes no more.
  double gain(const RoundJob& job, std::int32_t tasks, std::int32_t node_tasks) const;

  OptimusOptions options_;
  std::string model_;  // of the devices: of one model, as in the artefact
  std::int64_t steps_ = 0;
};

}  // namespace gridfold
