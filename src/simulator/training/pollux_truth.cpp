#include "simulator/training/pollux_truth.h"

#include <algorithm>
#include <numeric>

#include "simulator/training/job_agent.h"

namespace gridfold {

const PolluxProgram* PolluxTruth::program_of(const JobSpec& job) const {
  if (!job.training) return nullptr;
  const auto found = programs_.find(job.training->program);
  return found == programs_.end() ? nullptr : found->second.get();
}

Known<double> PolluxTruth::step_seconds(const JobSpec& job, std::span<const std::int32_t> tasks,
                                        const std::string&, std::int64_t batch) const {
  const PolluxProgram* program = program_of(job);
  const std::int32_t count = std::accumulate(tasks.begin(), tasks.end(), 0);
  if (program == nullptr || count < 1) return Unknown{};
  const BatchSplit split = split_batch(*job.training, count, batch);
  const Known<StepTimes> times = program->steps.at(tasks, split.local);
  if (!times.is_known()) return Unknown{};
  const auto [step, sync] = times.value();
  return step + (step - sync) * split.accumulation;
}

Known<double> PolluxTruth::remaining_steps(const JobSpec& job, double epochs_done) const {
  const PolluxProgram* program = program_of(job);
  if (program == nullptr) return Unknown{};
  const LearningCurve& curve = program->curve;
  const auto epoch = static_cast<std::int32_t>(epochs_done);
  if (epoch >= curve.epochs() - 1) return 1.0;
  const Known<double> end = curve.iterations(job.training->batch, curve.epochs() - 1);
  const Known<double> now = curve.iterations(job.training->batch, epoch);
  if (!end.is_known() || !now.is_known()) return Unknown{};
  return end.value() - now.value();
}

}  // namespace gridfold
