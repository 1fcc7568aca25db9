#include "simulator/start_score.h"

namespace gridfold {

void StartScore::add(const SettledEstimate& settled) {
  const WaitBand& band = settled.band;
  const bool too_early = settled.waited < band.from;
  const bool too_late = settled.waited > band.until;
  ++estimates;
  below += too_early;
  above += too_late;
  if (settled.first) {
    ++jobs;
    first_within += !too_early && !too_late;
  }
  const Duration error = settled.waited - band.estimated;
  errors.push_back(error < Duration{} ? Duration{-error.ns} : error);
  widths.push_back(band.until - band.from);
}

void StartScore::add(const StartScore& other) {
  jobs += other.jobs;
  estimates += other.estimates;
  below += other.below;
  above += other.above;
  first_within += other.first_within;
  errors.insert(errors.end(), other.errors.begin(), other.errors.end());
  widths.insert(widths.end(), other.widths.begin(), other.widths.end());
}

double StartScore::coverage() const {
  if (estimates == 0) return 0;
  return static_cast<double>(estimates - below - above) / static_cast<double>(estimates);
}

double StartScore::first_coverage() const {
  return jobs == 0 ? 0 : static_cast<double>(first_within) / static_cast<double>(jobs);
}

}  // namespace gridfold
