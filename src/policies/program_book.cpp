#include "policies/program_book.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "forecast/goodput_fit.h"

namespace gridfold {
namespace {

// Local batches within a twentieth of each other tell the same.
std::int64_t bucket(std::int64_t local_batch) {
  return std::llround(std::log(static_cast<double>(std::max<std::int64_t>(local_batch, 1))) * 20);
}

}  // namespace

Known<NoiseModel> ProgramPage::noise(std::int64_t epoch) const {
  if (noise_.empty()) return Unknown{};
  auto at = noise_.upper_bound(epoch);
  if (at != noise_.begin()) --at;
  return at->second;
}

Known<double> ProgramPage::epoch_steps() const {
  if (progress_epochs_ <= 0) return Unknown{};
  return progress_steps_ / progress_epochs_;
}

void ProgramPage::learn(const RoundJob& job) {
  const TrainingHistory& history = *job.history;
  for (const auto& step : history.steps) {
    steps_.try_emplace({step.nodes, step.tasks, bucket(step.local_batch)}, step);
    most_measured_ = std::max(most_measured_, step.tasks);
  }
  // A fit costs the more the more was measured: anew at a tenth more.
  if (steps_.size() > fitted_ + fitted_ / 10) fit();
  if (!history.progress_epochs.is_known()) return;
  const double epochs = history.progress_epochs.value();
  if (noise_.try_emplace(static_cast<std::int64_t>(epochs), noise_of(history)).second) ++version_;
  if (epochs > progress_epochs_) {
    progress_epochs_ = epochs;
    progress_steps_ = history.progress_steps;
  }
}

void ProgramPage::fit() {
  std::vector<StepMeasurement> steps;
  steps.reserve(steps_.size());
  for (const auto& [key, step] : steps_) steps.push_back(step);
  speed_ = fit_throughput(steps);
  fitted_ = steps_.size();
  ++version_;
}

void ProgramBook::update(const RoundView& view) {
  std::map<JobId, Seen> seen;
  for (const auto& job : view.jobs) {
    if (!job.spec->training || job.spec->training->program.empty() || !job.history) continue;
    Seen now{job.history->steps.size(),
             job.history->progress_epochs.is_known()
                 ? static_cast<std::int64_t>(job.history->progress_epochs.value())
                 : -1};
    const auto before = seen_.find(job.id);
    if (before == seen_.end() || before->second.steps != now.steps ||
        before->second.epoch != now.epoch) {
      pages_[job.spec->training->program].learn(job);
    }
    seen.emplace(job.id, now);
  }
  seen_ = std::move(seen);
}

const ProgramPage* ProgramBook::page(const RoundJob& job) const {
  if (!job.spec->training) return nullptr;
  const auto found = pages_.find(job.spec->training->program);
  return found == pages_.end() ? nullptr : &found->second;
}

}  // namespace gridfold
