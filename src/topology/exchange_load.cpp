#include "topology/exchange_load.h"

#include <algorithm>
#include <limits>

namespace gridfold {
namespace {

constexpr std::int64_t kOne = std::int64_t{1} << LoadCounter::kFlowBits;

}  // namespace

LoadCounter::LoadCounter(const LinkTraffic& traffic)
    : traffic_(traffic),
      fabric_(traffic.fabric()),
      domain_out_(fabric_.tree().size()),
      domain_in_(fabric_.tree().size()),
      crossed_(DomainId::none()) {
  std::size_t cards = 0;
  std::size_t switches = 0;
  std::size_t sockets = 0;
  for (const Fabric::Layout& layout : fabric_.layouts()) {
    cards = std::max(cards, layout.cards.size());
    for (const DeviceSeat& seat : layout.devices) {
      switches = std::max(switches, static_cast<std::size_t>(seat.pcie_switch) + 1);
      sockets = std::max(sockets, static_cast<std::size_t>(seat.socket) + 1);
    }
  }
  host_at_ = cards;
  switch_at_ = host_at_ + 1;
  socket_at_ = switch_at_ + switches;
  width_ = socket_at_ + sockets;
}

ExchangeLoad LoadCounter::count(std::span<const RankSeat> seats, const AxisGroups& groups,
                                Flow flow) {
  load_ = {};
  load_.size = groups.size;
  load_.most_inner = load_.most_outer = load_.channels = 0;
  links_.clear();
  if (groups.size == 1 || seats.empty()) return load_;
  out_.assign((seats.back().local_node + 1) * width_, 0);
  in_.assign(out_.size(), 0);
  sort_into_groups(seats, groups, flow);
  const auto size = static_cast<std::size_t>(groups.size);
  for (std::size_t first = 0; first < members_.size(); first += size) {
    enter(std::span(members_).subspan(first, size));
    switch (flow) {
      case Flow::kRing: ring(); break;
      case Flow::kChain: chain(); break;
      case Flow::kAll: all(); break;
    }
    load_.round = std::max(load_.round, hops_);
  }
  load_.channels = std::max<std::int64_t>(load_.channels, 1);
  finish(seats);
  return load_;
}

void LoadCounter::sort_into_groups(std::span<const RankSeat> seats, const AxisGroups& groups,
                                   Flow flow) {
  members_.resize(seats.size());
  filled_.assign(seats.size() / static_cast<std::size_t>(groups.size), 0);
  for (const RankSeat& seat : seats) {
    const auto group = static_cast<std::size_t>(groups.group_of(seat.rank));
    const auto position = flow == Flow::kChain
                              ? static_cast<std::size_t>(groups.position_of(seat.rank))
                              : filled_[group]++;
    members_[group * static_cast<std::size_t>(groups.size) + position] = seat;
  }
}

// Finds the group's units, and what carries its data between them.
void LoadCounter::enter(std::span<const RankSeat> group) {
  group_ = group;
  hops_ = {};
  units_.clear();
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    if (units_.empty() || units_.back().domain != group[i].unit) {
      units_.push_back({i, i, group[i].unit});
    }
    units_.back().last = i + 1;
  }
  note_units();
  rails_ = 0;
  crossed_ = DomainId::none();
  by_host_ = false;
  if (units_.size() == 1) return;

  find_network();
}

// How the units' parts of the group compare with those of the groups before.
void LoadCounter::note_units() {
  const auto outer = static_cast<std::int64_t>(units_.size());
  load_.alike = load_.alike && (load_.most_outer == 0 || load_.most_outer == outer);
  for (const Unit& unit : units_) {
    const std::int64_t inner = unit.last - unit.first;
    load_.alike = load_.alike && inner * outer == load_.size;
    load_.most_inner = std::max(load_.most_inner, inner);
  }
  load_.most_outer = std::max(load_.most_outer, outer);
}

// What the cards of all its devices speak, and which rails every unit has.
void LoadCounter::find_network() {
  network_ = card(group_[0]).kind;
  std::uint64_t common = ~std::uint64_t{0};
  DomainId rail_domain = fabric_.rail_domain(group_[0].node);
  for (const Unit& unit : units_) {
    std::uint64_t rails = 0;
    for (std::uint32_t i = unit.first; i < unit.last; ++i) {
      by_host_ = by_host_ || card(group_[i]).kind != network_;
      rails |= rail(group_[i]);
    }
    common &= rails;
    if (fabric_.rail_domain(group_[unit.first].node) != rail_domain) {
      rail_domain = DomainId::none();
    }
  }
  if (by_host_) network_ = LinkKind::kEthernet;
  if (rail_domain.is_none() || by_host_) return;
  rails_ = common;
  if (common == 0) crossed_ = rail_domain;
}

const NetworkCard& LoadCounter::card(const RankSeat& seat) const {
  return layout(seat).cards[static_cast<std::size_t>(place(seat).card)];
}

std::uint64_t LoadCounter::rail(const RankSeat& seat) const {
  return std::uint64_t{1} << card(seat).rail;
}

bool LoadCounter::eligible(const RankSeat& seat) const {
  return rails_ == 0 || (rails_ & rail(seat)) != 0;
}

// Consecutive members pass one flow on; between units it is cut into channels,
// each through the card of another device (the rings of NCCL). All units have
// as many channels as the one with the fewest devices.
void LoadCounter::ring() {
  for (const Unit& unit : units_) {
    for (std::uint32_t i = unit.first; i + 1 < unit.last; ++i) {
      inside(group_[i], group_[i + 1], kOne);
    }
  }
  if (units_.size() == 1) {
    inside(group_.back(), group_.front(), kOne);
    return;
  }
  std::int64_t channels = load_.size;
  for (const Unit& unit : units_) channels = std::min(channels, eligible_in(unit));
  load_.channels = load_.channels == 0 ? channels : std::min(load_.channels, channels);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    spread(units_[i], channels);
    const Unit& next = units_[(i + 1) % units_.size()];
    between(group_[units_[i].last - 1], group_[next.first]);
  }
}

std::int64_t LoadCounter::eligible_in(const Unit& unit) const {
  std::int64_t devices = 0;
  for (std::uint32_t i = unit.first; i < unit.last; ++i) devices += eligible(group_[i]) ? 1 : 0;
  return devices;
}

// What one unit sends and gets, over the cards of its devices: of those that
// may carry a channel, evenly chosen ones.
void LoadCounter::spread(const Unit& unit, std::int64_t channels) {
  const std::int64_t devices = eligible_in(unit);
  const std::int64_t share = kOne / channels;
  const bool wide = fabric_.unit_stretch(unit.domain) != 0;
  std::int64_t seen = 0;
  for (std::uint32_t i = unit.first; i < unit.last; ++i) {
    if (!eligible(group_[i])) continue;
    const bool chosen = (seen + 1) * channels / devices > seen * channels / devices;
    ++seen;
    if (!chosen) continue;
    by_card(group_[i], share, Direction::kOut);
    by_card(group_[i], share, Direction::kIn);
    if (!wide) continue;
    const DomainId leaf = fabric_.tree().domain_of(group_[i].node);
    add(leaf, share, Direction::kOut);
    add(leaf, share, Direction::kIn);
  }
}

void LoadCounter::chain() {
  for (std::size_t i = 0; i + 1 < group_.size(); ++i) {
    const RankSeat& a = group_[i];
    const RankSeat& b = group_[i + 1];
    if (a.unit == b.unit) {
      inside(a, b, kOne);
      continue;
    }
    rails_ = 0;
    const DomainId rails = fabric_.rail_domain(a.node);
    const bool same_domain = !rails.is_none() && rails == fabric_.rail_domain(b.node);
    crossed_ = same_domain && !by_host_ ? rails : DomainId::none();
    by_card(a, kOne, Direction::kOut);
    by_card(b, kOne, Direction::kIn);
    if (fabric_.unit_stretch(a.unit) != 0) {
      add(fabric_.tree().domain_of(a.node), kOne, Direction::kOut);
    }
    if (fabric_.unit_stretch(b.unit) != 0) {
      add(fabric_.tree().domain_of(b.node), kOne, Direction::kIn);
    }
    between(a, b);
  }
}

// Each rank sends (n-1) parts, one to each other; they make one flow.
void LoadCounter::all() {
  const auto others = static_cast<std::int64_t>(group_.size()) - 1;
  load_.channels = others;
  const DomainTree& tree = fabric_.tree();
  for (const Unit& unit : units_) {
    all_inside(unit);
    const std::int64_t within = unit.last - unit.first;
    const std::int64_t away = others + 1 - within;
    if (away == 0) continue;
    for (std::uint32_t i = unit.first; i < unit.last; ++i) {
      by_card(group_[i], kOne * away / others, Direction::kOut);
      by_card(group_[i], kOne * away / others, Direction::kIn);
      if (fabric_.unit_stretch(unit.domain) == 0) continue;
      add(tree.domain_of(group_[i].node), kOne * away / others, Direction::kOut);
    }
  }
  if (units_.size() == 1) return;
  // From each domain that holds some of the ranks, what is for the others.
  // Members stand in the tree's order, so a domain's are next to one another.
  DomainId top = units_.front().domain;
  while (!tree.contains(top, units_.back().domain)) top = tree.parent(top);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    for (DomainId at = units_[i].domain; at != top; at = tree.parent(at)) {
      if (i > 0 && tree.contains(at, units_[i - 1].domain)) break;
      std::size_t end = i;
      while (end + 1 < units_.size() && tree.contains(at, units_[end + 1].domain)) ++end;
      const std::int64_t here = units_[end].last - units_[i].first;
      add(at, kOne * here * (others + 1 - here) / others, Direction::kOut);
    }
    const RankSeat& far = group_[units_[i == 0 ? units_.size() - 1 : 0].first];
    climb(units_[i].domain, far.unit, 0);
  }
}

void LoadCounter::all_inside(const Unit& unit) {
  const auto others = static_cast<std::int64_t>(group_.size()) - 1;
  const std::int64_t within = unit.last - unit.first;
  if (within < 2) return;
  if (fabric_.unit_stretch(unit.domain) != 0) {
    inside(group_[unit.first], group_[unit.first + 1], kOne * (within - 1) / others);
    return;
  }
  for (std::uint32_t i = unit.first; i < unit.last; ++i) {
    const Fabric::Layout& at = layout(group_[i]);
    const auto island = place(group_[i]).island;
    std::int64_t linked = 0;
    for (std::uint32_t j = unit.first; j < unit.last; ++j) {
      if (i == j) continue;
      if (island >= 0 && at.devices[static_cast<std::size_t>(group_[j].device)].island == island) {
        ++linked;
      } else {
        inside(group_[i], group_[j], kOne / others);
      }
    }
    press(LinkKind::kNvlink, kOne * linked / others, at.nvlink_stretch);
    press(LinkKind::kPcie, kOne * (within - 1 - linked) / others, at.pcie_stretch);
  }
}

// One flow between two devices of a unit.
void LoadCounter::inside(const RankSeat& a, const RankSeat& b, std::int64_t flows) {
  const auto hop = [&](LinkKind kind) {
    load_.inner_hop = std::max(load_.inner_hop, fabric_.curve(kind).hop());
    hops_ = hops_ + fabric_.curve(kind).hop();
  };
  if (const std::int64_t stretch = fabric_.unit_stretch(a.unit); stretch != 0) {
    press(LinkKind::kNvlink, flows, stretch);
    return hop(LinkKind::kNvlink);
  }
  const Fabric::Layout& at = layout(a);
  const DeviceSeat& from = place(a);
  const DeviceSeat& to = place(b);
  if (from.island >= 0 && from.island == to.island) {
    press(LinkKind::kNvlink, flows, at.nvlink_stretch);
    return hop(LinkKind::kNvlink);
  }
  press(LinkKind::kPcie, flows, at.pcie_stretch);
  const std::size_t node = a.local_node * width_;
  const auto pass = [&](std::size_t first, std::int32_t out, std::int32_t in) {
    out_[node + first + static_cast<std::size_t>(out)] += flows;
    in_[node + first + static_cast<std::size_t>(in)] += flows;
  };
  if (from.pcie_switch == to.pcie_switch && from.socket == to.socket) return hop(LinkKind::kPcie);
  pass(switch_at_, from.pcie_switch, to.pcie_switch);
  if (from.socket == to.socket) return hop(LinkKind::kNuma);
  pass(socket_at_, from.socket, to.socket);
  hop(LinkKind::kSocket);
}

// One flow between two units, cards not counted.
void LoadCounter::between(const RankSeat& a, const RankSeat& b) {
  const Duration before = hops_;
  climb(a.unit, b.unit, kOne);
  if (!crossed_.is_none() && rail(a) != rail(b)) cross_rails(crossed_, kOne);
  load_.outer_hop = std::max(load_.outer_hop, hops_ - before);
}

void LoadCounter::by_card(const RankSeat& seat, std::int64_t flows, Direction direction) {
  const std::size_t at = by_host_ ? host_at_ : static_cast<std::size_t>(place(seat).card);
  (direction == Direction::kOut ? out_ : in_)[seat.local_node * width_ + at] += flows;
}

// Up from one unit and down to another; the hops of the way up stand for both.
DomainId LoadCounter::climb(DomainId from, DomainId to, std::int64_t flows) {
  const DomainTree& tree = fabric_.tree();
  Duration hops = fabric_.curve(network_).hop();
  DomainId top = from;
  for (; !tree.contains(top, to); top = tree.parent(top)) {
    add(top, flows, Direction::kOut);
    hops = hops + fabric_.uplink(top).hop;
  }
  for (DomainId at = to; at != top; at = tree.parent(at)) add(at, flows, Direction::kIn);
  hops_ = hops_ + hops;
  load_.outer_hop = std::max(load_.outer_hop, hops);
  return top;
}

void LoadCounter::add(DomainId domain, std::int64_t flows, Direction direction) {
  if (flows == 0) return;
  if (domain_out_[domain.value] == 0 && domain_in_[domain.value] == 0) touched_.push_back(domain);
  (direction == Direction::kOut ? domain_out_ : domain_in_)[domain.value] += flows;
}

void LoadCounter::cross_rails(DomainId domain, std::int64_t flows) {
  hops_ = hops_ + fabric_.curve(LinkKind::kSpine).hop();
  for (LinkFlow& crossing : crossings_) {
    if (crossing.domain != domain) continue;
    crossing.flows += flows;
    return;
  }
  crossings_.push_back({domain, -1, flows});
}

void LoadCounter::press(LinkKind kind, std::int64_t flows, std::int64_t stretch) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto wide = static_cast<__int128>(flows) * stretch >> Fabric::kStretchBits;
  const auto pressure = static_cast<std::int64_t>(std::min<__int128>(wide, kMost));
  auto& most = load_.pressure[static_cast<std::size_t>(kind)];
  most = std::max(most, pressure);
  auto& work = load_.work[static_cast<std::size_t>(kind)];
  work = work > kMost - pressure ? kMost : work + pressure;
}

// A link that others use too. Each of their flows takes as much as each channel
// of ours, unless they leave more than that.
void LoadCounter::press(LinkKind kind, std::int64_t flows, const SharedLink& link) {
  if (link.alone == 0) return;
  const auto fair = static_cast<__int128>(flows + link.others * kOne / load_.channels) * link.alone;
  const auto left = static_cast<__int128>(flows) * link.left;
  if (link.left != 0 && left <= fair) return press(kind, flows, link.left);
  press(kind, flows + link.others * kOne / load_.channels, link.alone);
}

// From counts to the most loaded link of each kind; empties the counters.
void LoadCounter::finish(std::span<const RankSeat> seats) {
  for (std::size_t i = 0; i < seats.size(); ++i) {
    if (i > 0 && seats[i].local_node == seats[i - 1].local_node) continue;
    const NodeId node = seats[i].node;
    const Fabric::Layout& at = fabric_.layout(node);
    const std::size_t base = seats[i].local_node * width_;
    const auto busier = [&](std::size_t counter) {
      return std::max(out_[base + counter], in_[base + counter]);
    };
    for (std::size_t card = 0; card < at.cards.size(); ++card) {
      if (busier(card) == 0) continue;
      const auto number = static_cast<std::int32_t>(card);
      links_.push_back({fabric_.tree().domain_of(node), number, busier(card)});
      press(at.cards[card].kind, busier(card), traffic_.shared_card(node, number));
    }
    press(LinkKind::kEthernet, busier(host_at_), at.host_stretch);
    for (std::size_t k = switch_at_; k < socket_at_; ++k) {
      press(LinkKind::kNuma, busier(k), at.numa_stretch);
    }
    for (std::size_t k = socket_at_; k < width_; ++k) {
      press(LinkKind::kSocket, busier(k), at.socket_stretch);
    }
  }
  for (const DomainId domain : touched_) {
    const std::int64_t flows = std::max(domain_out_[domain.value], domain_in_[domain.value]);
    links_.push_back({domain, -1, flows});
    press(fabric_.uplink(domain).kind, flows, traffic_.shared(domain));
    domain_out_[domain.value] = domain_in_[domain.value] = 0;
  }
  touched_.clear();
  for (const LinkFlow& crossing : crossings_) {
    if (const std::int64_t capacity = fabric_.between_rails(crossing.domain); capacity != 0) {
      press(LinkKind::kSpine, crossing.flows, fabric_.stretch(LinkKind::kSpine, capacity));
    }
  }
  crossings_.clear();
  for (std::size_t kind = 0; kind < kLinkKinds; ++kind) {
    if (load_.pressure[kind] == 0) continue;
    load_.start = std::max(load_.start, fabric_.curve(static_cast<LinkKind>(kind)).start());
  }
}

}  // namespace gridfold
