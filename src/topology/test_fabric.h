// Small machines for the tests of this folder and of tests/communication.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topology/fabric.h"
#include "topology/link_traffic.h"

namespace gridfold {

inline BitsPerSecond gigabits(std::int64_t value) { return BitsPerSecond(value * 1'000'000'000); }

// Eight devices on one NVLink switch, two sockets, a card each on its own rail.
inline NodeLayout eight_linked(LinkKind network = LinkKind::kRoce,
                               std::int64_t card_gigabits = 200) {
  NodeLayout layout;
  for (std::int32_t i = 0; i < 8; ++i) {
    layout.devices.push_back({.island = 0, .pcie_switch = i / 2, .socket = i / 4, .card = i});
    layout.cards.push_back({.rail = i, .kind = network, .bandwidth = gigabits(card_gigabits)});
  }
  layout.nvlink = gigabits(1'600);
  layout.pcie = layout.numa = gigabits(160);
  layout.socket = gigabits(120);
  layout.host_network = gigabits(25);
  return layout;
}

// Four devices on PCIe, two a socket, and one card.
inline NodeLayout four_on_pcie(LinkKind network = LinkKind::kRoce,
                               std::int64_t card_gigabits = 100) {
  NodeLayout layout;
  for (std::int32_t i = 0; i < 4; ++i) {
    layout.devices.push_back({.island = -1, .pcie_switch = i / 2, .socket = i / 2, .card = 0});
  }
  layout.cards = {{.rail = 0, .kind = network, .bandwidth = gigabits(card_gigabits)}};
  layout.nvlink = layout.pcie = layout.numa = gigabits(100);
  layout.socket = gigabits(80);
  layout.host_network = gigabits(10);
  return layout;
}

inline std::vector<NodeSpec> nodes_in_racks(std::size_t racks, std::size_t nodes_per_rack) {
  std::vector<NodeSpec> nodes;
  for (std::size_t r = 0; r < racks; ++r) {
    for (std::size_t i = 0; i < nodes_per_rack; ++i) {
      NodeSpec node;
      node.name = "n" + std::to_string(nodes.size());
      node.domains = {"rack-" + std::to_string(r)};
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

// Holds what a Fabric is lent.
struct Machine {
  std::unique_ptr<DomainTree> tree;
  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<LinkTraffic> traffic;

  DomainId rack(const std::string& name) const {
    return *tree->find(std::vector<DomainStep>{name});
  }
};

inline Machine machine_of(const std::vector<NodeSpec>& nodes, FabricSpec spec) {
  Machine machine;
  machine.tree = std::make_unique<DomainTree>(*DomainTree::build(nodes));
  machine.fabric = std::make_unique<Fabric>(*Fabric::build(*machine.tree, std::move(spec)));
  machine.traffic = std::make_unique<LinkTraffic>(*machine.fabric);
  return machine;
}

// Racks of like nodes, each with so much upwards.
inline Machine racks_of(std::size_t racks, std::size_t nodes_per_rack, const NodeLayout& layout,
                        std::int64_t uplink_gigabits) {
  const auto nodes = nodes_in_racks(racks, nodes_per_rack);
  const auto tree = *DomainTree::build(nodes);
  FabricSpec spec;
  spec.layouts = {layout};
  spec.layout_of_node.assign(nodes.size(), 0);
  for (std::size_t r = 0; r < racks; ++r) {
    const auto rack = *tree.find(std::vector<DomainStep>{"rack-" + std::to_string(r)});
    spec.links.push_back({LinkKind::kLeaf,
                          {rack},
                          {DomainTree::root()},
                          Duration::nanoseconds(600),
                          gigabits(uplink_gigabits)});
  }
  return machine_of(nodes, std::move(spec));
}

}  // namespace gridfold
