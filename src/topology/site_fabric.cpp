#include "topology/site_fabric.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace gridfold {
namespace {

constexpr std::int64_t kMostOversubscription = 1'000'000;  // thousandths
constexpr std::int64_t kMostUp = std::int64_t{1} << 61;    // bits per second
// Of one link: no sum over a node's cards overflows.
constexpr BitsPerSecond kWidest{1'000'000'000'000'000};

Error wrong(std::string field, std::string message, std::string hint) {
  Error error = invalid(std::move(message));
  error.field = std::move(field);
  error.hint = std::move(hint);
  return error;
}

BitsPerSecond or_else(const Known<BitsPerSecond>& told, BitsPerSecond otherwise) {
  return told.is_known() ? told.value() : otherwise;
}

// Numbers from 0 for whatever numbers come.
class Dense {
 public:
  std::int32_t of(std::int32_t number) {
    return numbers_.try_emplace(number, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::int32_t, std::int32_t> numbers_;
};

Result<void> check_cards(const std::vector<NetworkCard>& cards) {
  if (cards.empty() || cards.size() > 64)
    return wrong("links.cards", "a node whose links are told has 1 to 64 network cards",
                 "such as cards: [{kind: roce, bandwidth: 200Gbps}]");
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const NetworkCard& card = cards[i];
    if (is_network(card.kind) && card.rail >= 0 && card.rail < 64 &&
        card.bandwidth > BitsPerSecond{} && card.bandwidth <= kWidest)
      continue;
    return wrong("links.cards[" + std::to_string(i) + "]",
                 "a card speaks a network, on a rail from 0 to 63, with a bandwidth above zero "
                 "and at most 1 Pbps",
                 "such as {kind: roce, rail: 0, bandwidth: 200Gbps}");
  }
  return {};
}

Result<std::vector<DeviceSeat>> seats_of(const NodeSpec& node) {
  std::vector<DeviceSeat> seats;
  Dense islands;
  Dense switches;
  Dense sockets;
  const auto cards = static_cast<std::int32_t>(node.links->cards.size());
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const DeviceSpec& device = node.devices[i];
    DeviceSeat seat;
    // An island of one is none.
    const bool is_linked =
        device.island >= 0 &&
        std::count_if(node.devices.begin(), node.devices.end(),
                      [&](const DeviceSpec& other) { return other.island == device.island; }) > 1;
    if (is_linked) seat.island = islands.of(device.island);
    seat.socket = device.numa >= 0 ? sockets.of(device.numa) : 0;
    // Numbers below zero are nobody else's.
    const auto own = -1 - static_cast<std::int32_t>(i);
    seat.pcie_switch = switches.of(device.pcie_switch >= 0 ? device.pcie_switch : own);
    seat.card = cards == 1 ? 0 : device.card;
    if (seat.card < 0 || seat.card >= cards)
      return wrong("devices[" + std::to_string(i) + "].card",
                   device.card < 0 ? "the node has " + std::to_string(cards) +
                                         " network cards, and which is nearest is not told"
                                   : "the node has no card " + std::to_string(device.card),
                   "give each device the number of its nearest card, from 0");
    if (is_linked && !node.links->nvlink.is_known())
      return wrong("links.nvlink", "devices lie in islands, and how fast those are is not told",
                   "add it, such as nvlink: 1600Gbps of one device");
    seats.push_back(seat);
  }
  return seats;
}

}  // namespace

Result<NodeWiring> wiring_of(const NodeSpec& node) {
  if (!node.links.is_known()) return not_found("the links of node " + node.name + " are not told");
  const NodeLinks& links = *node.links;
  if (auto checked = check_cards(links.cards); !checked) return checked.error();
  if (node.devices.size() > kMaxDevicesPerNode)
    return wrong("devices", "a node has at most 64 devices", "describe them as two nodes");
  if (!links.pcie.is_known())
    return wrong("links.pcie", "how fast a device is on PCIe is not told",
                 "add it, such as pcie: 160Gbps");
  for (const auto& [name, told] : {std::pair{"nvlink", &links.nvlink},
                                   {"pcie", &links.pcie},
                                   {"numa", &links.numa},
                                   {"socket", &links.socket},
                                   {"host_network", &links.host_network}}) {
    if (!told->is_known() || (told->value() > BitsPerSecond{} && told->value() <= kWidest))
      continue;
    return wrong("links." + std::string(name), "a bandwidth is above zero and at most 1 Pbps",
                 "leave out what is not known");
  }
  auto seats = seats_of(node);
  if (!seats) return seats.error();
  NodeWiring wiring;
  wiring.devices = std::move(*seats);
  wiring.cards = links.cards;
  wiring.pcie = links.pcie.value();
  wiring.nvlink = or_else(links.nvlink, wiring.pcie);
  wiring.numa = or_else(links.numa, wiring.pcie);
  wiring.socket = or_else(links.socket, wiring.numa);
  const auto slowest = std::min_element(
      links.cards.begin(), links.cards.end(),
      [](const NetworkCard& a, const NetworkCard& b) { return a.bandwidth < b.bandwidth; });
  wiring.host_network = or_else(links.host_network, slowest->bandwidth);
  return wiring;
}

Result<void> check_levels(std::span<const LevelLinks> levels) {
  std::set<std::string> names;
  for (const LevelLinks& level : levels) {
    const std::string& field = level.level;
    if (!is_level_name(level.level) || level.level == kNodeLevel)
      return wrong(field, "a level of the fabric is one of the nodes' domains",
                   "what lies inside a node stands with the node");
    if (!names.insert(level.level).second)
      return wrong(field, "the level is told twice", "leave one of them out");
    if (level.bandwidth.is_known() && level.oversubscription.is_known())
      return wrong(field, "both the bandwidth and the oversubscription of the way up are told",
                   "keep one of them: each follows from the other");
    for (const auto* told : {&level.bandwidth, &level.nvlink, &level.between_rails}) {
      if (told->is_known() && (told->value() <= BitsPerSecond{} || told->value() > kWidest))
        return wrong(field, "a bandwidth is above zero and at most 1 Pbps",
                     "leave out what is not known");
    }
    if (level.oversubscription.is_known() &&
        (level.oversubscription.value() < 1 ||
         level.oversubscription.value() > kMostOversubscription))
      return wrong(field + ".oversubscription", "the ratio is from 0.001 to 1000",
                   "write 4 where four times as much lies beneath as goes up");
    if (level.latency.is_known() && level.latency.value() < Duration{})
      return wrong(field + ".latency", "a latency cannot be negative",
                   "leave out what is not known");
    if (level.between_rails.is_known() && !level.rails)
      return wrong(field + ".between_rails", "the level has no rails", "add rails: true");
  }
  return {};
}

namespace {

// A domain of nodes only has leaf switches, a wider one a spine.
LinkKind kind_of(const DomainTree& tree, DomainId domain) {
  const auto within = tree.subtree_end(domain).value - domain.value;
  return within == tree.nodes_beneath(domain).size() + 1 ? LinkKind::kLeaf : LinkKind::kSpine;
}

void add_links(const DomainTree& tree, std::span<const LevelLinks> levels, FabricSpec& spec,
               const std::vector<bool>& known) {
  // By domain: what goes up from it, 0: nobody knows; what its children send up.
  std::vector<std::int64_t> up(tree.size(), 0);
  std::vector<std::int64_t> beneath(tree.size(), 0);
  std::vector<bool> all_told(tree.size(), true);
  for (std::uint32_t i = tree.size() - 1; i > 0; --i) {
    const DomainId domain(i);
    if (tree.is_node(domain)) {
      const NodeId node = tree.nodes_beneath(domain).front();
      if (known[node.value]) {
        for (const NetworkCard& card : spec.layouts[spec.layout_of_node[node.value]].cards)
          up[i] += card.bandwidth.value;
      }
    } else {
      up[i] = all_told[i] ? beneath[i] : 0;
      const auto level = std::find_if(levels.begin(), levels.end(), [&](const LevelLinks& at) {
        return at.level == tree.level_name(domain);
      });
      if (level != levels.end()) {
        Known<BitsPerSecond> width = level->bandwidth;
        if (level->oversubscription.is_known() && up[i] > 0) {
          const auto wide = static_cast<__int128>(up[i]) * 1000 / level->oversubscription.value();
          width = BitsPerSecond(static_cast<std::int64_t>(std::clamp<__int128>(wide, 1, kMostUp)));
        }
        if (width.is_known()) up[i] = width.value().value;
        if (width.is_known() || level->latency.is_known())
          spec.links.push_back(
              {kind_of(tree, domain), {domain}, {tree.parent(domain)}, level->latency, width});
        if (level->nvlink.is_known())
          spec.links.push_back({LinkKind::kNvlink, {domain}, {domain}, Unknown{}, level->nvlink});
        if (level->rails)
          spec.links.push_back(
              {LinkKind::kSpine, {domain}, {domain}, Unknown{}, level->between_rails});
      }
    }
    const auto above = tree.parent(domain).value;
    beneath[above] = std::min(beneath[above] + up[i], kMostUp);
    if (up[i] == 0) all_told[above] = false;
  }
}

}  // namespace

SiteFabric site_fabric(const DomainTree& tree, std::span<const NodeSpec* const> nodes,
                       std::span<const LevelLinks> levels) {
  SiteFabric site;
  FabricSpec& spec = site.spec;
  // Stands in for nodes of which too little is told.
  NodeWiring unknown;
  unknown.devices.resize(kMaxDevicesPerNode);
  unknown.cards = {{0, LinkKind::kEthernet, BitsPerSecond(1)}};
  unknown.nvlink = unknown.pcie = unknown.numa = unknown.socket = unknown.host_network =
      BitsPerSecond(1);
  spec.layouts.push_back(std::move(unknown));
  const NodeSpec* before = nullptr;
  for (const NodeSpec* node : nodes) {
    std::uint32_t layout = 0;
    const bool alike =
        before != nullptr && node->links == before->links && node->devices == before->devices;
    if (alike) {
      layout = spec.layout_of_node.back();
    } else if (auto wiring = wiring_of(*node)) {
      const auto same = std::find(spec.layouts.begin() + 1, spec.layouts.end(), *wiring);
      layout = static_cast<std::uint32_t>(same - spec.layouts.begin());
      if (same == spec.layouts.end()) spec.layouts.push_back(std::move(*wiring));
    }
    before = node;
    spec.layout_of_node.push_back(layout);
    site.known.push_back(layout != 0);
    site.known_nodes += layout != 0 ? 1 : 0;
  }
  add_links(tree, levels, spec, site.known);
  return site;
}

}  // namespace gridfold
