#include "simulator/training/job_agent.h"

#include <algorithm>

#include "forecast/goodput.h"
#include "forecast/goodput_fit.h"

namespace gridfold {
namespace {

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class FixedAgent final : public JobAgent {
 public:
  explicit FixedAgent(const TrainingDeclaration& job) : job_(job) {}

  BatchSplit choose(std::int32_t, std::int32_t tasks, const TrainingHistory&) override {
    return split_batch(job_, tasks, std::max(job_.batch, tasks * job_.min_local_batch));
  }

 private:
  TrainingDeclaration job_;
};

class AdaptiveAgent final : public JobAgent {
 public:
  explicit AdaptiveAgent(const TrainingDeclaration& job) : job_(job) {}

  BatchSplit choose(std::int32_t nodes, std::int32_t tasks,
                    const TrainingHistory& history) override {
    if (history.steps.empty()) {
      return split_batch(job_, tasks, std::max(job_.initial_batch, tasks * job_.min_local_batch));
    }
    if (history.steps.size() != fitted_steps_) {
      speed_ = fit_throughput(history.steps);
      fitted_steps_ = history.steps.size();
    }
    const GoodputModel model(speed_, noise_of(history), limits_of(job_));
    const GoodputChoice best = model.best(nodes, tasks);
    const std::int64_t parts = std::int64_t{tasks} * (best.accumulation + 1);
    return {std::min(best.local_batch, job_.max_batch / parts), best.accumulation};
  }

 private:
  TrainingDeclaration job_;
  ThroughputModel speed_;
  std::size_t fitted_steps_ = 0;
};

}  // namespace

BatchSplit split_batch(const TrainingDeclaration& job, std::int32_t tasks, std::int64_t batch) {
  const std::int64_t local = divided_up(batch, tasks);
  std::int64_t accumulation = divided_up(local, job.max_local_batch) - 1;
  if (tasks == 1 && batch > job.initial_batch)
    accumulation = std::max<std::int64_t>(1, accumulation);
  const std::int64_t parts = tasks * (accumulation + 1);
  return {std::min(divided_up(local, accumulation + 1), job.max_batch / parts),
          static_cast<std::int32_t>(accumulation)};
}

std::unique_ptr<JobAgent> make_fixed_agent(const TrainingDeclaration& job) {
  return std::make_unique<FixedAgent>(job);
}

std::unique_ptr<JobAgent> make_adaptive_agent(const TrainingDeclaration& job) {
  return std::make_unique<AdaptiveAgent>(job);
}

}  // namespace gridfold
