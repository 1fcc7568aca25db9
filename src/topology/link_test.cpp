#include "topology/link.h"

#include <gtest/gtest.h>

namespace gridfold {
namespace {

struct Grid {
  std::vector<NodeSpec> nodes;
  DomainTree tree;
};

Grid two_nodes() {
  NodeSpec first;
  first.name = "n0";
  first.domains = {"rack-1"};
  first.devices.resize(2);
  NodeSpec second = first;
  second.name = "n1";
  const std::vector<NodeSpec> nodes = {first, second};
  return {nodes, *DomainTree::build(nodes)};
}

TEST(Link, BetweenDevicesOfOneNodeIsAccepted) {
  const Grid grid = two_nodes();
  const DomainId leaf = grid.tree.domain_of(NodeId(0));
  const Link link{
      LinkKind::kNvlink, {leaf, 0}, {leaf, 1}, Unknown{}, BitsPerSecond(200'000'000'000)};
  EXPECT_TRUE(check_link(link, grid.tree, grid.nodes));
  EXPECT_EQ(to_string(link.kind), "nvlink");
}

TEST(Link, NamesTheFieldThatIsWrong) {
  const Grid grid = two_nodes();
  const DomainId leaf = grid.tree.domain_of(NodeId(0));
  const DomainId rack = grid.tree.parent(leaf);
  const auto field_of = [&](const Link& link) {
    const auto checked = check_link(link, grid.tree, grid.nodes);
    return checked ? std::string("accepted") : checked.error().field;
  };
  EXPECT_EQ(field_of({LinkKind::kLeaf, {rack}, {leaf}}), "accepted");
  EXPECT_EQ(field_of({LinkKind::kLeaf, {DomainId(99)}, {leaf}}), "a.domain");
  EXPECT_EQ(field_of({LinkKind::kLeaf, {leaf}, {}}), "b.domain");
  EXPECT_EQ(field_of({LinkKind::kPcie, {leaf, 2}, {leaf}}), "a.device");
  EXPECT_EQ(field_of({LinkKind::kPcie, {leaf}, {rack, 0}}), "b.device");
  EXPECT_EQ(field_of({LinkKind::kLeaf, {leaf}, {rack}, Duration{-1}}), "latency");
  EXPECT_EQ(field_of({LinkKind::kLeaf, {leaf}, {rack}, Unknown{}, BitsPerSecond(0)}), "bandwidth");
}

}  // namespace
}  // namespace gridfold
