#include "control/engine_fork.h"

#include <span>

namespace gridfold {
namespace {

// A turn looks through the nodes that it has changed for each that it changes.
constexpr std::size_t kNodesATurn = 256;

// Its record as it was. One that is up and has nothing said against it need not
// be restored first.
void add_node(const NodeRecord& node, std::vector<Event>& events) {
  if (!node.up || node.drained || node.dirty_devices != 0 || !node.pool.empty())
    events.emplace_back(NodeRestored{node});
  if (node.up) events.emplace_back(NodeJoined{node.spec});
}

}  // namespace

EngineSnapshot take_snapshot(const Engine& engine, const EngineOptions& options, Instant now,
                             Revision revision) {
  EngineSnapshot snapshot;
  snapshot.at = now;
  snapshot.revision = revision;
  snapshot.options = options;
  snapshot.options.verify = Verify::kOff;
  snapshot.queues = engine.queue_configuration();
  snapshot.windows = engine.windows();
  snapshot.pools = engine.pools();
  snapshot.nodes.assign(engine.nodes().begin(), engine.nodes().end());
  snapshot.usage = engine.usage_records();
  const std::vector<const JobRecord*> jobs = engine.jobs();
  snapshot.jobs.reserve(jobs.size());
  for (const JobRecord* job : jobs) {
    if (!is_terminal(job->state)) snapshot.jobs.push_back(*job);
  }
  return snapshot;
}

Engine fork_without_jobs(const EngineSnapshot& snapshot, Policies policies) {
  Engine engine(snapshot.options, std::move(policies));
  std::vector<Event> events;
  events.emplace_back(QueuesConfigured{snapshot.queues});
  if (!snapshot.windows.empty()) events.emplace_back(WindowsPlanned{snapshot.windows});
  std::uint64_t turn = engine.step(snapshot.at, events).turn;
  const std::span<const NodeRecord> nodes = snapshot.nodes;
  for (std::size_t first = 0; first < nodes.size(); first += kNodesATurn) {
    events.clear();
    events.emplace_back(TurnCommitted{turn});
    const std::size_t count = std::min(kNodesATurn, nodes.size() - first);
    for (const NodeRecord& node : nodes.subspan(first, count)) add_node(node, events);
    turn = engine.step(snapshot.at, events).turn;
  }
  events.clear();
  events.emplace_back(TurnCommitted{turn});
  for (const UsageRecord& usage : snapshot.usage) events.emplace_back(UsageRestored{usage});
  if (!snapshot.pools.empty()) events.emplace_back(PoolsPlanned{snapshot.pools});
  engine.step(snapshot.at, events);
  return engine;
}

std::vector<Event> jobs_of(const EngineSnapshot& snapshot) {
  std::vector<Event> events;
  events.reserve(snapshot.jobs.size());
  for (const JobRecord& job : snapshot.jobs) events.emplace_back(JobRestored{job});
  return events;
}

}  // namespace gridfold
