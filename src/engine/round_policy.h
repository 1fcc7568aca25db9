// The extension point of schedulers that decide in rounds how many devices each
// training job has, and where (Tiresias, Optimus, Gavel, Pollux, Sia, ours).
// A policy is one file pair in policies/ and one line in policies/registry.cpp.
//
// Once a round the engine hands out the state as a value; the plan comes back
// as the answer of the executor. What the plan changes is carried out as any
// other decision: jobs are stopped, their new places are claimed, and they are
// started again there. A job whose places stay the same is left alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/job.h"
#include "model/node.h"
#include "model/training.h"

namespace gridfold {

// So many tasks of a job on a node.
struct RoundPlace {
  NodeId node = NodeId::none();
  std::int32_t tasks = 0;
  friend bool operator==(const RoundPlace&, const RoundPlace&) = default;
};

// A node that takes tasks. Only its devices of the first one's class and model
// count.
struct RoundNode {
  NodeId id = NodeId::none();
  std::string device_class;
  std::string model;
  std::int32_t devices = 0;  // that are free or held by jobs of the view
};

// A job that goes by rounds: of class train, one role, whole devices of one
// class, all tasks alike, no wish for a topology. Those that are just being
// stopped or moved, that are ending, that run on a node out of reach, or whose
// queue is too small for them are
// left as they are, and are not in the view.
struct RoundJob {
  JobId id;
  std::shared_ptr<const JobSpec> spec;
  Instant submitted_at{};
  std::int32_t starts = 0;                         // runs begun so far
  std::int64_t executed_ns = 0;                    // device-nanoseconds held so far, this run's too
  std::vector<RoundPlace> places;                  // held now, as they were planned; none: it waits
  std::shared_ptr<const TrainingHistory> history;  // null: it has reported nothing

  std::int32_t devices_each() const { return spec->roles.front().each.devices.front().count; }
};

// In order of nodes' numbers and of submission.
struct RoundView {
  Instant now{};
  std::uint64_t round = 0;  // counts from 1
  std::vector<RoundNode> nodes;
  std::vector<RoundJob> jobs;
};

struct RoundAssignment {
  JobId job;
  // In the order of its tasks, which is the order of a ring over them: {2, 1, 3}
  // on nodes 5, 0, 7 is not what {1, 2, 3} on nodes 0, 5, 7 is. Empty: it waits.
  std::vector<RoundPlace> places;
};
struct RoundPlan {
  std::vector<RoundAssignment> assignments;  // jobs of the view not named wait
};

class RoundPolicy {
 public:
  virtual ~RoundPolicy() = default;
  virtual std::string_view name() const = 0;
  // Rounds begin at its multiples. Above 0.
  virtual Duration round() const = 0;
  // Whether a job that could go by rounds does; else the normal cycle places it.
  // The same answer for the same job at any time, asked from any thread.
  virtual bool takes(const JobSpec& job) const {
    static_cast<void>(job);
    return true;
  }
  // Pure: the plan follows from the view (and from earlier views, where the
  // policy keeps an account). Called once a round, by one thread at a time.
  virtual RoundPlan plan(const RoundView& view) = 0;
  // Elementary operations of the last plan (see SolveProblem::steps).
  virtual std::int64_t steps() const = 0;
};

}  // namespace gridfold
