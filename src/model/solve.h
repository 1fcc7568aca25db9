// Work that takes longer than a step of the engine may: a value that says what
// is to be computed, handed out with a turn's decisions; the answer comes back
// as an event. Whoever computes it, and when, changes nothing but the time at
// which the answer comes.
#pragma once

#include <cstdint>
#include <memory>

namespace gridfold {

class SolveAnswer {
 public:
  virtual ~SolveAnswer() = default;
};

class SolveProblem {
 public:
  virtual ~SolveProblem() = default;
  // Elementary operations it takes at most; a simulation charges one
  // nanosecond for each.
  virtual std::int64_t steps() const = 0;
  // Pure, and may run on any thread: the answer follows from the problem
  // alone, and work is bounded by steps, never by time.
  virtual std::shared_ptr<const SolveAnswer> solve() const = 0;
};

struct Solve {
  std::uint64_t id = 0;  // of this engine
  std::shared_ptr<const SolveProblem> problem;
};

}  // namespace gridfold
