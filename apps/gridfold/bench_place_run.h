// The measurement behind `gridfold bench place`: the books, the index and a
// policy as the engine uses them, without its queue and its records.
#pragma once

#include <cstdint>
#include <string>

#include "apps/gridfold/bench_streams.h"
#include "base/result.h"
#include "engine/placement_options.h"

namespace gridfold {

struct BenchPlaceOptions {
  std::uint32_t nodes = 10'000;
  std::string policy = "gridfold";
  std::string stream = "single";
  std::uint64_t seed = 1;
  // The policy is told the mix of the stream beforehand.
  bool mix_is_known = false;
  std::uint64_t churn_decisions = 200'000;
  // The scan answers so many decisions at most, for at most about a second.
  std::uint64_t scan_decisions = 1'000;
};

// What one decision took, over many of them. The clock that tells them apart
// is read once a decision and is part of each figure. On a machine that others
// use, the CPU time of the thread is the figure that repeats.
struct DecisionTimes {
  std::uint64_t decisions = 0;
  std::uint64_t refused = 0;
  double ns_per_decision = 0;      // wall
  double cpu_ns_per_decision = 0;  // of this thread
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
};

struct BenchPlaceResult {
  DecisionTimes fill;   // to the last task that fits, or to 100 % asked for
  DecisionTimes churn;  // at 95 %: a task leaves at random, the next is placed
  DecisionTimes scan;   // the same decisions by the full scan
  double bitmap_fill_cpu_ns = 0;
  double bitmap_churn_cpu_ns = 0;
  double clock_ns = 0;  // one reading
  double gpu_allocated_ratio = 0;
  std::size_t book_bytes = 0;
  std::size_t record_bytes = 0;
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
  std::string decisions_sha256;
  double wall_seconds = 0;
};

// Error kInvalid for an unknown policy or stream.
Result<BenchPlaceResult> run_bench_place(const BenchPlaceOptions& options);

}  // namespace gridfold
