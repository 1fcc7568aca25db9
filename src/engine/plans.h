// What is promised to jobs that wait: derived from their records, beside the
// timeline that the promises are made on. Part of the engine's inside.
#pragma once

#include <functional>
#include <set>
#include <vector>

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
  // Of these, those for which plans count with care (slot_need.h): room for them
  // may be there earlier. And of these, those for which there was, but no quota.
  std::set<Key> careful;
  std::set<Key> over_quota;
  // What was given back since these were looked at.
  std::vector<NodeId> freed;
  bool quota_freed = false;
  // Something may start, or be promised, that could not before.
  bool changed = false;
  // When something is to be looked at again without an event.
  Instant next = Instant::never();
};

}  // namespace gridfold
