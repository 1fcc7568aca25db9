// A random world for `sim verify`: nodes, queues, jobs, what users and
// operators do, and what fails, all drawn from one seed before the run. What
// happens is a list of actions, each of which can be left out, so that a
// failing run can be made smaller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "engine/engine.h"
#include "model/job.h"
#include "model/node.h"
#include "model/node_window.h"
#include "simulator/fault_plan.h"
#include "simulator/simulated_cluster.h"

namespace gridfold::verify {

// A job's name is the world's own key for it: no two jobs share one.
struct PlannedJob {
  JobSpec spec;
  TaskTruth truth;
};

// Jobs submitted by one call.
struct PlannedBatch {
  std::string key;  // idempotency key; empty: none, and never sent again
  bool held = false;
  std::vector<PlannedJob> jobs;
};

enum class ActionKind : std::uint8_t {
  kSubmit,         // index: batch
  kSubmitAgain,    // index: batch; the same call a second time
  kCancel,         // index: job, over all batches in order
  kHold,           // index: job
  kRelease,        // index: job
  kRequeue,        // index: job
  kCancelStorm,    // cancels `count` jobs from `index` on
  kDrain,          // index: node
  kUndrain,        // index: node
  kCrash,          // the daemon dies now
  kCrashAtCommit,  // index: CommitCrash; at the next commit
  kCrashInOrders,  // after `count` orders of the next turn that gives some
  kStoreFull,      // for `duration`
  kStoreBroken,    // input/output errors for `duration`
  kNodeOff,        // index: node, for `duration`
  kNodeReboot,     // index: node; back before anyone noticed
  kNodeCut,        // index: node, for `duration`
  kTakeOver,       // a second daemon; the first lives on for `duration`
  kLimitArray,     // index: job; `count` jobs of its array at a time
};
inline constexpr std::size_t kActionKinds = 19;
std::string_view to_string(ActionKind kind);

enum class CommitCrash : std::uint8_t {
  kBefore,   // nothing of it is stored
  kAfter,    // stored, and nobody was told
  kInLimbo,  // refused as unavailable, and stored after all by the crash
};

struct Action {
  Instant at;
  ActionKind kind = ActionKind::kCancel;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  Duration duration;  // also: how long a crashed daemon stays away
  // The queues that the next daemon is started with: index in World::queues.
  std::uint32_t queues = 0;
};

struct World {
  std::string policy;
  std::map<std::string, std::string> policy_settings;
  TieBreak tie_break = TieBreak::kLowestName;
  std::vector<NodeSpec> nodes;
  bool in_rounds = false;  // of the jobs that train, those that can be decided so
  BackfillOptions backfill;
  ConsolidationOptions consolidation;
  Duration gang_repair{};
  // Configurations of the queues; the first is the one at the start and at the end.
  std::vector<std::vector<QueueSpec>> queues;
  std::vector<NodeWindow> windows;  // by the names of nodes; over before it is quiet
  SimulatedClusterOptions cluster;
  FaultRates faults;
  Duration reconcile_interval;
  Instant quiet;  // nothing fails and nobody acts from then on
  std::vector<PlannedBatch> batches;
  std::vector<Action> actions;  // in order of time

  // One role of whole devices of one class, wherever they lie.
  bool goes_by_rounds(const JobSpec& job) const;
};

World draw_world(std::uint64_t seed);

}  // namespace gridfold::verify
