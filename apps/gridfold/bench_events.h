// The events phase of gridfold bench cycle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/backfill_options.h"

namespace gridfold {

struct EventsBenchOptions {
  std::vector<std::int64_t> nodes;
  std::vector<std::int64_t> jobs;  // that wait
  std::int64_t queues = 200;
  std::int64_t events = 2000;  // ends, and as many arrivals
  BackfillMode backfill = BackfillMode::kNone;
  std::uint64_t seed = 0;
};

// Prints a table or JSON to stdout; the exit code.
int run_events_bench(const EventsBenchOptions& options, const std::string& output);

}  // namespace gridfold
