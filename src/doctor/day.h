// What happened on a grid over some time, as far as it has to be known to let
// the same happen again: what came when and ran for how long, which nodes there
// were, and what the jobs said of themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "control/engine_fork.h"
#include "model/node_window.h"
#include "model/queue.h"
#include "model/record.h"

namespace gridfold {

// Millionths of a whole.
inline constexpr std::int64_t kWholeShare = 1'000'000;

// What a job does with its devices, by its own word; unknown is not zero.
struct JobHabits {
  Known<std::int64_t> devices_used;  // of those that each of its tasks holds
  Known<std::int64_t> input;         // share of a step: waiting for what it reads
  Known<std::int64_t> network;       // likewise: for other tasks
  bool any() const { return devices_used.is_known() || input.is_known() || network.is_known(); }
  friend bool operator==(const JobHabits&, const JobHabits&) = default;
};

struct DayJob {
  std::shared_ptr<const JobSpec> spec;  // shared with the job's record
  Instant at{};                         // from when on it could start
  Duration run{};                       // so long it works, wherever it does
  bool guessed = false;                 // its run was not seen to end
  Instant leaves = Instant::never();    // taken back then, if it has not started
  JobHabits habits;
};

// The node as it was from then on.
struct DayNode {
  Instant at{};
  NodeRecord node;
};

struct Day {
  Instant from{};
  Instant to{};
  EngineOptions engine;
  MakePolicies make_policies;
  bool learned_run_times = false;
  QueueConfiguration queues;
  std::vector<NodeWindow> windows;
  std::vector<DayNode> nodes;  // in order of time; none is older than `from`
  std::vector<DayJob> jobs;    // likewise
};

}  // namespace gridfold
