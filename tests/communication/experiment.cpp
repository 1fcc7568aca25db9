#include "tests/communication/experiment.h"

#include <algorithm>
#include <cmath>

#include "tests/communication/rivals.h"

namespace gridfold {

void tell_foreign(const World& world, const Fabric& fabric, LinkTraffic& traffic) {
  const DomainTree& tree = fabric.tree();
  for (const ForeignFlow& flow : world.foreign) {
    if (fabric.unit(flow.from) == fabric.unit(flow.to)) continue;
    const BitsPerSecond rate(static_cast<std::int64_t>(flow.bits_per_second));
    // Both directions are told by the two flows of the ring; each counts its sender's side.
    traffic.add({tree.domain_of(flow.from), flow.from_card, rate});
    const DomainId shared = tree.lowest_common(flow.from, flow.to);
    for (DomainId at = tree.domain_of(flow.from); at != shared; at = tree.parent(at)) {
      traffic.add({at, -1, rate});
    }
  }
}

namespace {

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  return values.empty() ? 0 : values[at];
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

Outcome run_world(std::uint64_t seed, const ExperimentOptions& options) {
  const World world = draw_world(seed);
  const auto tree = *DomainTree::build(world.nodes);
  const auto fabric =
      *Fabric::build(tree, {world.layouts, world.layout_of_node, world.links, typical_curves()});
  LinkTraffic traffic(fabric);
  tell_foreign(world, fabric, traffic);
  ExpectedTime expected(traffic);
  PlacementSearch search(expected, {.max_evaluations = options.evaluations});
  const auto plan = search.find(world.free, world.job);
  Judge judge(world, seed, options.deviation);
  Outcome outcome;
  outcome.seed = seed;
  outcome.bandwidth_bound = world.bandwidth_bound;
  outcome.expected = static_cast<double>((*plan)->expected.step.ns) * 1e-9;
  outcome.evaluations = (*plan)->evaluations;
  std::vector<Place> places;
  places_of(fabric, (*plan)->tasks, places);
  outcome.ours = judge.step_seconds(places);
  const Gang blind = blind_best_fit(world);
  outcome.blind = judge.step_seconds(ranks_of(blind));
  const Reference reference =
      reference_search(world, judge, {(*plan)->tasks, blind}, options.judgements);
  outcome.best = std::min(reference.seconds, outcome.ours);
  outcome.exhaustive = reference.exhaustive;
  return outcome;
}

Summary summarise(const std::vector<Outcome>& outcomes) {
  Summary summary;
  std::vector<double> to_best;
  std::vector<double> to_ours;
  std::vector<double> errors;
  for (const Outcome& outcome : outcomes) {
    to_best.push_back(outcome.ours / outcome.best);
    errors.push_back(std::abs(outcome.expected / outcome.ours - 1));
    if (to_best.back() <= 1.05) ++summary.within_5_percent;
    if (outcome.bandwidth_bound) to_ours.push_back(outcome.blind / outcome.ours);
  }
  summary.worlds = outcomes.size();
  summary.ours_to_best_median = percentile(to_best, 0.5);
  summary.ours_to_best_p95 = percentile(to_best, 0.95);
  summary.ours_to_best_max = percentile(to_best, 1);
  summary.ours_to_best_mean = mean(to_best);
  summary.bandwidth_bound = to_ours.size();
  summary.blind_to_ours_median = percentile(to_ours, 0.5);
  summary.blind_to_ours_mean = mean(to_ours);
  summary.model_error_median = percentile(errors, 0.5);
  return summary;
}

}  // namespace gridfold
