// Who may stop whom.
//
// - A filler has no right to its place: any work of another class may stop it,
//   whatever the priorities. Fillers stop nobody.
// - Other work is stopped for priority only where a queue says so: with
//   `preempts` on a queue, its jobs, and those of the queues beneath it, may stop
//   work of the same queues that comes strictly later in their order (priority of
//   the queue, then of the job). The nearest such queue counts. A job that was
//   evicted before is safe for a while, and for good after so many times.
// - A job whose queue has room for it within its guarantee may take back what
//   another queue holds beyond its own (reclaim.cpp), with the same safety.
#pragma once

#include <cstdint>

namespace gridfold {

enum class EvictionRight : std::uint8_t {
  kNone,
  kFiller,    // the victim has no right to its place
  kPriority,  // the queue lets its order decide
  kNotYet,    // as kPriority or kReclaim, but the victim is safe for now
  kReclaim,   // the victim has borrowed what the job's queue is guaranteed
};

}  // namespace gridfold
