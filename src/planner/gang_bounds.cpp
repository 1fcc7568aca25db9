#include "planner/gang_bounds.h"

#include <algorithm>
#include <cmath>

#include "planner/linear_program.h"
#include "planner/type_shares.h"

namespace gridfold {
namespace {

constexpr std::size_t kMostCuts = 64;  // arrivals looked at for the makespan

double shortest_run(const BoundGang& gang) {
  return gang.steps / *std::max_element(gang.rates.begin(), gang.rates.end());
}

}  // namespace

Result<double> makespan_bound(std::span<const BoundGang> gangs,
                              std::span<const std::int32_t> type_devices) {
  std::vector<SharedJob> jobs;
  for (const BoundGang& gang : gangs) jobs.push_back({gang.devices, gang.rates, gang.steps});
  double bound = 0;
  double looked_at = -1;
  const std::size_t stride = gangs.size() / kMostCuts + 1;
  for (std::size_t first = 0; first < gangs.size(); first += stride) {
    if (gangs[first].arrival == looked_at) continue;
    looked_at = gangs[first].arrival;
    std::int64_t steps = 0;
    const auto answer =
        makespan_shares(std::span(jobs).subspan(first), type_devices, steps, ShareTies::kExact);
    if (!answer) return answer.error();
    bound = std::max(bound, looked_at + answer->objective);
  }
  return bound;
}

// Seconds are counted in intervals, work in parts of the job.
Result<double> mean_completion_bound(std::span<const BoundGang> gangs,
                                     std::span<const std::int32_t> type_devices,
                                     const CompletionBoundOptions& options) {
  LinearProgram program;
  const auto intervals = static_cast<std::size_t>(options.intervals);
  const std::size_t types = type_devices.size();
  std::vector<int> rooms;
  for (std::size_t cell = 0; cell < intervals * types; ++cell)
    rooms.push_back(program.add_row(-kNoBound, type_devices[cell % types]));
  struct Rows {
    int work = 0;
    std::size_t first = 0;  // interval
    std::vector<int> time;  // from the first interval on
    double begins = 0;      // in intervals
  };
  std::vector<Rows> rows;
  for (const BoundGang& gang : gangs) {
    Rows& own = rows.emplace_back();
    own.begins = std::ceil(gang.arrival / options.round) * options.round / options.interval;
    own.first = static_cast<std::size_t>(own.begins);
    own.work = program.add_row(1, 1);
    for (std::size_t i = own.first; i < intervals; ++i)
      own.time.push_back(program.add_row(-kNoBound, std::min(1.0, i + 1 - own.begins)));
  }
  double rest = 0;  // what the programme does not decide, seconds
  for (std::size_t j = 0; j < gangs.size(); ++j) {
    const BoundGang& gang = gangs[j];
    const Rows& own = rows[j];
    rest += shortest_run(gang) / 2 - gang.arrival;
    for (std::size_t i = own.first; i < intervals; ++i) {
      for (std::size_t t = 0; t < types; ++t) {
        const double part = gang.rates[t] * options.interval / gang.steps;
        if (part <= 0 || gang.devices > type_devices[t]) continue;
        const double at = std::max(own.begins, static_cast<double>(i));
        program.add_column(-at * part, 0, kNoBound,
                           {{rooms[i * types + t], static_cast<double>(gang.devices)},
                            {own.work, part},
                            {own.time[i - own.first], 1}});
      }
    }
    const double last = std::max(own.begins, static_cast<double>(intervals));
    program.add_column(-last, 0, kNoBound, {{own.work, 1}});
  }
  if (const auto status = program.maximize(options.iterations); status != LinearStatus::kOptimal)
    return error_of(status);
  const double sum = -program.objective() * options.interval + rest;
  return sum / static_cast<double>(gangs.size());
}

}  // namespace gridfold
