// The step time of our placements on random clusters and jobs, against the best
// that a long search finds and against topology-blind best fit:
//
//   placement_experiment [WORLDS] [kind|link] [JUDGEMENTS] [EVALUATIONS] [FIRST] [all]
//
// `kind`: all links of a kind differ from what the placer knows by one factor
// within ±10 %; `link`: each by its own. One line of JSON; `all` also prints a
// line for each world before it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/communication/experiment.h"

int main(int argc, char** argv) {
  using gridfold::Outcome;
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(argc > i ? argv[i] : otherwise);
  };
  const auto worlds = std::strtoull(argument(1, "500").c_str(), nullptr, 10);
  gridfold::ExperimentOptions options;
  const std::string deviation = argument(2, "kind");
  if (deviation != "kind" && deviation != "link") {
    std::fprintf(stderr,
                 "usage: placement_experiment [WORLDS] [kind|link] [JUDGEMENTS] [EVALUATIONS] "
                 "[FIRST] [all]\n");
    return 2;
  }
  options.deviation =
      deviation == "link" ? gridfold::Deviation::kEachLink : gridfold::Deviation::kEachKind;
  options.judgements = std::strtoll(argument(3, "4000").c_str(), nullptr, 10);
  const std::string evaluations = argument(4, "");
  if (!evaluations.empty()) {
    options.evaluations = static_cast<std::int32_t>(std::strtol(evaluations.c_str(), nullptr, 10));
  }
  const auto first = std::strtoull(argument(5, "1").c_str(), nullptr, 10);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Outcome> outcomes;
  for (std::uint64_t seed = first; seed < first + worlds; ++seed) {
    outcomes.push_back(gridfold::run_world(seed, options));
    const Outcome& o = outcomes.back();
    if (argument(6, "") != "all") continue;
    std::printf("seed %llu: ours/best %.3f blind/ours %.3f model %.3f %s %s %d evaluations\n",
                static_cast<unsigned long long>(seed), o.ours / o.best, o.blind / o.ours,
                o.expected / o.ours, o.bandwidth_bound ? "bound" : "light",
                o.exhaustive ? "exhaustive" : "search", o.evaluations);
  }
  const auto s = gridfold::summarise(outcomes);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::printf(
      "{\"worlds\":%zu,\"deviation\":\"%s\",\"within_5_percent\":%zu,\"ours_to_best_median\":%.4f,"
      "\"ours_to_best_mean\":%.4f,\"ours_to_best_p95\":%.4f,\"ours_to_best_max\":%.4f,"
      "\"bandwidth_bound\":%zu,\"blind_to_ours_median\":%.3f,\"blind_to_ours_mean\":%.3f,"
      "\"model_error_median\":%.4f,\"wall_seconds\":%.1f}\n",
      s.worlds, deviation.c_str(), s.within_5_percent, s.ours_to_best_median, s.ours_to_best_mean,
      s.ours_to_best_p95, s.ours_to_best_max, s.bandwidth_bound, s.blind_to_ours_median,
      s.blind_to_ours_mean, s.model_error_median, wall.count());
  return 0;
}
