// The Score extension point: which of the nodes that fit is best for a task,
// and which of its devices. A policy is one file pair in policies/ and one
// line in policies/registry.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/cluster.h"
#include "model/solve.h"

namespace gridfold {

// Devices of a node as a mask, bit i for device i, and how good the node is
// with them: higher is better, any range.
struct Choice {
  std::int64_t score = 0;
  std::uint64_t devices = 0;
};

// Pure: the same room and request give the same choice until the policy is told
// something from which it learns, and learning depends on what it was told
// alone. Not thread-safe; the engine owns it.
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;
  virtual std::string_view name() const = 0;

  // Called once, before all else. The cluster outlives the policy: one that
  // weighs a node against the rest may read its rooms whenever it is called,
  // and touch() the nodes of which it has changed its mind.
  virtual void prepare(Cluster& cluster) { static_cast<void>(cluster); }

  // True: the engine draws among nodes of the best score, whatever tie-break
  // was asked for.
  virtual bool draws_among_equals() const { return false; }

  // What besides its room decides how this node is scored: nodes of the same
  // room and the same key get the same choice, which is then worked out once
  // for all of them. A policy that scores by the node's number, record or
  // history says so here, and touch()es a node whose key has changed.
  virtual std::uint64_t node_key(NodeId node) const {
    static_cast<void>(node);
    return 0;
  }

  // Called only when `request` fits on `node`.
  virtual Choice choose(const NodeRoom& node, const Request& request) const = 0;

  // Whether it learns from what observe() tells it.
  virtual bool learns() const { return false; }

  // A task of this request has arrived (once a task, in order of submission;
  // again after a restart). True when this changes scores of most nodes: all
  // are then computed anew.
  virtual bool observe(const Request& request) {
    static_cast<void>(request);
    return false;
  }

  // A task of this request has left its place, which is free again. True as
  // for observe().
  virtual bool departed(const Request& request) {
    static_cast<void>(request);
    return false;
  }

  // Work that the policy wants done outside the step, such as a plan; null:
  // none now. At most one is under way: asked for again once adopt() was called.
  virtual std::shared_ptr<const SolveProblem> problem() { return nullptr; }
  // The answer to the last problem(). True as for observe().
  virtual bool adopt(const SolveAnswer& answer) {
    static_cast<void>(answer);
    return false;
  }
};

// Works out at once whatever the policy wants worked out; true as for adopt().
// For who drives a policy without an engine.
inline bool settle(PlacementPolicy& policy) {
  bool learned = false;
  while (const auto problem = policy.problem()) learned |= policy.adopt(*problem->solve());
  return learned;
}

// The device choice of policies that have none of their own: device_fit.h says
// which. Where nothing is known of the devices' places: the first that fit, for
// slices the fullest device that still fits (so that few are opened), lowest
// index first.
std::uint64_t first_fit_devices(const NodeRoom& node, const Request& request);

}  // namespace gridfold
