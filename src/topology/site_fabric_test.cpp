#include "topology/site_fabric.h"

#include <gtest/gtest.h>

#include "topology/test_fabric.h"

namespace gridfold {
namespace {

NodeSpec told_node(int cards = 2) {
  NodeSpec node;
  node.name = "n";
  NodeLinks links;
  for (int i = 0; i < cards; ++i) links.cards.push_back({i, LinkKind::kRoce, gigabits(100)});
  links.pcie = gigabits(160);
  links.nvlink = gigabits(1'600);
  for (int i = 0; i < 4; ++i) {
    node.devices.push_back({"gpu", "G"});
    node.devices.back().island = 7;
    node.devices.back().pcie_switch = 40 + i / 2;
    node.devices.back().numa = 3 * (i / 2);
    node.devices.back().card = cards == 1 ? -1 : i / 2;
  }
  node.links = SharedLinks(std::move(links));
  return node;
}

TEST(WiringOf, NumbersPlacesFromZeroAndTakesWhatIsNotToldFromTheNextLink) {
  const auto wiring = wiring_of(told_node());
  ASSERT_TRUE(wiring) << wiring.error().describe();
  EXPECT_EQ(wiring->devices[3], (DeviceSeat{0, 1, 1, 1}));
  EXPECT_EQ(wiring->socket, gigabits(160));
  EXPECT_EQ(wiring->host_network, gigabits(100));
  EXPECT_TRUE(wiring_of(told_node(1)));  // the only card is everybody's
}

TEST(WiringOf, RefusesWhatIsTooLittle) {
  const auto field_without = [](auto change) {
    NodeSpec node = told_node();
    NodeLinks links = *node.links;
    change(node, links);
    node.links = SharedLinks(std::move(links));
    const auto wiring = wiring_of(node);
    return wiring ? std::string("fine") : wiring.error().field;
  };
  EXPECT_EQ(field_without([](NodeSpec&, NodeLinks& l) { l.cards.clear(); }), "links.cards");
  EXPECT_EQ(field_without([](NodeSpec&, NodeLinks& l) { l.pcie = Unknown{}; }), "links.pcie");
  EXPECT_EQ(field_without([](NodeSpec&, NodeLinks& l) { l.nvlink = Unknown{}; }), "links.nvlink");
  EXPECT_EQ(field_without([](NodeSpec&, NodeLinks& l) { l.numa = BitsPerSecond(0); }),
            "links.numa");
  EXPECT_EQ(field_without([](NodeSpec& n, NodeLinks&) { n.devices[1].card = -1; }),
            "devices[1].card");
  EXPECT_EQ(field_without([](NodeSpec& n, NodeLinks&) { n.devices[1].card = 2; }),
            "devices[1].card");
  EXPECT_EQ(field_without([](NodeSpec&, NodeLinks& l) { l.cards[0].kind = LinkKind::kLeaf; }),
            "links.cards[0]");
  EXPECT_EQ(wiring_of(NodeSpec{}).error().kind, ErrorKind::kNotFound);
}

TEST(CheckLevels, RefusesWhatContradictsItself) {
  const auto is_fine = [](auto change) {
    LevelLinks level;
    level.level = "rack";
    change(level);
    return static_cast<bool>(check_levels({&level, 1}));
  };
  EXPECT_TRUE(is_fine([](LevelLinks&) {}));
  EXPECT_FALSE(is_fine([](LevelLinks& l) { l.level = "node"; }));
  EXPECT_FALSE(is_fine([](LevelLinks& l) { l.bandwidth = BitsPerSecond(0); }));
  EXPECT_FALSE(is_fine([](LevelLinks& l) {
    l.bandwidth = gigabits(1);
    l.oversubscription = 2'000;
  }));
  EXPECT_FALSE(is_fine([](LevelLinks& l) { l.oversubscription = 0; }));
  EXPECT_FALSE(is_fine([](LevelLinks& l) { l.between_rails = gigabits(1); }));
  EXPECT_FALSE(is_fine([](LevelLinks& l) { l.latency = Duration{-1}; }));
  const LevelLinks twice[] = {{.level = "rack"}, {.level = "rack"}};
  EXPECT_FALSE(check_levels(twice));
}

// Two racks of two nodes with 200 Gb/s of cards each, in one spine.
TEST(SiteFabric, OversubscriptionCountsWhatLiesBeneath) {
  std::vector<NodeSpec> nodes(4, told_node());
  std::vector<const NodeSpec*> pointers;
  for (int i = 0; i < 4; ++i) {
    nodes[static_cast<std::size_t>(i)].name = "n" + std::to_string(i);
    nodes[static_cast<std::size_t>(i)].domains = {{"spine", "s"},
                                                  {"rack", "r" + std::to_string(i / 2)}};
  }
  nodes[3].links = SharedLinks();
  for (const NodeSpec& node : nodes) pointers.push_back(&node);
  std::vector<LevelLinks> levels(2);
  levels[0].level = "rack";
  levels[0].oversubscription = 2'000;
  levels[1].level = "spine";
  levels[1].oversubscription = 4'000;
  const DomainTree tree = *DomainTree::build(nodes);
  const SiteFabric site = site_fabric(tree, pointers, levels);
  EXPECT_EQ(site.known_nodes, 3u);
  EXPECT_FALSE(site.known[3]);
  const auto fabric = Fabric::build(tree, site.spec);
  ASSERT_TRUE(fabric) << fabric.error().describe();
  const auto up = [&](std::vector<DomainStep> path) {
    return fabric->uplink(*tree.find(path)).capacity;
  };
  EXPECT_EQ(up({{"spine", "s"}, {"rack", "r0"}}), gigabits(200).value);
  // Nobody knows what the fourth node sends, so the rest is not known either.
  EXPECT_EQ(up({{"spine", "s"}, {"rack", "r1"}}), 0);
  EXPECT_EQ(up({{"spine", "s"}}), 0);
  levels[0] = {.level = "rack", .bandwidth = gigabits(100)};
  const auto stated = Fabric::build(tree, site_fabric(tree, pointers, levels).spec);
  EXPECT_EQ(stated->uplink(*tree.find(std::vector<DomainStep>{{"spine", "s"}})).capacity,
            gigabits(50).value);
}

}  // namespace
}  // namespace gridfold
