// Measures a replay: told after every step of the engine what has changed.
#pragma once

#include <vector>

#include "accounting/device_books.h"
#include "base/id_map.h"
#include "doctor/replay.h"
#include "engine/engine.h"

namespace gridfold {

class BalanceMeter {
 public:
  // Jobs have the numbers 1, 2, … in the order of the day.
  explicit BalanceMeter(const Day& day) : day_(day), now_(day.from) {}

  // The engine's records are those after the step.
  void stepped(Instant now, const Engine& engine, const Decisions& decisions);
  DayBalance at_end();

 private:
  struct Task {
    bool holds = false;
    Allocation at;
    DeviceBooks::Taken taken;
    std::int64_t thousandths = 0;
    std::int64_t used = 0;  // of these
  };
  struct Job {
    bool waits = false;
    std::vector<ClassAmount> wanted;  // while it waits
    std::vector<Task> tasks;
    std::int64_t held = 0;  // thousandths, by all its tasks
    std::int64_t used = 0;
    Instant since{};        // counted up to here
    Instant begun{};        // its run
    DeviceTime worked = 0;  // in this run, of the day
  };

  void pass(Instant to);
  void pass(Job& job, const JobHabits& habits, Instant to);
  void see_loss(const JobChanged& change, Instant now);
  void see_ends(const JobRecord& record, Instant now);
  void see_begins(const JobRecord& record, Instant now);
  const DayJob& told(JobId id) const { return day_.jobs[id.value - 1]; }

  const Day& day_;
  Instant now_;
  DayBalance balance_;
  DeviceBooks books_;
  std::vector<std::int64_t> wanted_;  // by class
  IdMap<JobId, Job> jobs_;
};

}  // namespace gridfold
