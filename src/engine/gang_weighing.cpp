// Gangs that say what they exchange: several places are weighed by how long a
// step takes there, with what other jobs send.
//
// The places, in order of packing: those of rule 3 in the nearest ring that
// holds the gang (the best few by the counts, and the best of each kind of
// domain), each filled by rule 4, then over the fewest nodes where tasks can
// share one, then past what others load; after these single nodes that hold
// the whole gang; and, where others slow down what was found, the same of the
// next wider ring.
//
// The rule: of the places whose step takes at most a twentieth longer than the
// fastest one's, the first in order of packing, of equal counts the fastest.
// Below that difference the links' true speeds decide, which nobody knows so
// well; room that is left whole is certain.
#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "engine/gang_placement.h"

namespace gridfold {
namespace {

constexpr std::int64_t kTolerance = 20;  // a part of so many
constexpr std::size_t kHomesRanked = 64;
constexpr std::size_t kHomesTaken = 4;  // the best by the counts
constexpr std::size_t kKindsTaken = 4;  // and of other kinds
constexpr std::size_t kNodesTaken = 3;  // single nodes for the whole gang
constexpr std::size_t kRingsTaken = 2;
// Evaluations cost about as much as there are ranks.
constexpr std::size_t kMostWeighed = 16;
constexpr std::int64_t kMostRanksWeighed = 65'536;

bool same_places(std::span<const GangSeat> a, std::span<const GangSeat> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const GangSeat& x, const GangSeat& y) {
                      return x.node == y.node && x.devices == y.devices && x.start == y.start;
                    });
}

}  // namespace

std::size_t GangPlacer::most_weighed(const Gang& gang) const {
  const std::int64_t ranks = gang.traffic == nullptr ? 1 : gang.traffic->ranks();
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(kMostRanksWeighed / ranks, 2, kMostWeighed));
}

bool GangPlacer::plan_weighed(const Gang& gang, const Request& request, std::int64_t tasks) {
  const TopologyWish& wish = *gang.wish;
  const bool is_free = wish.prefer.empty() && wish.spread.empty() && !wish.segments;
  const std::int64_t units = wish.segments ? tasks / wish.segments->size : tasks;
  TreePacking packing(*tree_, order_);
  drafts_.clear();
  std::size_t rings = 0;
  HomeChoice by_packing;
  for (std::size_t i = 0; i < rings_.size() && rings < kRingsTaken; ++i) {
    packing.count(wish.segments ? Room(segment_room_) : room_,
                  wish.segments               ? std::string_view(wish.segments->within)
                  : wish.prefer == kNodeLevel ? kNodeLevel
                                              : std::string_view());
    const auto look = i == 0 ? TreePacking::Look::kOnlyHere : TreePacking::Look::kBeneathToo;
    const auto homes =
        wish.spread.empty()
            ? packing.ranked_homes(rings_[i], wish.require, units, look, kHomesRanked)
            : packing.spread_homes(rings_[i], wish.require, wish.spread, tasks);
    if (homes.empty()) continue;
    if (++rings == 1) {
      const auto counts = [](const TreePacking::Home& at) { return std::pair(at.measure, at.left); };
      std::size_t equals = 1;
      while (equals < homes.size() && counts(homes[equals]) == counts(homes[0])) ++equals;
      by_packing =
          weighed(homes.first(equals), packing.others(),
                  wish.spread.empty() ? DecidedBy::kFewestDomains : DecidedBy::kEvenest);
    }
    pick_homes(homes);
    weigh_ring(gang, request, tasks, i, picked_);
    if (drafts_.empty()) {
      // The counts were too high; they are corrected by the last filling.
      return false;
    }
    if (is_free && rings == 1 && may_share_nodes(tasks)) {
      packing.count(room_, kNodeLevel);
      const auto nodes = packing.ranked_homes(tree_->domains_at(kNodeLevel), wish.require, tasks,
                                              TreePacking::Look::kOnlyHere, kNodesTaken);
      picked_.assign(nodes.begin(), nodes.end());
      for (TreePacking::Home& node : picked_)
        node.measure = std::numeric_limits<std::int64_t>::max();
      weigh_ring(gang, request, tasks, i, picked_);
    }
    if (!is_free || !is_slowed_by_others(gang)) break;
  }
  if (drafts_.empty()) return false;
  const std::size_t chosen = choose_weighed();
  plan_.home = why_weighed(chosen, by_packing);
  plan_.otherwise = fastest_but(chosen);
  plan_.expected = drafts_[chosen].cost;
  std::swap(plan_.seats, weighed_seats_[chosen]);
  number_seats(gang, tasks);
  if (plan_.expected && !wish.segments) {
    plan_.expected = cost_->order_ranks(gang, plan_.seats);
  }
  return true;
}

// The best few, and the best of each other kind.
void GangPlacer::pick_homes(std::span<const TreePacking::Home> homes) {
  picked_.clear();
  std::array<std::uint32_t, kKindsTaken> kinds{};
  auto end = kinds.begin();
  for (std::size_t i = 0; i < homes.size(); ++i) {
    const std::uint32_t kind = cost_->kind_of(homes[i].domain);
    const bool is_new = end != kinds.end() && std::find(kinds.begin(), end, kind) == end;
    if (is_new) *end++ = kind;
    if (is_new || i < kHomesTaken) picked_.push_back(homes[i]);
  }
}

void GangPlacer::weigh_ring(const Gang& gang, const Request& request, std::int64_t tasks,
                            std::size_t ring, std::span<const TreePacking::Home> homes) {
  const TopologyWish& wish = *gang.wish;
  const bool one_way = !wish.spread.empty() || wish.segments;
  const bool shares = !one_way && wish.prefer != kNodeLevel && may_share_nodes(tasks);
  for (const TreePacking::Home& home : homes) {
    const auto with = [&](Fill how) {
      weigh(gang, request, tasks, {home.domain, ring, home.measure, home.left, how, {}});
    };
    with(Fill::kByScore);
    if (one_way) continue;
    if (shares && !tree_->is_node(home.domain)) with(Fill::kFewestNodes);
    if (quieten(home.domain, tasks)) with(Fill::kQuiet);
  }
}

// Fills the home so and notes what that costs, unless it was weighed before.
void GangPlacer::weigh(const Gang& gang, const Request& request, std::int64_t tasks,
                       Weighed draft) {
  if (drafts_.size() == most_weighed(gang)) return;
  if (!fill(*gang.wish, request, draft.home, tasks, draft.how)) return;
  sort_along_tree(plan_.seats);
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    if (same_places(weighed_seats_[i], plan_.seats)) return;
  }
  draft.cost = cost_->cost(gang, plan_.seats);
  if (weighed_seats_.size() == drafts_.size()) weighed_seats_.emplace_back();
  std::swap(weighed_seats_[drafts_.size()], plan_.seats);
  drafts_.push_back(draft);
}

// Whether any two tasks of the gang fit on one node, of those weighed first.
bool GangPlacer::may_share_nodes(std::int64_t tasks) const {
  if (tasks < 2) return false;
  const auto holds_two = [&](NodeId node) { return room_[tree_->domain_of(node).value] > 1; };
  const auto nodes = tree_->nodes_beneath(picked_.front().domain);
  return std::any_of(nodes.begin(), nodes.end(), holds_two);
}

// The home's room without what lies in domains over whose way up others send.
// False when that changes nothing, or leaves too little.
bool GangPlacer::quieten(DomainId home, std::int64_t tasks) {
  const DomainId end = tree_->subtree_end(home);
  bool any = false;
  for (DomainId at(home.value + 1); at < end && !any; at = DomainId(at.value + 1))
    any = room_[at.value] > 0 && cost_->is_loaded(at);
  if (!any) return false;
  quiet_room_.resize(tree_->size());
  std::copy(room_.begin() + static_cast<std::ptrdiff_t>(home.value),
            room_.begin() + static_cast<std::ptrdiff_t>(end.value),
            quiet_room_.begin() + static_cast<std::ptrdiff_t>(home.value));
  for (DomainId at(home.value + 1); at < end;) {
    if (!cost_->is_loaded(at)) {
      at = DomainId(at.value + 1);
      continue;
    }
    const std::int64_t fewer = quiet_room_[at.value];
    for (DomainId above = tree_->parent(at); fewer > 0; above = tree_->parent(above)) {
      quiet_room_[above.value] -= fewer;
      if (above == home) break;
    }
    const DomainId past = tree_->subtree_end(at);
    for (; at < past; at = DomainId(at.value + 1)) quiet_room_[at.value] = 0;
  }
  return quiet_room_[home.value] >= tasks;
}

// Whether the fastest place weighed so far would be faster if it were quiet.
bool GangPlacer::is_slowed_by_others(const Gang& gang) {
  std::size_t fastest = drafts_.size();
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    if (!drafts_[i].cost) continue;
    const bool faster =
        fastest == drafts_.size() || drafts_[i].cost->better_than(*drafts_[fastest].cost);
    if (faster) fastest = i;
  }
  if (fastest == drafts_.size()) return false;
  const auto quiet = cost_->undisturbed(gang, weighed_seats_[fastest]);
  const std::int64_t step = drafts_[fastest].cost->step.ns;
  return quiet && step - quiet->step.ns > step / kTolerance;
}

namespace {

// The order of packing.
template <class Draft>
auto packing_of(const Draft& draft) {
  return std::tuple(draft.ring, draft.measure, draft.left, draft.how);
}

}  // namespace

std::size_t GangPlacer::first_by_packing() const {
  std::size_t first = 0;
  for (std::size_t i = 1; i < drafts_.size(); ++i) {
    if (packing_of(drafts_[i]) < packing_of(drafts_[first])) first = i;
  }
  return first;
}

// By the rule above. Where nothing is known of the first place in order of
// packing, it stays.
std::size_t GangPlacer::choose_weighed() const {
  const std::size_t first = first_by_packing();
  if (!drafts_[first].cost) return first;
  std::int64_t least = drafts_[first].cost->step.ns;
  for (const Weighed& draft : drafts_) {
    if (draft.cost) least = std::min(least, draft.cost->step.ns);
  }
  const std::int64_t most = least + std::max<std::int64_t>(least, 0) / kTolerance;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    const Weighed& draft = drafts_[i];
    if (!draft.cost || draft.cost->step.ns > most) continue;
    const bool better = !best || packing_of(draft) < packing_of(drafts_[*best]) ||
                        (packing_of(draft) == packing_of(drafts_[*best]) &&
                         draft.cost->better_than(*drafts_[*best].cost));
    if (better) best = i;
  }
  return *best;
}

std::optional<StepTime> GangPlacer::fastest_but(std::size_t chosen) const {
  std::optional<StepTime> fastest;
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    if (i == chosen || !drafts_[i].cost) continue;
    if (!fastest || drafts_[i].cost->better_than(*fastest)) fastest = drafts_[i].cost;
  }
  return fastest;
}

// Either the counts decided, as they do without a cost, or the cost overruled
// them.
HomeChoice GangPlacer::why_weighed(std::size_t chosen, HomeChoice by_packing) const {
  const Weighed& here = drafts_[chosen];
  const Weighed& first = drafts_[first_by_packing()];
  if (here.home == by_packing.domain) return by_packing;
  HomeChoice choice = by_packing;
  choice.domain = here.home;
  choice.runner_up = first.home;
  choice.by = DecidedBy::kCost;
  choice.value = here.cost ? here.cost->step.ns : 0;
  choice.runner_up_value = first.cost ? first.cost->step.ns : 0;
  return choice;
}

}  // namespace gridfold
