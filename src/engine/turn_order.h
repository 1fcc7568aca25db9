// Which pending group is tried next: in the order of submission, or, where
// queues take turns by their share, that of the queue which has least.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "engine/pending_key.h"
#include "engine/queue_tree.h"

namespace gridfold {

struct PendingGroup;

// Groups by their first job, which is the one that is tried.
class TurnOrder {
 public:
  // The queues outlive it. Empty whenever queues begin or cease to take turns.
  explicit TurnOrder(QueueTree& queues) : queues_(queues) {}

  void add(QueueId place, const PendingKey& first, PendingGroup* group);
  void remove(QueueId place, const PendingKey& first);
  bool empty() const { return all_.empty(); }
  bool has(const PendingKey& first, const PendingGroup* group) const;
  const std::map<PendingKey, PendingGroup*>& all() const { return all_; }

  // Requires !empty(). By turns: work with rights to its place before fillers,
  // of all queues; then from the top of the tree down the one that goes before
  // its siblings (QueueTree::goes_before), with its own jobs after its
  // children's; in it by job priority and submission.
  std::pair<PendingKey, PendingGroup*> next() const;

 private:
  struct Place {
    std::map<PendingKey, PendingGroup*> groups;  // its own
    std::int64_t beneath[2] = {0, 0};            // groups here and beneath: with rights, fillers
    std::vector<QueueId> busy;                   // children that have had any; sorted
  };
  void count(QueueId place, bool filler, int sign);

  QueueTree& queues_;
  std::map<PendingKey, PendingGroup*> all_;
  // The entry last removed: groups leave and come back in turn.
  std::map<PendingKey, PendingGroup*>::node_type spare_;
  std::vector<Place> places_;   // by QueueId
  std::vector<QueueId> roots_;  // sorted
};

}  // namespace gridfold
