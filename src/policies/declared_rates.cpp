#include "policies/declared_rates.h"

#include <algorithm>

namespace gridfold {

double declared_rate(const TrainingDeclaration& training, std::string_view model,
                     std::int32_t nodes, std::int32_t tasks) {
  const auto found =
      std::find_if(training.rates.begin(), training.rates.end(), [&](const DeclaredRate& rate) {
        return rate.tasks == tasks && (rate.nodes > 1) == (nodes > 1) && rate.device_model == model;
      });
  return found == training.rates.end() ? 0 : found->steps_per_second;
}

Known<double> declared_steps_left(const RoundJob& job) {
  if (!job.spec->training || !job.spec->training->steps.is_known()) return Unknown{};
  const double done = job.history ? job.history->progress_steps : 0;
  return std::max(0.0, static_cast<double>(job.spec->training->steps.value()) - done);
}

}  // namespace gridfold
