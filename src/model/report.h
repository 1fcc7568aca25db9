// What a running job says of itself, through the file that GRIDFOLD_REPORT
// names. It is the job's word: bounded and checked where it enters, and used
// for estimates alone. Each field is absent unless the job gave it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/time.h"
#include "model/training.h"

namespace gridfold {

struct TaskReport {
  // The work of the whole job up to this point (in the job's own unit, such as
  // steps) is safe: a later run goes on from here. Said by whichever task knows.
  std::optional<std::int64_t> saved;
  std::optional<Duration> save_time;   // that save took so long
  std::optional<std::int64_t> step;    // where it is, in the same unit
  std::optional<Duration> step_time;   // one step, its share of waiting for others included
  std::optional<Duration> sync_time;   // of it: waiting for and talking to others
  std::optional<Duration> input_time;  // of it: waiting for what it reads
  // Of the devices that this task holds, so many have done anything lately.
  std::optional<std::int64_t> devices_used;
  std::optional<std::int64_t> batch;  // samples a step, over all tasks
  // Gradient noise scale, in thousandths of a sample.
  std::optional<std::int64_t> noise_thousandths;
  // All that a job which keeps its own account has measured so far, instead of
  // what would be gathered from the above; null: it keeps none.
  std::shared_ptr<const TrainingHistory> training;
  friend bool operator==(const TaskReport&, const TaskReport&) = default;

  bool empty() const { return *this == TaskReport{}; }
};

}  // namespace gridfold
