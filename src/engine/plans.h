// What is promised to jobs that wait: derived from their records, beside the
// timeline that the promises are made on. Part of the engine's inside.
#pragma once

#include <functional>
#include <set>

#include "engine/timeline.h"

namespace gridfold {

// `Key` orders jobs as the queue does.
template <class Key>
struct Plans {
  class Ends final : public ExpectedEnds {
   public:
    std::optional<Instant> end_of(JobId job) const override { return ask(job); }
    std::function<std::optional<Instant>(JobId)> ask;
  };

  Plans(const Cluster& cluster, DomainSlots& domains) : timeline(cluster, domains, ends) {}

  Ends ends;
  Timeline timeline;
  std::set<Key> reserved;  // jobs with a reservation
  // Of these, those that ask for slices: plans count whole devices, so room for
  // them may be there earlier.
  std::set<Key> sliced;
  bool room_freed = false;  // and they were not looked at since
  // Something may start, or be promised, that could not before.
  bool changed = false;
  // When something is to be looked at again without an event.
  Instant next = Instant::never();
};

}  // namespace gridfold
