// What the tables of the Pollux world say, for policies published with perfect
// knowledge.
#pragma once

#include "policies/training_truth.h"
#include "simulator/training/pollux_world.h"

namespace gridfold {

class PolluxTruth final : public TrainingTruth {
 public:
  explicit PolluxTruth(PolluxPrograms programs) : programs_(std::move(programs)) {}

  Known<double> step_seconds(const JobSpec& job, std::span<const std::int32_t> tasks,
                             const std::string& model, std::int64_t batch) const override;
  Known<double> remaining_steps(const JobSpec& job, double epochs_done) const override;

 private:
  const PolluxProgram* program_of(const JobSpec& job) const;
  PolluxPrograms programs_;
};

}  // namespace gridfold
