#include "engine/gang_placement.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/planted.h"
#include "engine/tie_rank.h"

namespace gridfold {
namespace {

// How often a count that proved too high is corrected.
constexpr int kMostCorrections = 64;

constexpr DomainId kRoot = DomainTree::root();

std::int64_t sum_of(std::span<const GangPart> parts, std::int64_t GangPart::*member) {
  std::int64_t sum = 0;
  for (const GangPart& part : parts) sum += part.*member;
  return sum;
}

}  // namespace

GangPlacer::GangPlacer(const Cluster& cluster, DomainSlots& slots, TieBreak tie_break,
                       std::uint64_t seed, GangCost* cost)
    : cluster_(cluster),
      slots_(slots),
      tie_break_(slots.policy().draws_among_equals() ? TieBreak::kRandom : tie_break),
      seed_(seed),
      cost_(cost),
      order_(*this),
      seating_(cluster, slots, tie_break_) {}

std::int64_t GangPlacer::Order::score(DomainId domain) {
  return placer_.slots_.best_score(*request, domain);
}

std::uint64_t GangPlacer::Order::rank(DomainId domain) {
  if (placer_.tie_break_ == TieBreak::kLowestName) return domain.value;
  return tie_rank(placer_.cluster_, placer_.tie_break_, ~placer_.salt_, NodeId(domain.value));
}

const GangPlan* GangPlacer::plan(const Gang& gang, RandomStream& random) {
  tree_ = &slots_.tree();
  plan_.expected.reset();
  plan_.otherwise.reset();
  salt_ = tie_break_ == TieBreak::kRandom ? random.next() : seed_;
  const Request& first = *gang.parts.front().request;
  const bool alike = std::all_of(gang.parts.begin(), gang.parts.end(),
                                 [&](const GangPart& part) { return part.request == &first; });
  return alike ? plan_alike(gang, first) : plan_roles(gang);
}

// --- Gangs of alike tasks ---

const GangPlan* GangPlacer::plan_alike(const Gang& gang, const Request& request) {
  const TopologyWish& wish = *gang.wish;
  const std::int64_t wanted = sum_of(gang.parts, &GangPart::tasks);
  const std::int64_t least = sum_of(gang.parts, &GangPart::min);
  room_ = slots_.row(request).slots;
  order_.request = &request;
  // The usual case, in which no list of domains is gone through.
  if (find_near(gang, request, wanted)) {
    const HomeChoice first = weighed(near_.homes, near_.others, DecidedBy::kFewestDomains);
    if (fill_first(gang, request, wanted, first)) return &plan_;
    if (!correct()) return nullptr;
  }
  for (int corrections = 0; corrections <= kMostCorrections; ++corrections) {
    count_segments(wish);
    std::int64_t tasks = std::min(wanted, most_tasks(wish));
    if (wish.segments) tasks -= tasks % wish.segments->size;
    if (tasks < least || tasks == 0) return nullptr;
    if (plan_number(gang, request, tasks)) return &plan_;
    if (!correct()) return nullptr;
  }
  return nullptr;
}

// Segments that fit beneath each domain, where the gang is cut into such.
void GangPlacer::count_segments(const TopologyWish& wish) {
  if (!wish.segments) return;
  segment_room_.assign(tree_->size(), 0);
  for (const DomainId domain : tree_->domains_at(wish.segments->within)) {
    const std::int64_t segments = room_[domain.value] / wish.segments->size;
    if (segments == 0) continue;
    for (DomainId at = domain; !at.is_none(); at = tree_->parent(at))
      segment_room_[at.value] += segments;
  }
}

// In the one domain that holds the most where one is required, else anywhere.
std::int64_t GangPlacer::most_tasks(const TopologyWish& wish) {
  TreePacking packing(*tree_, order_);
  packing.count(wish.segments ? Room(segment_room_) : room_, "");
  const auto held_by = [&](DomainId domain) {
    if (!wish.spread.empty()) return packing.room_at(domain, wish.spread);
    return packing.room(domain) * (wish.segments ? wish.segments->size : 1);
  };
  if (wish.require.empty()) return held_by(DomainTree::root());
  std::int64_t most = 0;
  for (const DomainId domain : tree_->domains_at(wish.require))
    most = std::max(most, held_by(domain));
  return most;
}

// Looks up the best homes of the nearest ring; false when none of it holds so many
// tasks, or when which is taken does not follow from their order alone.
bool GangPlacer::find_near(const Gang& gang, const Request& request, std::int64_t tasks) {
  const TopologyWish& wish = *gang.wish;
  if (wish.segments || !wish.spread.empty() || wish.prefer == kNodeLevel) return false;
  if (tie_break_ == TieBreak::kRandom) return false;  // ranks are drawn for each plan
  if (cost_ != nullptr && cost_->weighs(gang)) return false;
  slots_.nearest(request, {wish.prefer, wish.require}, tasks, 2, order_, near_);
  return !near_.homes.empty();
}

// The domains in which so many tasks may be together, nearest first.
void GangPlacer::list_rings(const TopologyWish& wish) {
  rings_.clear();
  // A gang to be spread has no wish to be near but what it says.
  if (wish.spread.empty() || !wish.prefer.empty()) {
    const std::string& nearest_level =
        wish.prefer.empty() && wish.segments ? wish.segments->within : wish.prefer;
    for (const auto& ring : slots_.rings(nearest_level)) rings_.push_back(ring);
  } else {
    rings_.emplace_back();
  }
  if (!wish.require.empty()) {
    rings_.push_back(tree_->domains_at(wish.require));
  } else {
    rings_.push_back(std::span(&kRoot, 1));
  }
}

// Finds the home of so many tasks, and their seats in it.
bool GangPlacer::plan_number(const Gang& gang, const Request& request, std::int64_t tasks) {
  const TopologyWish& wish = *gang.wish;
  list_rings(wish);
  if (cost_ != nullptr && cost_->weighs(gang)) return plan_weighed(gang, request, tasks);
  TreePacking packing(*tree_, order_);
  const std::int64_t units = wish.segments ? tasks / wish.segments->size : tasks;
  packing.count(wish.segments ? Room(segment_room_) : room_,
                wish.segments               ? std::string_view(wish.segments->within)
                : wish.prefer == kNodeLevel ? kNodeLevel
                                            : std::string_view());
  std::span<const TreePacking::Home> homes;
  for (std::size_t i = 0; i < rings_.size() && homes.empty(); ++i) {
    const auto look = i == 0 ? TreePacking::Look::kOnlyHere : TreePacking::Look::kBeneathToo;
    homes = wish.spread.empty() ? packing.homes(rings_[i], wish.require, units, look)
                                : packing.spread_homes(rings_[i], wish.require, wish.spread, tasks);
  }
  if (homes.empty()) return false;
  return fill_first(gang, request, tasks,
                    weighed(homes, packing.others(),
                            wish.spread.empty() ? DecidedBy::kFewestDomains : DecidedBy::kEvenest));
}

bool GangPlacer::fill_first(const Gang& gang, const Request& request, std::int64_t tasks,
                            const HomeChoice& first) {
  if (!fill(*gang.wish, request, first.domain, tasks)) return false;
  number_seats(gang, tasks);
  plan_.home = first;
  return true;
}

// What told the first home from the next: among equals by the counts its best
// node's score or the tie rule, else a count.
HomeChoice GangPlacer::weighed(std::span<const TreePacking::Home> homes,
                               const TreePacking::Others& others, DecidedBy measure) const {
  const TreePacking::Home& home = homes.front();
  HomeChoice choice;
  choice.domain = home.domain;
  choice.feasible_domains = others.holding;
  const auto decided = [&](const TreePacking::Home& next, DecidedBy by,
                           std::int64_t TreePacking::Home::*value) {
    choice.runner_up = next.domain;
    choice.by = by;
    choice.value = home.*value;
    choice.runner_up_value = next.*value;
  };
  using Home = TreePacking::Home;
  if (homes.size() > 1) {
    const bool tie = home.score == homes[1].score;
    decided(homes[1], tie ? tie_rule(tie_break_) : DecidedBy::kScore, &Home::score);
  } else if (others.next) {
    const bool counted = home.measure != others.next->measure;
    decided(*others.next, counted ? measure : DecidedBy::kLeastLeft,
            counted ? &Home::measure : &Home::left);
  }
  return choice;
}

// Seats for so many tasks in the domain.
bool GangPlacer::fill(const TopologyWish& wish, const Request& request, DomainId home,
                      std::int64_t tasks, Fill how) {
  TreePacking packing(*tree_, order_);
  shares_.clear();
  if (wish.segments) {
    packing.count(segment_room_, wish.segments->within);
    segment_shares_.clear();
    packing.pack(home, tasks / wish.segments->size, segment_shares_);
    packing.count(room_, "");
    for (const TreePacking::Share& share : segment_shares_)
      packing.pack(share.domain, share.units * wish.segments->size, shares_);
  } else if (!wish.spread.empty()) {
    packing.count(room_, "");
    segment_shares_.clear();
    if (GRIDFOLD_PLANTED_BUG(spread_counts_wrong)) {
      std::int64_t left = tasks;
      for (const DomainId domain : packing.beneath(home, wish.spread)) {
        segment_shares_.push_back({domain, std::min(left, packing.room(domain)), false});
        left -= segment_shares_.back().units;
      }
    } else {
      packing.spread(home, wish.spread, tasks, segment_shares_);
    }
    for (const TreePacking::Share& share : segment_shares_)
      packing.pack(share.domain, share.units, shares_);
  } else {
    const bool by_node = how == Fill::kFewestNodes || wish.prefer == kNodeLevel;
    packing.count(how == Fill::kQuiet ? Room(quiet_room_) : room_,
                  by_node ? kNodeLevel : std::string_view());
    packing.pack(home, tasks, shares_);
  }
  seating_.begin(NodeSeating::Memory::kNone, salt_);
  plan_.seats.clear();
  for (const TreePacking::Share& share : shares_) {
    auto nodes = share.own_nodes_only ? tree_->nodes_directly_in(share.domain)
                                      : tree_->nodes_beneath(share.domain);
    bool all = !share.own_nodes_only && share.units == room_[share.domain.value];
    if (how == Fill::kQuiet) {
      quiet_nodes_.clear();
      for (const NodeId node : nodes) {
        if (quiet_room_[tree_->domain_of(node).value] > 0) quiet_nodes_.push_back(node);
      }
      nodes = quiet_nodes_;
      all = false;
    }
    const auto take = all ? NodeSeating::Take::kAll : NodeSeating::Take::kBest;
    if (seating_.seat(request, nodes, share.units, take, plan_.seats) < share.units) return false;
  }
  return true;
}

// Takes off what nodes held fewer than was counted; false when they did not.
bool GangPlacer::correct() {
  if (room_.data() != corrected_.data()) corrected_.assign(room_.begin(), room_.end());
  room_ = corrected_;
  bool any = false;
  for (const auto& [node, held] : seating_.shortages()) {
    const DomainId leaf = tree_->domain_of(node);
    const std::int64_t fewer = corrected_[leaf.value] - held;
    if (fewer <= 0) continue;
    any = true;
    for (DomainId at = leaf; !at.is_none(); at = tree_->parent(at)) corrected_[at.value] -= fewer;
  }
  return any;
}

void GangPlacer::sort_along_tree(std::vector<GangSeat>& seats) const {
  const auto first_device = [](const GangSeat& seat) { return std::countr_zero(seat.devices); };
  std::sort(seats.begin(), seats.end(), [&](const GangSeat& a, const GangSeat& b) {
    if (a.node != b.node) return tree_->domain_of(a.node) < tree_->domain_of(b.node);
    return std::pair(first_device(a), a.start) < std::pair(first_device(b), b.start);
  });
}

// Along the tree; parts get their minimum, then the first what they ask for.
void GangPlacer::number_seats(const Gang& gang, std::int64_t tasks) {
  sort_along_tree(plan_.seats);
  plan_.ends.clear();
  std::int64_t more = tasks - sum_of(gang.parts, &GangPart::min);
  std::size_t end = 0;
  for (const GangPart& part : gang.parts) {
    const std::int64_t extra = std::min(more, part.tasks - part.min);
    more -= extra;
    end += static_cast<std::size_t>(part.min + extra);
    plan_.ends.push_back(end);
  }
}

}  // namespace gridfold
