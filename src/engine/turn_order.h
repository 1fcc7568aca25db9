// Which pending group is tried next: in the order of submission, or, where
// queues take turns by their share, that of the queue which has least.
//
// Groups of one kind, of whatever queue, ask for the same: when one has found no
// room, none of them will, and the kind is shut as a whole until there may be
// room again. So what an event costs grows with the kinds that wait, and not
// with their groups or jobs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "engine/pending_key.h"
#include "engine/queue_tree.h"

namespace gridfold {

struct PendingGroup;

// A set of small numbers.
class NumberSet {
 public:
  void put(std::uint32_t number);
  void drop(std::uint32_t number);
  bool has(std::uint32_t number) const;
  bool meets(const NumberSet& other) const;
  // The numbers that are in both, in order.
  template <class Visit>
  void for_each_in_both(const NumberSet& other, Visit visit) const {
    for (std::size_t w = 0; w < words_.size() && w < other.words_.size(); ++w) {
      for (std::uint64_t both = words_[w] & other.words_[w]; both != 0; both &= both - 1)
        visit(static_cast<std::uint32_t>(w * 64) +
              static_cast<std::uint32_t>(__builtin_ctzll(both)));
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

// Groups by their first job, which is the one that is tried.
class TurnOrder {
 public:
  using Kind = std::uint32_t;
  // Of groups that share no fate: never shut.
  static constexpr Kind kAlone = 0;
  static constexpr Kind kAloneFiller = 1;

  // The queues outlive it. Empty whenever queues begin or cease to take turns.
  explicit TurnOrder(QueueTree& queues);

  // The next number from 2 on; open.
  Kind add_kind(bool filler);
  // Of a kind that has groups: they are passed over until it is opened. A kind
  // whose last group leaves is open again.
  void shut(Kind kind);
  void open(Kind kind);
  bool is_open(Kind kind) const { return !kinds_[kind].shut; }
  bool is_filler(Kind kind) const { return kinds_[kind].filler; }
  bool has_groups(Kind kind) const { return kinds_[kind].groups > 0; }
  const std::vector<Kind>& shut_kinds() const { return shut_; }

  void add(QueueId place, Kind kind, const PendingKey& first, PendingGroup* group);
  void remove(QueueId place, Kind kind, const PendingKey& first);
  // The group has another first job.
  void change_first(QueueId place, Kind kind, const PendingKey& from, const PendingKey& to);
  bool has(QueueId place, Kind kind, const PendingKey& first, const PendingGroup* group) const;

  // Whether no group of an open kind is there.
  bool empty() const { return open_groups_ == 0; }
  // Requires !empty(). By turns: work with rights to its place before fillers,
  // of all queues; then from the top of the tree down the one that goes before
  // its siblings (QueueTree::goes_before), with its own jobs after its
  // children's; in it by job priority and submission. Of open kinds.
  std::pair<PendingKey, PendingGroup*> next();

 private:
  using Groups = std::map<PendingKey, PendingGroup*>;
  struct Place {
    std::vector<std::pair<Kind, Groups>> own;  // sorted; emptied ones stay
    // First jobs of its own kinds: of those that are open, and of some that have
    // been shut since they were looked at.
    std::set<std::pair<PendingKey, Kind>> firsts;
    NumberSet unlisted;                                  // own kinds with groups, not in firsts
    std::vector<std::pair<Kind, std::int32_t>> beneath;  // groups here and beneath; sorted
    NumberSet kinds;                                     // those that have some
    std::vector<QueueId> busy;                           // children that have any; sorted
    std::int64_t groups = 0;                             // here and beneath
  };
  struct KindState {
    bool filler = false;
    bool shut = false;
    std::size_t shut_at = 0;
    std::int64_t groups = 0;
  };

  Place& place_of(QueueId place);
  Groups& own(Place& place, Kind kind);
  void list_first(Place& place, Kind kind, const Groups& groups);
  void unlist_first(Place& place, Kind kind, const Groups& groups);
  void count(QueueId place, Kind kind, int sign);
  std::pair<PendingKey, PendingGroup*> first_of(Place& place, bool filler);

  QueueTree& queues_;
  std::vector<KindState> kinds_;
  NumberSet open_[2];  // with rights, fillers
  std::vector<Kind> shut_;
  std::int64_t open_groups_ = 0;
  Place everything_;            // where queues do not take turns
  std::vector<Place> places_;   // by QueueId, where they do
  std::vector<QueueId> roots_;  // sorted
};

}  // namespace gridfold
