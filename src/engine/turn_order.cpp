#include "engine/turn_order.h"

#include <algorithm>
#include <cassert>

#include "base/planted.h"

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

// Its entry in a list sorted by kind; made when there is none.
template <class Value>
Value& entry_of(std::vector<std::pair<TurnOrder::Kind, Value>>& list, TurnOrder::Kind kind) {
  const auto is_before = [](const auto& entry, TurnOrder::Kind k) { return entry.first < k; };
  auto at = std::lower_bound(list.begin(), list.end(), kind, is_before);
  if (at == list.end() || at->first != kind) at = list.insert(at, {kind, Value{}});
  return at->second;
}

}  // namespace

// --- Numbers ---

void NumberSet::put(std::uint32_t number) {
  if (number / 64 >= words_.size()) words_.resize(number / 64 + 1);
  words_[number / 64] |= std::uint64_t{1} << number % 64;
}

void NumberSet::drop(std::uint32_t number) {
  if (number / 64 < words_.size()) words_[number / 64] &= ~(std::uint64_t{1} << number % 64);
}

bool NumberSet::has(std::uint32_t number) const {
  return number / 64 < words_.size() && (words_[number / 64] >> number % 64 & 1) != 0;
}

bool NumberSet::meets(const NumberSet& other) const {
  const std::size_t words = std::min(words_.size(), other.words_.size());
  for (std::size_t w = 0; w < words; ++w) {
    if ((words_[w] & other.words_[w]) != 0) return true;
  }
  return false;
}

// --- Kinds ---

TurnOrder::TurnOrder(QueueTree& queues) : queues_(queues) {
  add_kind(false);
  add_kind(true);
}

TurnOrder::Kind TurnOrder::add_kind(bool filler) {
  const auto kind = static_cast<Kind>(kinds_.size());
  kinds_.push_back({filler});
  open_[filler].put(kind);
  return kind;
}

void TurnOrder::shut(Kind kind) {
  KindState& state = kinds_[kind];
  assert(kind > kAloneFiller && state.groups > 0);
  if (state.shut) return;
  state.shut = true;
  state.shut_at = shut_.size();
  shut_.push_back(kind);
  open_[state.filler].drop(kind);
  open_groups_ -= state.groups;
}

void TurnOrder::open(Kind kind) {
  KindState& state = kinds_[kind];
  if (!state.shut) return;
  state.shut = false;
  shut_[state.shut_at] = shut_.back();
  kinds_[shut_[state.shut_at]].shut_at = state.shut_at;
  shut_.pop_back();
  open_[state.filler].put(kind);
  open_groups_ += state.groups;
}

// --- Groups ---

TurnOrder::Place& TurnOrder::place_of(QueueId place) {
  if (!queues_.takes_turns()) return everything_;
  if (places_.size() <= place.value) places_.resize(place.value + 1);
  return places_[place.value];
}

TurnOrder::Groups& TurnOrder::own(Place& place, Kind kind) { return entry_of(place.own, kind); }

void TurnOrder::list_first(Place& place, Kind kind, const Groups& groups) {
  if (groups.empty()) {
    place.unlisted.drop(kind);
  } else if (kinds_[kind].shut) {
    place.unlisted.put(kind);
  } else {
    place.firsts.emplace(groups.begin()->first, kind);
    place.unlisted.drop(kind);
  }
}

void TurnOrder::unlist_first(Place& place, Kind kind, const Groups& groups) {
  if (!groups.empty() && !place.unlisted.has(kind))
    place.firsts.erase({groups.begin()->first, kind});
}

void TurnOrder::add(QueueId at, Kind kind, const PendingKey& first, PendingGroup* group) {
  count(at, kind, +1);
  Place& place = place_of(at);
  Groups& groups = own(place, kind);
  unlist_first(place, kind, groups);
  groups.emplace(first, group);
  list_first(place, kind, groups);
}

void TurnOrder::remove(QueueId at, Kind kind, const PendingKey& first) {
  Place& place = place_of(at);
  Groups& groups = own(place, kind);
  unlist_first(place, kind, groups);
  groups.erase(first);
  list_first(place, kind, groups);
  count(at, kind, -1);
}

void TurnOrder::change_first(QueueId at, Kind kind, const PendingKey& from, const PendingKey& to) {
  Place& place = place_of(at);
  Groups& groups = own(place, kind);
  unlist_first(place, kind, groups);
  auto entry = groups.extract(from);
  entry.key() = to;
  groups.insert(std::move(entry));
  list_first(place, kind, groups);
}

bool TurnOrder::has(QueueId at, Kind kind, const PendingKey& first,
                    const PendingGroup* group) const {
  if (queues_.takes_turns() && at.value >= places_.size()) return false;
  const Place& place = queues_.takes_turns() ? places_[at.value] : everything_;
  for (const auto& [of, groups] : place.own) {
    const auto found = groups.find(first);
    if (of == kind && found != groups.end()) return found->second == group;
  }
  return false;
}

// Here and above; who has nothing left is no longer among the busy.
void TurnOrder::count(QueueId at, Kind kind, int sign) {
  KindState& state = kinds_[kind];
  state.groups += sign;
  if (!state.shut) open_groups_ += sign;
  if (state.groups == 0) open(kind);
  if (!queues_.takes_turns()) return;
  for (QueueId id = at; !id.is_none(); id = queues_.parent(id)) {
    const QueueId parent = queues_.parent(id);
    place_of(id);
    if (!parent.is_none()) place_of(parent);
    Place& here = places_[id.value];
    std::int32_t& beneath = entry_of(here.beneath, kind);
    beneath += sign;
    beneath > 0 ? here.kinds.put(kind) : here.kinds.drop(kind);
    here.groups += sign;
    std::vector<QueueId>& siblings = parent.is_none() ? roots_ : places_[parent.value].busy;
    here.groups > 0 ? put_sorted(siblings, id) : drop_sorted(siblings, id);
  }
}

// --- Whose turn it is ---

// Of its own open kinds; nothing when it has none.
std::pair<PendingKey, PendingGroup*> TurnOrder::first_of(Place& place, bool filler) {
  place.unlisted.for_each_in_both(open_[filler],
                                  [&](Kind kind) { list_first(place, kind, own(place, kind)); });
  for (auto it = place.firsts.begin(); it != place.firsts.end();) {
    const auto [first, kind] = *it;
    if (kinds_[kind].shut) {
      it = place.firsts.erase(it);
      place.unlisted.put(kind);
    } else if (kinds_[kind].filler != filler) {
      ++it;
    } else {
      return {first, own(place, kind).begin()->second};
    }
  }
  return {};
}

std::pair<PendingKey, PendingGroup*> TurnOrder::next() {
  assert(!empty());
  if (GRIDFOLD_PLANTED_BUG(order_by_address)) {
    std::pair<PendingKey, PendingGroup*> least;
    const auto look_at = [&](const Place& place) {
      for (const auto& [kind, groups] : place.own) {
        for (const auto& entry : groups) {
          if (is_open(kind) && (least.second == nullptr || entry.second < least.second))
            least = entry;
        }
      }
    };
    look_at(everything_);
    for (const Place& place : places_) look_at(place);
    return least;
  }
  if (!queues_.takes_turns()) {
    const auto filler = first_of(everything_, true);
    const auto other = first_of(everything_, false);
    if (filler.second == nullptr || other.second == nullptr)
      return filler.second == nullptr ? other : filler;
    return other.first < filler.first ? other : filler;
  }
  const auto waiting = [&](QueueId id, bool filler) {
    return places_[id.value].kinds.meets(open_[filler]);
  };
  const bool filler =
      std::none_of(roots_.begin(), roots_.end(), [&](QueueId id) { return waiting(id, false); });
  const std::vector<QueueId>* among = &roots_;
  for (;;) {
    QueueId best = QueueId::none();
    for (const QueueId id : *among) {
      if (waiting(id, filler) && (best.is_none() || queues_.goes_before(id, best))) best = id;
    }
    Place& here = places_[best.value];
    const bool has_child = std::any_of(here.busy.begin(), here.busy.end(),
                                       [&](QueueId id) { return waiting(id, filler); });
    if (!has_child) return first_of(here, filler);
    among = &here.busy;
  }
}

}  // namespace gridfold
