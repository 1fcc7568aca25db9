// The engine once more, as it is now, to try something out on: what would
// happen if nothing new came in, or if something were changed.
//
//   const EngineSnapshot snapshot = take_snapshot(engine, options, now, revision);
//   Engine fork = fork_engine(snapshot, make_policies());       // on any thread
//
// Records are the truth and the rest follows from them, so the copy is made of
// records. What an engine keeps beside them is not in it: what training jobs
// reported, what a policy has learned of the mix of requests. All else being equal
// it decides as the first would.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.h"
#include "control/store.h"
#include "engine/engine.h"

namespace gridfold {

// A value that is never changed once taken; safe to read on any thread.
struct EngineSnapshot {
  Instant at{};
  Revision revision = 0;  // of the store, when it was taken
  EngineOptions options;
  QueueConfiguration queues;
  std::vector<NodeWindow> windows;
  std::vector<NodePool> pools;
  std::vector<NodeRecord> nodes;  // by NodeId
  std::vector<JobRecord> jobs;    // that have not ended, in order of id
  std::vector<UsageRecord> usage;
};

// Fresh policies of the kind that decides.
using MakePolicies = std::function<Policies()>;

EngineSnapshot take_snapshot(const Engine& engine, const EngineOptions& options, Instant now,
                             Revision revision);

// The queues and nodes of the snapshot, without its jobs.
Engine fork_without_jobs(const EngineSnapshot& snapshot, Policies policies);
// What puts the snapshot's jobs into such an engine.
std::vector<Event> jobs_of(const EngineSnapshot& snapshot);

}  // namespace gridfold
