// Gangs whose roles ask for different things: they compete for the same nodes,
// so counts are only an upper bound and a plan is tried, role by role, in one
// domain after the other. Bounded: at most kMostHomes domains of a ring, and
// the roles in two orders.
#include <algorithm>
#include <numeric>
#include <set>

#include "engine/gang_placement.h"
#include "engine/tie_rank.h"

namespace gridfold {
namespace {

constexpr std::size_t kMostHomes = 64;
constexpr std::int64_t kMostLevels = 64;  // of an even split, before any split will do

}  // namespace

const GangPlan* GangPlacer::plan_roles(const Gang& gang) {
  Tasks wanted;
  Tasks least;
  for (const GangPart& part : gang.parts) {
    wanted.push_back(part.tasks);
    least.push_back(part.min);
  }
  if (try_roles(gang, wanted) || (least != wanted && try_roles(gang, least))) return &plan_;
  return nullptr;
}

bool GangPlacer::try_roles(const Gang& gang, const Tasks& tasks) {
  const TopologyWish& wish = *gang.wish;
  const bool spread = !wish.spread.empty();
  TreePacking packing(*tree_, order_);
  struct Home {
    std::int64_t left = 0;
    std::uint64_t rank = 0;
    DomainId domain;
  };
  const auto try_ring = [&](std::span<const DomainId> ring) {
    std::vector<Home> homes;
    for (const DomainId domain : ring) {
      if (!wish.require.empty() && !packing.lies_in(domain, wish.require)) continue;
      if (!may_hold(gang, tasks, domain)) continue;
      Home home{0, order_.rank(domain), domain};
      for (std::size_t p = 0; p < tasks.size(); ++p)
        home.left += slots_.row(*gang.parts[p].request).slots[domain.value] - tasks[p];
      homes.push_back(home);
    }
    std::sort(homes.begin(), homes.end(), [](const Home& a, const Home& b) {
      return a.left != b.left ? a.left < b.left : a.rank < b.rank;
    });
    const auto holding = static_cast<std::int32_t>(homes.size());
    const std::size_t tried = std::min(homes.size(), kMostHomes);
    for (std::size_t i = 0; i < tried; ++i) {
      if (!roles_in(gang, tasks, homes[i].domain)) continue;
      HomeChoice& choice = plan_.home = {homes[i].domain};
      choice.feasible_domains = holding - static_cast<std::int32_t>(i);
      if (i + 1 == homes.size()) return true;
      choice.runner_up = homes[i + 1].domain;
      choice.value = homes[i].left;
      choice.runner_up_value = homes[i + 1].left;
      choice.by = homes[i].left != homes[i + 1].left ? DecidedBy::kLeastLeft : tie_rule(tie_break_);
      return true;
    }
    return false;
  };
  if (!spread || !wish.prefer.empty()) {
    const std::string& nearest =
        wish.prefer.empty() && wish.segments ? wish.segments->within : wish.prefer;
    for (const auto& ring : slots_.rings(nearest)) {
      if (try_ring(ring)) return true;
    }
  }
  if (!wish.require.empty()) return try_ring(tree_->domains_at(wish.require));
  const DomainId root = DomainTree::root();
  return try_ring(std::span(&root, 1));
}

// Each role by itself would fit, those of one request together.
bool GangPlacer::may_hold(const Gang& gang, const Tasks& tasks, DomainId home) {
  for (std::size_t p = 0; p < tasks.size(); ++p) {
    std::int64_t needed = 0;
    for (std::size_t q = 0; q < tasks.size(); ++q) {
      if (gang.parts[q].request == gang.parts[p].request) needed += tasks[q];
    }
    if (slots_.row(*gang.parts[p].request).slots[home.value] < needed) return false;
  }
  return true;
}

bool GangPlacer::roles_in(const Gang& gang, const Tasks& tasks, DomainId home) {
  Tasks order(tasks.size());
  std::iota(order.begin(), order.end(), 0);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const bool found = gang.wish->segments          ? roles_in_segments(gang, tasks, home)
                       : !gang.wish->spread.empty() ? roles_spread(gang, tasks, home, order)
                                                    : roles_packed(gang, tasks, home, order);
    if (found) {
      plan_.seats.clear();
      plan_.ends.clear();
      for (auto& seats : part_seats_) {
        if (!gang.wish->segments) sort_along_tree(seats);
        plan_.seats.insert(plan_.seats.end(), seats.begin(), seats.end());
        plan_.ends.push_back(plan_.seats.size());
      }
      return true;
    }
    std::reverse(order.begin(), order.end());
  }
  return false;
}

void GangPlacer::begin_roles(const Gang& gang) {
  seating_.begin(NodeSeating::Memory::kRemembers, salt_);
  part_seats_.resize(gang.parts.size());
  for (auto& seats : part_seats_) seats.clear();
}

// The counts for the request beneath the home, less what was taken.
void GangPlacer::room_beneath(const Request& request, DomainId home) {
  const auto& slots = slots_.row(request).slots;
  corrected_.resize(slots.size());
  const auto first = static_cast<std::ptrdiff_t>(home.value);
  const auto last = static_cast<std::ptrdiff_t>(tree_->subtree_end(home).value);
  std::copy(slots.begin() + first, slots.begin() + last, corrected_.begin() + first);
  for (const NodeId node : seating_.touched()) {
    const DomainId leaf = tree_->domain_of(node);
    const std::int64_t fewer = slots[leaf.value] - seating_.slots_on(request, node);
    for (DomainId at = leaf; tree_->contains(home, at); at = tree_->parent(at)) {
      corrected_[at.value] -= fewer;
      if (at == home) break;
    }
  }
  room_ = corrected_;
  order_.request = &request;
}

bool GangPlacer::seat_part(const Gang& gang, std::size_t part, const TreePacking::Share& share) {
  const auto nodes = share.own_nodes_only ? tree_->nodes_directly_in(share.domain)
                                          : tree_->nodes_beneath(share.domain);
  return seating_.seat(*gang.parts[part].request, nodes, share.units, NodeSeating::Take::kBest,
                       part_seats_[part]) == share.units;
}

bool GangPlacer::roles_packed(const Gang& gang, const Tasks& tasks, DomainId home,
                              const Tasks& order) {
  begin_roles(gang);
  TreePacking packing(*tree_, order_);
  for (const std::int64_t p : order) {
    const auto part = static_cast<std::size_t>(p);
    room_beneath(*gang.parts[part].request, home);
    if (room_[home.value] < tasks[part]) return false;
    packing.count(room_, gang.wish->prefer == kNodeLevel ? kNodeLevel : std::string_view());
    shares_.clear();
    packing.pack(home, tasks[part], shares_);
    for (const TreePacking::Share& share : shares_) {
      if (!seat_part(gang, part, share)) return false;
    }
  }
  return true;
}

// The fullest domain gets ever more, until all roles find room.
bool GangPlacer::roles_spread(const Gang& gang, const Tasks& tasks, DomainId home,
                              const Tasks& order) {
  TreePacking packing(*tree_, order_);
  const std::int64_t all = std::accumulate(tasks.begin(), tasks.end(), std::int64_t{0});
  const auto domains = static_cast<std::int64_t>(packing.beneath(home, gang.wish->spread).size());
  if (domains == 0) return false;
  const std::int64_t least = (all + domains - 1) / domains;
  for (std::int64_t most = least; most < std::min(all, least + kMostLevels); ++most) {
    if (spread_at_most(gang, tasks, home, order, most)) return true;
  }
  return spread_at_most(gang, tasks, home, order, all);
}

bool GangPlacer::spread_at_most(const Gang& gang, const Tasks& tasks, DomainId home,
                                const Tasks& order, std::int64_t most) {
  begin_roles(gang);
  TreePacking packing(*tree_, order_);
  const auto domains = packing.beneath(home, gang.wish->spread);
  std::vector<std::int64_t> used(domains.size(), 0);
  for (const std::int64_t p : order) {
    const auto part = static_cast<std::size_t>(p);
    room_beneath(*gang.parts[part].request, home);
    // Task by task to the emptiest domain that has room.
    std::set<std::pair<std::int64_t, std::size_t>> emptiest;
    std::vector<std::int64_t> share(domains.size(), 0);
    for (std::size_t d = 0; d < domains.size(); ++d) {
      if (room_[domains[d].value] > 0 && used[d] < most) emptiest.emplace(used[d], d);
    }
    for (std::int64_t left = tasks[part]; left > 0; --left) {
      if (emptiest.empty()) return false;
      const std::size_t d = emptiest.begin()->second;
      emptiest.erase(emptiest.begin());
      ++share[d];
      if (++used[d] < most && share[d] < room_[domains[d].value]) emptiest.emplace(used[d], d);
    }
    for (std::size_t d = 0; d < domains.size(); ++d) {
      if (share[d] > 0 && !seat_part(gang, part, {domains[d], share[d], false})) return false;
    }
  }
  return true;
}

// Segment after segment, each in the first domain that takes it: those in use
// before the others, then the one with the least room left over.
bool GangPlacer::roles_in_segments(const Gang& gang, const Tasks& tasks, DomainId home) {
  begin_roles(gang);
  TreePacking packing(*tree_, order_);
  const auto domains = packing.beneath(home, gang.wish->segments->within);
  std::set<DomainId> used;
  Tasks left = tasks;
  std::size_t part = 0;
  while (true) {
    Tasks segment(tasks.size(), 0);
    std::int64_t size = 0;
    while (part < tasks.size() && size < gang.wish->segments->size) {
      const std::int64_t more = std::min(left[part], gang.wish->segments->size - size);
      segment[part] += more;
      left[part] -= more;
      size += more;
      if (left[part] == 0) ++part;
    }
    if (size == 0) return true;
    struct Home {
      bool fresh = true;
      std::int64_t left = 0;
      DomainId domain;
    };
    std::vector<Home> homes;
    for (const DomainId domain : domains) {
      if (!may_hold(gang, segment, domain)) continue;
      Home at{used.count(domain) == 0, 0, domain};
      for (std::size_t p = 0; p < segment.size(); ++p) {
        if (segment[p] > 0) at.left += slots_.row(*gang.parts[p].request).slots[domain.value];
      }
      homes.push_back(at);
    }
    std::sort(homes.begin(), homes.end(), [](const Home& a, const Home& b) {
      return std::tuple(a.fresh, a.left, a.domain) < std::tuple(b.fresh, b.left, b.domain);
    });
    const auto taken = std::find_if(homes.begin(), homes.end(), [&](const Home& at) {
      return segment_in(gang, segment, at.domain);
    });
    if (taken == homes.end()) return false;
    used.insert(taken->domain);
  }
}

// All of the segment in the domain, or nothing.
bool GangPlacer::segment_in(const Gang& gang, const Tasks& tasks, DomainId domain) {
  std::vector<std::size_t> before;
  for (const auto& seats : part_seats_) before.push_back(seats.size());
  bool fits = true;
  for (std::size_t p = 0; p < tasks.size() && fits; ++p)
    fits = tasks[p] == 0 || seat_part(gang, p, {domain, tasks[p], false});
  if (fits) return true;
  for (std::size_t p = 0; p < tasks.size(); ++p) {
    seating_.unseat(*gang.parts[p].request, std::span(part_seats_[p]).subspan(before[p]));
    part_seats_[p].resize(before[p]);
  }
  return false;
}

}  // namespace gridfold
