// Windows in which nodes are closed. Work that would last into one does not
// start there; what still runs there when it begins is asked to save, stopped
// with its grace, and waits again. Afterwards the node is as before.
//
// Two kinds of work may run up to a window's begin, for they can be stopped at
// any time: fillers, and jobs that a policy moves about in rounds. Of all others
// it must be known how long they run: by their limit, their queue's, what history
// tells, or what jobs without a limit are taken to run (BackfillOptions).
#include <algorithm>
#include <set>

#include "base/planted.h"
#include "engine/state.h"

namespace gridfold {

Instant Engine::State::lasts_until(const EngineJob& job) const {
  if (is_filler(job) || job.by_rounds) return now;
  return end_of(now, planned_run(job.record));
}

void Engine::State::look_ahead_for(const EngineJob& job, Duration delay) {
  if (windows.empty()) return;
  const Instant until = lasts_until(job);
  windows.close_before(until > now ? end_of(until, delay) : now);
}

bool Engine::State::is_open_to(const EngineJob& job, NodeId node) const {
  return cluster.usable(node) && windows.closing(node, lasts_until(job)) == nullptr;
}

// Whether groups of jobs are told apart by how long these run changes with it.
void Engine::State::plan_windows(const std::vector<NodeWindow>& list) {
  const bool were_empty = windows.empty();
  windows.plan(list);
  if (windows.empty() == were_empty || options.backfill.mode != BackfillMode::kNone) return;
  recent_shapes.clear();
  for (EngineJob* job : jobs.in_order()) {
    detach(*job);
    attach(*job);
  }
}

// Those that the time has brought, or changed.
void Engine::State::follow_windows() {
  windows.follow(now, freed);
  if (GRIDFOLD_PLANTED_BUG(window_stops_nobody)) return;
  std::map<JobId, NodeId> caught;
  for (const NodeId node : windows.closed()) {
    for (const Holding& holding : cluster.holdings(node)) {
      if (!holding.leaves) caught.try_emplace(holding.job, node);
    }
  }
  for (const auto& [id, node] : caught) {
    EngineJob& job = jobs.at(id);
    if (job.record.stopping != StopCause::kNone) continue;
    touch(job);
    const NodeWindows::Span& span = *windows.closing(node, now);
    begin_stop(job, StopCause::kRequeue,
               Reason(ReasonCode::kMaintenance, {{"window", windows.planned()[span.window].name},
                                                 {"node", cluster.record(node).spec.name},
                                                 {"until_ns", span.until.ns}}));
  }
}

// Of nodes that have room for the job, or would have, and are closed to it.
Reason Engine::State::maintenance_of(const EngineJob& job, const std::vector<NodeId>& nodes) const {
  const Instant until = lasts_until(job);
  const NodeWindows::Span* first = nullptr;
  for (const NodeId node : nodes) {
    const NodeWindows::Span* span = windows.closing(node, until);
    if (first == nullptr || span->from < first->from) first = span;
  }
  Reason reason(ReasonCode::kMaintenance, {{"window", windows.planned()[first->window].name},
                                           {"nodes", static_cast<std::int64_t>(nodes.size())},
                                           {"from_ns", first->from.ns},
                                           {"until_ns", first->until.ns}});
  const Duration run = planned_run(job.record);
  if (run < kForEver) reason.params.emplace_back("run_ns", run.ns);
  return reason;
}

}  // namespace gridfold
