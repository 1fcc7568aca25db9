#include "doctor/run_lengths.h"

#include <algorithm>

namespace gridfold {

void RunLengths::settle() {
  // Of equal ones those that ended first.
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
    return a.ran != b.ran ? a.ran < b.ran : a.seen < b.seen;
  });
  double survive = 1;
  steps_.push_back({Duration{}, survive, 0});
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].seen == Seen::kGoesOn) continue;
    ++ended_;
    const double at_risk = static_cast<double>(runs_.size() - i);
    survive *= (at_risk - 1) / at_risk;
    steps_.push_back({runs_[i].ran, survive, 0});
  }
  for (std::size_t i = steps_.size() - 1; i-- > 0;) {
    const auto length = static_cast<double>((steps_[i + 1].at - steps_[i].at).ns);
    steps_[i].beyond = steps_[i + 1].beyond + steps_[i].survive * length;
  }
}

Duration RunLengths::mean_beyond(Duration ran) const {
  const auto next = std::upper_bound(steps_.begin(), steps_.end(), ran,
                                     [](Duration at, const Step& step) { return at < step.at; });
  if (next == steps_.end() || next == steps_.begin()) return ran;
  const Step& here = *std::prev(next);
  const double until_next = static_cast<double>((next->at - ran).ns);
  const double left = (next->beyond + here.survive * until_next) / here.survive;
  return ran + Duration{static_cast<std::int64_t>(left)};
}

}  // namespace gridfold
