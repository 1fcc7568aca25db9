#include "policies/goodput_book.h"

#include <algorithm>

#include "forecast/goodput_fit.h"
#include "policies/program_book.h"

namespace gridfold {

double GoodputPage::goodput(std::int32_t nodes, std::int32_t tasks) const {
  const auto [entry, added] = asked_.try_emplace({nodes, tasks}, 0.0);
  if (added) entry->second = model_.best(nodes, tasks).goodput;
  return entry->second;
}

void GoodputPage::update(const TrainingDeclaration& declaration, const TrainingHistory& history) {
  const NoiseModel noise = noise_of(history);
  const bool refit = history.steps.size() != steps_seen_;
  if (!refit && noise.square == noise_.square && noise.variance == noise_.variance) return;
  if (refit) {
    speed_ = fit_throughput(history.steps);
    for (std::size_t i = steps_seen_; i < history.steps.size(); ++i) {
      most_measured_ = std::max(most_measured_, history.steps[i].tasks);
    }
    steps_seen_ = history.steps.size();
  }
  take(speed_, noise, declaration);
}

void GoodputPage::update(const RoundJob& job, const ProgramPage& program) {
  NoiseModel noise;
  if (job.history && !job.history->steps.empty()) {
    noise = noise_of(*job.history);
  } else if (const Known<NoiseModel> first = program.noise(0); first.is_known()) {
    noise = first.value();
  }
  const bool same = steps_seen_ > 0 && program.version() == program_version_;
  if (same && noise.square == noise_.square && noise.variance == noise_.variance) return;
  program_version_ = program.version();
  steps_seen_ = 1;
  most_measured_ = program.most_measured();
  take(program.speed(), noise, *job.spec->training);
}

void GoodputPage::take(const ThroughputModel& speed, const NoiseModel& noise,
                       const TrainingDeclaration& declaration) {
  speed_ = speed;
  noise_ = noise;
  model_ = GoodputModel(speed_, noise_, limits_of(declaration));
  asked_.clear();
}

void GoodputBook::update(const RoundView& view, const ProgramBook* programs) {
  std::map<JobId, GoodputPage> kept;
  for (const auto& job : view.jobs) {
    const auto found = pages_.find(job.id);
    GoodputPage& page =
        kept.emplace(job.id, found == pages_.end() ? GoodputPage{} : std::move(found->second))
            .first->second;
    const ProgramPage* program = programs == nullptr ? nullptr : programs->page(job);
    if (program != nullptr && program->is_fitted()) {
      page.update(job, *program);
    } else if (job.spec->training && job.history && !job.history->steps.empty()) {
      page.update(*job.spec->training, *job.history);
    }
  }
  pages_ = std::move(kept);
}

}  // namespace gridfold
