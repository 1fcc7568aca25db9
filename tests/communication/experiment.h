// One draw of the experiment: our placement, topology-blind best fit and the
// best that a long search finds, all judged by the same judge.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/communication/judge.h"

namespace gridfold {

struct Outcome {
  std::uint64_t seed = 0;
  bool bandwidth_bound = false;
  bool exhaustive = false;
  double ours = 0;  // seconds of a step, by the judge
  double blind = 0;
  double best = 0;
  double expected = 0;  // what our model said of our placement
  std::int32_t evaluations = 0;
};

struct ExperimentOptions {
  Deviation deviation = Deviation::kEachKind;
  std::int64_t judgements = 4'000;                                      // of the long search
  std::int32_t evaluations = PlacementSearchOptions{}.max_evaluations;  // of ours
};

// What the placer is told of the others: how much each sends over each link.
void tell_foreign(const World& world, const Fabric& fabric, LinkTraffic& traffic);

Outcome run_world(std::uint64_t seed, const ExperimentOptions& options);

struct Summary {
  std::size_t worlds = 0;
  std::size_t within_5_percent = 0;  // ours <= 1.05 x best
  double ours_to_best_median = 0;
  double ours_to_best_p95 = 0;
  double ours_to_best_max = 0;
  double ours_to_best_mean = 0;
  std::size_t bandwidth_bound = 0;
  double blind_to_ours_median = 0;  // of the bandwidth-bound
  double blind_to_ours_mean = 0;
  double model_error_median = 0;  // |expected / judged - 1|
};
Summary summarise(const std::vector<Outcome>& outcomes);

}  // namespace gridfold
