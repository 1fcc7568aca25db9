// A training job as it really behaves: what the simulated cluster runs, and no
// policy sees. Physics come from measured tables; the job's own agent, which
// may choose the batch, is part of it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/time.h"
#include "base/units.h"
#include "model/training.h"

namespace gridfold {

// Tasks of the job on one node, in the order of the nodes.
struct TrainingPlace {
  std::string device_model;
  std::int32_t tasks = 0;
};

class TrainingProcess {
 public:
  virtual ~TrainingProcess() = default;
  // All its tasks have begun; a restart's cost passes before any progress.
  virtual void start(Instant now, std::span<const TrainingPlace> places) = 0;
  // It has been stopped: what was done stays done.
  virtual void stop(Instant now) = 0;
  // Lets it run until `now`, which is not after next_event().
  virtual void advance(Instant now) = 0;
  // When it ends or wants to choose anew; never() while it is stopped.
  virtual Instant next_event() const = 0;
  virtual bool finished() const = 0;
  // What it would report at this time; empty while it has nothing to tell.
  virtual std::optional<TrainingHistory> report() const = 0;
  // Task-seconds in which it made progress: what restarts cost is taken off.
  // Unknown: it keeps no account.
  virtual Known<double> productive_seconds() const { return {}; }
};

}  // namespace gridfold
