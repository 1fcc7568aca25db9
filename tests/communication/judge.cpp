#include "tests/communication/judge.h"

#include <algorithm>
#include <limits>

namespace gridfold {

Judge::Judge(const World& world, std::uint64_t seed, Deviation deviation)
    : world_(world),
      tree_(*DomainTree::build(world.nodes)),
      random_(seed, "communication judge"),
      deviation_(deviation) {
  const auto near_one = [&] { return 0.9 + 0.2 * random_.uniform(); };
  const double micro[kLinkKinds] = {3.4, 5.7, 5.7, 5.7, 9.6, 9.6, 25, 0.5, 1, 5'000};
  for (std::size_t kind = 0; kind < kLinkKinds; ++kind) {
    of_kind_.push_back(near_one());
    hops_.push_back(micro[kind] * 1e-6 * near_one());
  }
  start_ = 8.4e-6 * near_one();
  build_domains();
  for (std::uint32_t n = 0; n < world.nodes.size(); ++n) build_node(NodeId(n));
  for (const ForeignFlow& flow : world.foreign) {
    if (in_one_unit(flow.from, flow.to)) continue;
    foreign_.push_back({network_path(flow.from, flow.from_card, flow.to, flow.to_card, false), 0,
                        flow.bits_per_second / 8});
  }
}

int Judge::link(LinkKind kind, double bits_per_second) {
  const double factor = deviation_ == Deviation::kEachKind
                            ? of_kind_[static_cast<std::size_t>(kind)]
                            : 0.9 + 0.2 * random_.uniform();
  links_.push_back({bits_per_second / 8 * factor});
  return static_cast<int>(links_.size()) - 1;
}

void Judge::build_domains() {
  domain_up_.assign(tree_.size(), -1);
  domain_down_.assign(tree_.size(), -1);
  between_rails_.assign(tree_.size(), -1);
  unit_bits_.assign(tree_.size(), 0);
  for (const Link& at : world_.links) {
    const auto bits = static_cast<double>(at.bandwidth.value().value);
    const auto domain = at.a.domain.value;
    if (at.a == at.b && at.kind == LinkKind::kNvlink) {
      unit_bits_[domain] = bits;
    } else if (at.a == at.b) {
      between_rails_[domain] = link(at.kind, bits);
    } else {
      domain_up_[domain] = link(at.kind, bits);
      domain_down_[domain] = link(at.kind, bits);
    }
  }
}

void Judge::build_node(NodeId node) {
  const NodeWiring& at = layout(node);
  DomainId unit = tree_.domain_of(node);
  double nvlink = static_cast<double>(at.nvlink.value);
  for (DomainId d = unit; !d.is_none(); d = tree_.parent(d)) {
    if (unit_bits_[d.value] == 0) continue;
    unit = d;
    nvlink = unit_bits_[d.value];
  }
  units_.push_back(unit);
  NodeLinks built;
  const auto pair = [&](std::vector<int>& out, std::vector<int>& in, LinkKind kind, double bits) {
    out.push_back(link(kind, bits));
    in.push_back(link(kind, bits));
  };
  int switches = 0;
  int sockets = 0;
  for (const DeviceSeat& seat : at.devices) {
    pair(built.nvlink_out, built.nvlink_in, LinkKind::kNvlink, nvlink);
    pair(built.pcie_out, built.pcie_in, LinkKind::kPcie, static_cast<double>(at.pcie.value));
    switches = std::max(switches, seat.pcie_switch + 1);
    sockets = std::max(sockets, seat.socket + 1);
  }
  for (int i = 0; i < switches; ++i) {
    pair(built.switch_up, built.switch_down, LinkKind::kNuma, static_cast<double>(at.numa.value));
  }
  for (int i = 0; i < sockets; ++i) {
    pair(built.socket_out, built.socket_in, LinkKind::kSocket,
         static_cast<double>(at.socket.value));
  }
  for (const NetworkCard& card : at.cards) {
    pair(built.card_out, built.card_in, card.kind, static_cast<double>(card.bandwidth.value));
  }
  built.host_out = link(LinkKind::kEthernet, static_cast<double>(at.host_network.value));
  built.host_in = link(LinkKind::kEthernet, static_cast<double>(at.host_network.value));
  nodes_.push_back(std::move(built));
}

bool Judge::in_one_unit(NodeId a, NodeId b) const { return units_[a.value] == units_[b.value]; }

DomainId Judge::rail_domain(NodeId node) const {
  DomainId at = tree_.domain_of(node);
  while (!at.is_none() && between_rails_[at.value] < 0) at = tree_.parent(at);
  return at;
}

std::vector<int> Judge::network_path(NodeId a, int card_a, NodeId b, int card_b,
                                     bool by_hosts) const {
  const auto from = static_cast<std::size_t>(card_a);
  const auto to = static_cast<std::size_t>(card_b);
  std::vector<int> out = {by_hosts ? nodes_[a.value].host_out : nodes_[a.value].card_out[from],
                          by_hosts ? nodes_[b.value].host_in : nodes_[b.value].card_in[to]};
  const DomainId shared = tree_.lowest_common(a, b);
  for (DomainId d = tree_.domain_of(a); d != shared; d = tree_.parent(d)) {
    if (domain_up_[d.value] >= 0) out.push_back(domain_up_[d.value]);
  }
  for (DomainId d = tree_.domain_of(b); d != shared; d = tree_.parent(d)) {
    if (domain_down_[d.value] >= 0) out.push_back(domain_down_[d.value]);
  }
  const DomainId rails = rail_domain(a);
  const bool other_rail = !by_hosts && layout(a).cards[from].rail != layout(b).cards[to].rail;
  if (other_rail && !rails.is_none() && rails == rail_domain(b)) {
    out.push_back(between_rails_[rails.value]);
  }
  return out;
}

std::vector<int> Judge::path(const Rank& a, const Rank& b, bool by_hosts) const {
  const NodeId node = a.place.node;
  const auto from = static_cast<std::size_t>(a.place.device);
  const auto to = static_cast<std::size_t>(b.place.device);
  if (!in_one_unit(node, b.place.node)) {
    return network_path(node, a.card, b.place.node, b.card, by_hosts);
  }
  const NodeLinks& here = nodes_[node.value];
  const bool wide = unit_bits_[units_[node.value].value] != 0;
  const DeviceSeat& seat = layout(node).devices[from];
  const DeviceSeat& other = layout(b.place.node).devices[to];
  if (wide || (seat.island >= 0 && seat.island == other.island)) {
    return {here.nvlink_out[from], nodes_[b.place.node.value].nvlink_in[to]};
  }
  std::vector<int> out = {here.pcie_out[from], here.pcie_in[to]};
  if (seat.pcie_switch != other.pcie_switch) {
    out.push_back(here.switch_up[static_cast<std::size_t>(seat.pcie_switch)]);
    out.push_back(here.switch_down[static_cast<std::size_t>(other.pcie_switch)]);
  }
  if (seat.socket != other.socket) {
    out.push_back(here.socket_out[static_cast<std::size_t>(seat.socket)]);
    out.push_back(here.socket_in[static_cast<std::size_t>(other.socket)]);
  }
  return out;
}

// Seconds of one hop between two ranks.
double Judge::hop(const Rank& a, const Rank& b) const {
  const auto of = [&](LinkKind kind) { return hops_[static_cast<std::size_t>(kind)]; };
  const NodeId node = a.place.node;
  if (in_one_unit(node, b.place.node)) {
    const DeviceSeat& seat = layout(node).devices[static_cast<std::size_t>(a.place.device)];
    const DeviceSeat& other =
        layout(b.place.node).devices[static_cast<std::size_t>(b.place.device)];
    const bool wide = unit_bits_[units_[node.value].value] != 0;
    const bool linked = wide || (seat.island >= 0 && seat.island == other.island);
    return of(linked ? LinkKind::kNvlink : LinkKind::kPcie);
  }
  double sum = of(layout(node).cards[0].kind);
  const DomainId shared = tree_.lowest_common(node, b.place.node);
  for (DomainId d = tree_.parent(tree_.domain_of(node)); d.value > shared.value;
       d = tree_.parent(d)) {
    sum += of(LinkKind::kLeaf);
  }
  return sum;
}

std::vector<Judge::Group> Judge::groups(std::span<const Place> places, RankAxis axis,
                                        bool by_rank) const {
  // Own arithmetic of ranks: coordinates, and what is left without the axis'.
  const JobTraffic& job = world_.job.traffic;
  const bool data_first = job.order == RankOrder::kTensorDataPipeline;
  const int inner = data_first ? job.data : job.pipeline;
  std::vector<Group> out;
  std::vector<std::pair<std::tuple<int, int, int>, std::size_t>> keys;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    int t = static_cast<int>(rank) % job.tensor;
    const int rest = static_cast<int>(rank) / job.tensor;
    int p = data_first ? rest / inner : rest % inner;
    int d = data_first ? rest % inner : rest / inner;
    if (axis == RankAxis::kTensor) t = 0;
    if (axis == RankAxis::kPipeline) p = 0;
    if (axis == RankAxis::kData) d = 0;
    if (axis == RankAxis::kExpert) d = d / job.expert;
    if (axis == RankAxis::kAll) t = p = d = 0;
    const std::tuple key{t, p, d};
    auto at = std::find_if(keys.begin(), keys.end(), [&](const auto& k) { return k.first == key; });
    if (at == keys.end()) {
      keys.emplace_back(key, out.size());
      out.emplace_back();
      at = keys.end() - 1;
    }
    const Place& place = places[rank];
    const NodeWiring& there = layout(place.node);
    const DeviceSeat& seat = there.devices[static_cast<std::size_t>(place.device)];
    out[at->second].ranks.push_back({place,
                                     seat.card,
                                     there.cards[static_cast<std::size_t>(seat.card)].rail,
                                     {tree_.domain_of(place.node).value, seat.socket, seat.island,
                                      seat.pcie_switch, place.device}});
  }
  for (Group& group : out) {
    if (!by_rank) {
      std::sort(group.ranks.begin(), group.ranks.end(),
                [](const Rank& a, const Rank& b) { return a.near < b.near; });
    }
    find_units(group);
  }
  return out;
}

// Units of the group, and which of their ranks' cards form its channels: those
// on rails that all units have, where they stand in one rail-optimised domain.
void Judge::find_units(Group& group) const {
  std::uint64_t common = ~std::uint64_t{0};
  bool one_rail_domain = true;
  const DomainId rails = rail_domain(group.ranks[0].place.node);
  for (std::size_t i = 0; i < group.ranks.size(); ++i) {
    const NodeId node = group.ranks[i].place.node;
    if (i == 0 || !in_one_unit(node, group.ranks[i - 1].place.node))
      group.units.push_back({i, i, {}});
    group.units.back().last = i + 1;
    group.by_hosts = group.by_hosts ||
                     layout(node).cards[0].kind != layout(group.ranks[0].place.node).cards[0].kind;
    one_rail_domain = one_rail_domain && !rails.is_none() && rail_domain(node) == rails;
  }
  for (const Unit& unit : group.units) {
    std::uint64_t here = 0;
    for (std::size_t i = unit.first; i < unit.last; ++i) {
      here |= std::uint64_t{1} << group.ranks[i].rail;
    }
    common &= here;
  }
  const bool by_rail = one_rail_domain && common != 0 && !group.by_hosts;
  std::size_t least = group.ranks.size();
  for (Unit& unit : group.units) {
    for (std::size_t i = unit.first; i < unit.last; ++i) {
      if (!by_rail || (common >> group.ranks[i].rail & 1) != 0) unit.channels.push_back(i);
    }
    if (by_rail) {
      std::stable_sort(unit.channels.begin(), unit.channels.end(),
                       [&](auto a, auto b) { return group.ranks[a].rail < group.ranks[b].rail; });
    }
    least = std::min(least, unit.channels.size());
  }
  for (Unit& unit : group.units) {
    // Evenly chosen ones of those that may.
    std::vector<std::size_t> chosen;
    const double step = static_cast<double>(unit.channels.size()) / static_cast<double>(least);
    for (std::size_t c = 0; c < least; ++c) {
      const double last = static_cast<double>(c + 1) * step - 1e-9;
      chosen.push_back(unit.channels[static_cast<std::size_t>(last)]);
    }
    unit.channels = chosen;
  }
}

void Judge::send(const Group& group, std::size_t from, std::size_t to, double bytes) {
  flows_.push_back({path(group.ranks[from], group.ranks[to], group.by_hosts), bytes});
}

// Max-min fair rates of all_, by filling up the tightest link first.
void Judge::share() {
  used_.clear();
  for (PathFlow* flow : all_) {
    flow->settled = false;
    for (const int at : flow->links) {
      SharedLink& shared = links_[static_cast<std::size_t>(at)];
      if (shared.flows++ > 0) continue;
      used_.push_back(at);
      shared.left = shared.capacity;
    }
  }
  const auto settle = [&](PathFlow& flow, double rate) {
    flow.settled = true;
    flow.rate = rate;
    for (const int at : flow.links) {
      links_[static_cast<std::size_t>(at)].left -= rate;
      --links_[static_cast<std::size_t>(at)].flows;
    }
  };
  for (std::size_t open = all_.size(); open > 0;) {
    double rate = std::numeric_limits<double>::infinity();
    int tightest = -1;
    for (const int at : used_) {
      const SharedLink& shared = links_[static_cast<std::size_t>(at)];
      if (shared.flows > 0 && shared.left / shared.flows < rate) {
        rate = shared.left / shared.flows;
        tightest = at;
      }
    }
    rate = std::max(rate, 1.0);
    bool modest = false;
    for (PathFlow* flow : all_) {
      if (flow->settled || flow->most == 0 || flow->most > rate) continue;
      settle(*flow, flow->most);
      --open;
      modest = true;
    }
    if (modest) continue;
    for (PathFlow* flow : all_) {
      if (flow->settled) continue;
      const auto end = flow->links.end();
      if (std::find(flow->links.begin(), end, tightest) == end) continue;
      settle(*flow, rate);
      --open;
    }
  }
}

// Seconds until the last of flows_ has passed; empties flows_.
double Judge::slowest() {
  double seconds = 0;
  std::size_t open = flows_.size();
  while (open > 0) {
    all_.clear();
    for (PathFlow& flow : flows_) {
      if (flow.bytes > 0) all_.push_back(&flow);
    }
    for (PathFlow& flow : foreign_) all_.push_back(&flow);
    share();
    double next = std::numeric_limits<double>::infinity();
    for (const PathFlow& flow : flows_) {
      if (flow.bytes > 0) next = std::min(next, flow.bytes / flow.rate);
    }
    seconds += next;
    open = 0;
    for (PathFlow& flow : flows_) {
      if (flow.bytes == 0) continue;
      const double left = flow.bytes - flow.rate * next;
      flow.bytes = left > flow.bytes * 1e-6 ? left : 0;
      open += flow.bytes > 0 ? 1 : 0;
    }
  }
  flows_.clear();
  return seconds;
}

double Judge::step_seconds(std::span<const Place> places) {
  ++judged_;
  double sum = static_cast<double>(world_.job.traffic.compute.ns) * 1e-9;
  for (const Exchange& exchange : world_.job.traffic.exchanges) {
    sum += exchange.times * seconds(exchange, places);
  }
  return sum;
}

double Judge::seconds(const Exchange& exchange, std::span<const Place> places) {
  const bool by_rank = exchange.collective == Collective::kSendReceive;
  const auto found = groups(places, exchange.axis, by_rank);
  if (found[0].ranks.size() == 1) return 0;
  const auto bytes = static_cast<double>(exchange.bytes.value);
  switch (exchange.collective) {
    case Collective::kAllReduce: {
      const double flat = ring(found, bytes, 2);
      return std::min(flat, two_levels(found, bytes));
    }
    case Collective::kAllGather:
    case Collective::kReduceScatter: return ring(found, bytes, 1);
    case Collective::kAllToAll: return each_to_each(found, bytes);
    case Collective::kSendReceive: return chain(found, bytes);
    case Collective::kBroadcast: break;  // no world has one
  }
  return 0;
}

double Judge::around(const Group& group) const {
  double sum = 0;
  for (std::size_t i = 0; i < group.ranks.size(); ++i) {
    sum += hop(group.ranks[i], group.ranks[(i + 1) % group.ranks.size()]);
  }
  return sum;
}

double Judge::ring(const std::vector<Group>& groups, double bytes, double turns) {
  const auto n = static_cast<double>(groups[0].ranks.size());
  const double volume = turns * (n - 1) / n * bytes;
  double hops = 0;
  for (const Group& group : groups) {
    hops = std::max(hops, around(group) * turns * (n - 1) / n);
    for (std::size_t u = 0; u < group.units.size(); ++u) {
      const Unit& unit = group.units[u];
      for (std::size_t i = unit.first; i + 1 < unit.last; ++i) send(group, i, i + 1, volume);
      if (group.units.size() == 1) {
        send(group, unit.last - 1, unit.first, volume);
        continue;
      }
      const Unit& next = group.units[(u + 1) % group.units.size()];
      for (std::size_t c = 0; c < unit.channels.size(); ++c) {
        send(group, unit.channels[c], next.channels[c],
             volume / static_cast<double>(unit.channels.size()));
      }
    }
  }
  return start_ + hops + slowest();
}

// Reduce-scatter and all-gather in each unit, between them all-reduces of the
// parts, one a local rank. Infinite where the units are not alike.
double Judge::two_levels(const std::vector<Group>& groups, double bytes) {
  const std::size_t units = groups[0].units.size();
  const std::size_t local = groups[0].ranks.size() / units;
  bool alike = units > 1 && local > 1;
  for (const Group& group : groups) {
    alike = alike && group.units.size() == units;
    for (const Unit& unit : group.units) alike = alike && unit.last - unit.first == local;
  }
  if (!alike) return std::numeric_limits<double>::infinity();
  const auto l = static_cast<double>(local);
  const auto m = static_cast<double>(units);
  double near_hop = 0;
  double far_hop = 0;
  for (const Group& group : groups) {
    for (const Unit& unit : group.units) {
      for (std::size_t i = 0; i < local; ++i) {
        const std::size_t next = unit.first + (i + 1) % local;
        near_hop = std::max(near_hop, hop(group.ranks[unit.first + i], group.ranks[next]));
        send(group, unit.first + i, next, 2 * (l - 1) / l * bytes);
      }
    }
  }
  const double near = slowest();
  for (const Group& group : groups) {
    for (std::size_t u = 0; u < units; ++u) {
      for (std::size_t i = 0; i < local; ++i) {
        const std::size_t from = group.units[u].first + i;
        const std::size_t to = group.units[(u + 1) % units].first + i;
        far_hop = std::max(far_hop, hop(group.ranks[from], group.ranks[to]));
        send(group, from, to, 2 * (m - 1) / m * bytes / l);
      }
    }
  }
  return start_ + 2 * (l - 1) * near_hop + 2 * (m - 1) * far_hop + near + slowest();
}

double Judge::each_to_each(const std::vector<Group>& groups, double bytes) {
  const auto n = static_cast<double>(groups[0].ranks.size());
  double longest_hop = 0;
  for (const Group& group : groups) {
    for (std::size_t i = 0; i < group.ranks.size(); ++i) {
      for (std::size_t j = 0; j < group.ranks.size(); ++j) {
        if (i == j) continue;
        longest_hop = std::max(longest_hop, hop(group.ranks[i], group.ranks[j]));
        send(group, i, j, bytes / n);
      }
    }
  }
  return start_ + (n - 1) * longest_hop + slowest();
}

double Judge::chain(const std::vector<Group>& groups, double bytes) {
  double longest_hop = 0;
  for (const Group& group : groups) {
    for (std::size_t i = 0; i + 1 < group.ranks.size(); ++i) {
      longest_hop = std::max(longest_hop, hop(group.ranks[i], group.ranks[i + 1]));
      send(group, i, i + 1, bytes);
    }
  }
  return start_ + longest_hop + slowest();
}

}  // namespace gridfold
