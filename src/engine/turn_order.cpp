#include "engine/turn_order.h"

#include <algorithm>
#include <cassert>

namespace gridfold {
namespace {

void put_sorted(std::vector<QueueId>& list, QueueId id) {
  const auto at = std::lower_bound(list.begin(), list.end(), id);
  if (at == list.end() || *at != id) list.insert(at, id);
}

void drop_sorted(std::vector<QueueId>& list, QueueId id) {
  const auto at = std::lower_bound(list.begin(), list.end(), id);
  if (at != list.end() && *at == id) list.erase(at);
}

}  // namespace

bool TurnOrder::has(const PendingKey& first, const PendingGroup* group) const {
  const auto it = all_.find(first);
  return it != all_.end() && it->second == group;
}

void TurnOrder::add(QueueId place, const PendingKey& first, PendingGroup* group) {
  if (spare_.empty()) {
    all_.emplace(first, group);
  } else {
    spare_.key() = first;
    spare_.mapped() = group;
    all_.insert(std::move(spare_));
  }
  if (!queues_.takes_turns()) return;
  count(place, first.filler, +1);
  places_[place.value].groups.emplace(first, group);
}

void TurnOrder::remove(QueueId place, const PendingKey& first) {
  spare_ = all_.extract(first);
  if (!queues_.takes_turns()) return;
  places_[place.value].groups.erase(first);
  count(place, first.filler, -1);
}

// Here and above; who has nothing left is no longer among the busy.
void TurnOrder::count(QueueId place, bool filler, int sign) {
  for (QueueId id = place; !id.is_none(); id = queues_.parent(id)) {
    const QueueId parent = queues_.parent(id);
    const std::size_t needed = 1 + std::max(id.value, parent.is_none() ? 0 : parent.value);
    if (places_.size() < needed) places_.resize(needed);
    Place& here = places_[id.value];
    here.beneath[filler] += sign;
    std::vector<QueueId>& siblings = parent.is_none() ? roots_ : places_[parent.value].busy;
    here.beneath[0] + here.beneath[1] > 0 ? put_sorted(siblings, id) : drop_sorted(siblings, id);
  }
}

std::pair<PendingKey, PendingGroup*> TurnOrder::next() const {
  assert(!all_.empty());
  if (!queues_.takes_turns()) return *all_.begin();
  const auto waiting = [&](QueueId id, bool filler) {
    return places_[id.value].beneath[filler] > 0;
  };
  const bool filler =
      std::none_of(roots_.begin(), roots_.end(), [&](QueueId id) { return waiting(id, false); });
  const std::vector<QueueId>* among = &roots_;
  for (;;) {
    QueueId best = QueueId::none();
    for (const QueueId id : *among) {
      if (waiting(id, filler) && (best.is_none() || queues_.goes_before(id, best))) best = id;
    }
    const Place& here = places_[best.value];
    const bool has_child = std::any_of(here.busy.begin(), here.busy.end(),
                                       [&](QueueId id) { return waiting(id, filler); });
    if (!has_child) {
      const auto first = std::find_if(here.groups.begin(), here.groups.end(),
                                      [&](const auto& own) { return own.first.filler == filler; });
      return *first;
    }
    among = &here.busy;
  }
}

}  // namespace gridfold
