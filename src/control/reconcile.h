// Compares what we believe with what a backend sees, by level: events may be
// lost, late or doubled, and the end state is the same. Pure.
#pragma once

#include <span>
#include <vector>

#include "control/backend.h"
#include "engine/engine.h"

namespace gridfold {

struct Reconciliation {
  std::vector<Event> events;  // facts that the engine has missed
  // Orders that the backend has missed: attempts to launch and to stop again,
  // and strangers to kill (an attempt that no record knows).
  struct Again {
    TaskId task;
    std::uint32_t attempt = 0;
  };
  std::vector<Again> launch;
  std::vector<Again> stop;
  std::vector<StopOrder> kill;
  std::vector<Again> forget;
  std::vector<NodeId> boot;
  std::vector<NodeId> release;
};

// What an attempt that is on record as held, and that the backend does not
// know, can mean: after a start the order may have died with the last daemon,
// and is given again; later it was given, so what it started has vanished
// (with its node's reboot, say) and may even have done its work. The same
// attempt must not start twice, so that one is lost.
enum class HeldOrders : std::uint8_t { kMayBeLost, kWereGiven };

// `jobs`: all live jobs in order of id. Tasks on nodes that the observation
// does not reach are left alone.
Reconciliation reconcile(std::span<const JobRecord* const> jobs, std::span<const NodeRecord> nodes,
                         const Observation& observed, HeldOrders held);

}  // namespace gridfold
