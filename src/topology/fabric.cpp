#include "topology/fabric.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>

#include "model/node.h"

namespace gridfold {
namespace {

Error wrong(std::string field, std::string message, std::string hint) {
  Error error = invalid(std::move(message));
  error.field = std::move(field);
  error.hint = std::move(hint);
  return error;
}

bool small(std::int32_t number, std::int32_t least) { return number >= least && number < 64; }

Result<void> check_layout(const NodeWiring& layout, const std::string& field) {
  if (layout.devices.size() > kMaxDevicesPerNode) {
    return wrong(field + ".devices", "a node has at most 64 devices", "describe them as two nodes");
  }
  if (layout.cards.empty() || layout.cards.size() > 64) {
    return wrong(field + ".cards", "a node has 1 to 64 network cards",
                 "name the host's own card where there is no faster one");
  }
  for (std::size_t i = 0; i < layout.cards.size(); ++i) {
    const NetworkCard& card = layout.cards[i];
    if (is_network(card.kind) && small(card.rail, 0) && card.bandwidth > BitsPerSecond{}) continue;
    return wrong(field + ".cards[" + std::to_string(i) + "]",
                 "a card needs a network's kind, a rail from 0 to 63 and a bandwidth above zero",
                 "write roce, infiniband or ethernet");
  }
  for (std::size_t i = 0; i < layout.devices.size(); ++i) {
    const DeviceSeat& seat = layout.devices[i];
    if (small(seat.island, -1) && small(seat.pcie_switch, 0) && small(seat.socket, 0) &&
        small(seat.card, 0) && static_cast<std::size_t>(seat.card) < layout.cards.size()) {
      continue;
    }
    return wrong(field + ".devices[" + std::to_string(i) + "]",
                 "a device's seat counts islands, switches, sockets and cards from 0 to 63",
                 "name a card of the layout");
  }
  if (layout.nvlink > BitsPerSecond{} && layout.pcie > BitsPerSecond{} &&
      layout.numa > BitsPerSecond{} && layout.socket > BitsPerSecond{} &&
      layout.host_network > BitsPerSecond{}) {
    return {};
  }
  return wrong(field, "every bandwidth of a layout must be above zero",
               "where there is no such link, give that of the next wider one");
}

std::vector<std::uint8_t> ring_positions(const std::vector<DeviceSeat>& seats) {
  std::vector<std::uint8_t> order(seats.size());
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::uint8_t a, std::uint8_t b) {
    const auto key = [&](std::uint8_t i) {
      return std::tuple(seats[i].socket, seats[i].island, seats[i].pcie_switch);
    };
    return key(a) < key(b);
  });
  std::vector<std::uint8_t> position(seats.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<std::uint8_t>(i);
  return position;
}

}  // namespace

std::int64_t Fabric::stretch(LinkKind kind, std::int64_t bits_per_second) const {
  const auto wide =
      (static_cast<__int128>(curve(kind).bandwidth().value) << kStretchBits) / bits_per_second;
  return static_cast<std::int64_t>(
      std::min<__int128>(wide, std::numeric_limits<std::int64_t>::max()));
}

Result<Fabric> Fabric::build(const DomainTree& tree, FabricSpec spec) {
  Fabric fabric;
  fabric.tree_ = &tree;
  fabric.spec_ = std::move(spec);
  const auto nodes = tree.nodes_beneath(DomainTree::root()).size();
  const auto& layout_of_node = fabric.spec_.layout_of_node;
  if (layout_of_node.size() != nodes) {
    return wrong("layout_of_node",
                 "the tree has " + std::to_string(nodes) + " nodes and " +
                     std::to_string(layout_of_node.size()) + " have a layout",
                 "give one layout a node");
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    if (layout_of_node[i] < fabric.spec_.layouts.size()) continue;
    return wrong("layout_of_node[" + std::to_string(i) + "]", "there is no such layout",
                 "layouts are counted from 0");
  }
  if (auto added = fabric.add_layouts(); !added) return added.error();
  fabric.uplinks_.resize(tree.size());
  fabric.unit_stretches_.resize(tree.size());
  fabric.between_rails_.resize(tree.size());
  fabric.is_rail_domain_.resize(tree.size());
  for (std::size_t i = 0; i < fabric.spec_.links.size(); ++i) {
    if (auto added = fabric.add_link(fabric.spec_.links[i]); !added) {
      Error error = added.error();
      error.field = "links[" + std::to_string(i) + "]." + error.field;
      return error;
    }
  }
  fabric.settle_nodes();
  return fabric;
}

Result<void> Fabric::add_layouts() {
  for (std::size_t i = 0; i < spec_.layouts.size(); ++i) {
    const NodeWiring& source = spec_.layouts[i];
    if (auto checked = check_layout(source, "layouts[" + std::to_string(i) + "]"); !checked) {
      return checked;
    }
    Layout layout{source};
    layout.ring_position = ring_positions(source.devices);
    for (const NetworkCard& card : source.cards) {
      layout.card_bandwidth += card.bandwidth.value;
      layout.card_stretch.push_back(stretch(card.kind, card.bandwidth.value));
    }
    layout.nvlink_stretch = stretch(LinkKind::kNvlink, source.nvlink.value);
    layout.pcie_stretch = stretch(LinkKind::kPcie, source.pcie.value);
    layout.numa_stretch = stretch(LinkKind::kNuma, source.numa.value);
    layout.socket_stretch = stretch(LinkKind::kSocket, source.socket.value);
    layout.host_stretch = stretch(LinkKind::kEthernet, source.host_network.value);
    layouts_.push_back(std::move(layout));
  }
  return {};
}

Result<void> Fabric::add_link(const Link& link) {
  const bool above_nodes =
      link.kind == LinkKind::kLeaf || link.kind == LinkKind::kSpine || link.kind == LinkKind::kWan;
  if (link.a.domain.value >= tree_->size() || link.a.device != -1 || link.b.device != -1) {
    return wrong("a", "a fabric's links join domains of the tree",
                 "what lies inside a node belongs into its layout");
  }
  if (link.latency.is_known() && link.latency.value() < Duration{}) {
    return wrong("latency", "a latency cannot be negative", "leave out what is not known");
  }
  if (link.bandwidth.is_known() && link.bandwidth.value() <= BitsPerSecond{}) {
    return wrong("bandwidth", "a bandwidth must be above zero", "leave out what is not known");
  }
  const std::int64_t bandwidth = link.bandwidth.is_known() ? link.bandwidth.value().value : 0;
  const auto at = link.a.domain.value;
  if (link.a == link.b && link.kind == LinkKind::kNvlink && bandwidth > 0) {
    unit_stretches_[at] = stretch(LinkKind::kNvlink, bandwidth);
    return {};
  }
  if (link.a == link.b && link.kind == LinkKind::kSpine) {
    is_rail_domain_[at] = true;
    between_rails_[at] = bandwidth;
    return {};
  }
  if (above_nodes && link.b.domain == tree_->parent(link.a.domain) && !link.b.domain.is_none()) {
    uplinks_[at] = {link.kind, bandwidth,
                    link.latency.is_known() ? link.latency.value() : curve(link.kind).hop()};
    return {};
  }
  return wrong("b", "this is neither a domain's way up nor what joins all beneath it",
               "end a leaf, spine or wan link at the parent of its first end, or an nvlink (with "
               "its bandwidth) or spine link at the same domain");
}

void Fabric::settle_nodes() {
  for (std::uint32_t i = 0; i < spec_.layout_of_node.size(); ++i) {
    const DomainId leaf = tree_->domain_of(NodeId(i));
    Uplink& uplink = uplinks_[leaf.value];
    const std::int64_t cards = layouts_[spec_.layout_of_node[i]].card_bandwidth;
    if (uplink.capacity == 0 || uplink.capacity > cards) uplink.capacity = cards;
    DomainId unit = leaf;
    DomainId rails = DomainId::none();
    for (DomainId at = leaf; !at.is_none(); at = tree_->parent(at)) {
      if (unit_stretches_[at.value] != 0) unit = at;
      if (is_rail_domain_[at.value] && rails.is_none()) rails = at;
    }
    units_.push_back(unit);
    rail_domains_.push_back(rails);
  }
}

}  // namespace gridfold
