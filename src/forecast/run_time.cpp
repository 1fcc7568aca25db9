#include "forecast/run_time.h"

#include <algorithm>

namespace gridfold {

std::optional<Duration> RunTimeForecast::predict(const JobSpec& spec, Duration ran) const {
  const auto kinds = history_.kinds_of(spec);
  if (const auto said = model_.predict(spec, kinds); said && *said > ran) return said;
  for (std::size_t i = 0; i < kLikenessesThatSay; ++i) {
    if (kinds[i] == nullptr) continue;
    const auto quartile = kinds[i]->quantile(kPlannedPerCent, ran);
    if (!quartile) continue;
    return spec.time_limit.is_unlimited() ? *quartile
                                          : std::min(*quartile, spec.time_limit.bound());
  }
  return std::nullopt;
}

void RunTimeForecast::observe(const JobSpec& spec, Duration ran) {
  model_.observe(spec, history_.kinds_of(spec), ran);
  history_.observe(spec, ran);
}

}  // namespace gridfold
