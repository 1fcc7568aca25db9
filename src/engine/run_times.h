// How long jobs will run, as far as anyone can say: an extension point. Used to
// plan and to estimate, never to stop a job.
#pragma once

#include <memory>
#include <optional>

#include "base/time.h"
#include "model/job.h"
#include "model/solve.h"

namespace gridfold {

// Deterministic: what it says follows from what it was told before. The engine
// owns it.
class RunTimes {
 public:
  virtual ~RunTimes() = default;
  // The whole run of a job that has lasted for `ran` already. Asked of each job
  // in order of submission, with 0; and again, with more, of one that has
  // outlasted what was said. Nothing: nothing is known. What is longer than the
  // limit counts as the limit.
  virtual std::optional<Duration> predict(const JobSpec& spec, Duration ran) = 0;
  // A run ended by itself or at its limit after so long; told once that is for
  // good.
  virtual void observe(const JobSpec& spec, Duration ran) = 0;
  // Learning that takes long, asked for once a turn unless an answer is awaited;
  // null: none is due.
  virtual std::shared_ptr<const SolveProblem> problem() { return nullptr; }
  // The answer to the last problem().
  virtual void adopt(const SolveAnswer& answer) { static_cast<void>(answer); }
};

}  // namespace gridfold
