#include "policies/goodput_book.h"

#include <algorithm>

#include "forecast/goodput_fit.h"

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
  noise_ = noise;
  model_ = GoodputModel(speed_, noise_, limits_of(declaration));
  asked_.clear();
}

void GoodputBook::update(const RoundView& view) {
  std::map<JobId, GoodputPage> kept;
  for (const auto& job : view.jobs) {
    const auto found = pages_.find(job.id);
    GoodputPage& page =
        kept.emplace(job.id, found == pages_.end() ? GoodputPage{} : std::move(found->second))
            .first->second;
    if (job.spec->training && job.history && !job.history->steps.empty()) {
      page.update(*job.spec->training, *job.history);
    }
  }
  pages_ = std::move(kept);
}

}  // namespace gridfold
