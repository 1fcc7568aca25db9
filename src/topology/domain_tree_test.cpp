#include "topology/domain_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace gridfold {
namespace {

NodeSpec node(std::string name, std::vector<std::string> domains) {
  NodeSpec spec;
  spec.name = std::move(name);
  spec.domains.assign(domains.begin(), domains.end());
  return spec;
}

// Few names, so that paths share prefixes and the same name stands in several
// places and at several depths.
std::vector<NodeSpec> random_nodes() {
  const auto paths = *rc::gen::container<std::vector<std::vector<std::string>>>(
      rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, 5), [](std::size_t depth) {
        return rc::gen::container<std::vector<std::string>>(
            depth, rc::gen::element<std::string>("a", "b", "a-1", "r"));
      }));
  std::vector<NodeSpec> nodes;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    nodes.push_back(node("n" + std::to_string(i), paths[i]));
  }
  return nodes;
}

std::vector<DomainId> ancestors(const DomainTree& tree, DomainId at) {
  std::vector<DomainId> out;
  for (; !at.is_none(); at = tree.parent(at)) out.push_back(at);
  return out;
}

bool begins_with(const std::vector<DomainStep>& path, const std::vector<DomainStep>& prefix) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

TEST(DomainTree, KnowsTheLevelsByName) {
  NodeSpec first = node("n0", {});
  first.domains = {{"zone", "a"}, {"rack", "1"}};
  NodeSpec second = node("n1", {});
  second.domains = {{"zone", "b"}, {"pod", "1"}, {"rack", "1"}};
  const std::vector<NodeSpec> nodes = {first, second, node("n2", {"zone-c"})};
  const auto tree = DomainTree::build(nodes);
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->domains_at("rack").size(), 2u);
  EXPECT_EQ(tree->path(tree->domains_at("rack")[0]), "a/1");
  EXPECT_EQ(tree->path(tree->domains_at("rack")[1]), "b/1/1");
  EXPECT_EQ(tree->level_name(tree->domains_at("zone")[0]), "zone");
  EXPECT_EQ(tree->domains_at("zone").size(), 2u);
  EXPECT_EQ(tree->domains_at(kNodeLevel).size(), 3u);
  EXPECT_TRUE(tree->domains_at("spine").empty());
  EXPECT_TRUE(tree->domains_at("").empty());
  EXPECT_TRUE(tree->has_domains());
  const std::vector<NodeSpec> bare = {node("n0", {}), node("n1", {})};
  EXPECT_FALSE(DomainTree::build(bare)->has_domains());
}

TEST(DomainTree, KnowsRacksAndNodes) {
  const std::vector<NodeSpec> nodes = {node("n0", {"zone-b", "rack-1"}), node("n1", {"zone-a"}),
                                       node("n2", {"zone-a", "rack-1"}), node("n3", {}),
                                       node("n4", {"zone-a", "rack-1"})};
  const auto tree = DomainTree::build(nodes);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->size(), 10u);  // root, 2 zones, 2 racks, 5 nodes
  EXPECT_EQ(tree->path(tree->domain_of(NodeId(2))), "zone-a/rack-1/n2");
  EXPECT_EQ(tree->path(tree->lowest_common(NodeId(2), NodeId(4))), "zone-a/rack-1");
  EXPECT_EQ(tree->path(tree->lowest_common(NodeId(1), NodeId(4))), "zone-a");
  EXPECT_EQ(tree->lowest_common(NodeId(0), NodeId(2)), DomainTree::root());
  EXPECT_EQ(tree->lowest_common(NodeId(3), NodeId(3)), tree->domain_of(NodeId(3)));
  const auto rack = tree->find(std::vector<DomainStep>{"zone-a", "rack-1"});
  ASSERT_TRUE(rack);
  const auto beneath = tree->nodes_beneath(*rack);
  EXPECT_EQ(std::vector(beneath.begin(), beneath.end()), (std::vector{NodeId(2), NodeId(4)}));
  EXPECT_EQ(tree->level(*rack), 2u);
}

TEST(DomainTree, OfNoNodesIsTheRoot) {
  const auto tree = DomainTree::build({});
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->size(), 1u);
  EXPECT_TRUE(tree->nodes_beneath(DomainTree::root()).empty());
}

TEST(DomainTree, RefusesAnEmptyName) {
  const std::vector<NodeSpec> nodes = {node("n0", {"a"}), node("n1", {"a", ""})};
  const auto tree = DomainTree::build(nodes);
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(tree.error().field, "nodes[1].domains[1]");
}

TEST(DomainTree, NamesTheMissingDomain) {
  const std::vector<NodeSpec> nodes = {node("n0", {"a"})};
  const auto tree = DomainTree::build(nodes);
  ASSERT_TRUE(tree);
  const auto found =
      tree->find(std::vector<DomainStep>{"a", "n0"});  // a node is no domain of a path
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(found.error().message, "there is no domain \"n0\" in domain \"a\"");
}

RC_GTEST_PROP(DomainTreeProperty, SubtreesHoldExactlyTheNodesOfTheirPath, ()) {
  const auto nodes = random_nodes();
  const auto tree = DomainTree::build(nodes);
  RC_ASSERT(tree.has_value());
  std::set<std::vector<DomainStep>> prefixes = {{}};
  for (const auto& spec : nodes) {
    for (std::size_t n = 1; n <= spec.domains.size(); ++n) {
      prefixes.insert({spec.domains.begin(), spec.domains.begin() + static_cast<long>(n)});
    }
  }
  RC_ASSERT(tree->size() == prefixes.size() + nodes.size());
  for (const auto& prefix : prefixes) {
    const auto domain = tree->find(prefix);
    RC_ASSERT(domain.has_value());
    RC_ASSERT(tree->level(*domain) == prefix.size());
    std::set<NodeId> expected;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (begins_with(nodes[i].domains, prefix)) expected.insert(NodeId(i));
    }
    const auto beneath = tree->nodes_beneath(*domain);
    RC_ASSERT(beneath.size() == expected.size());
    RC_ASSERT(std::set<NodeId>(beneath.begin(), beneath.end()) == expected);
  }
}

RC_GTEST_PROP(DomainTreeProperty, SubtreeRangesAgreeWithParents, ()) {
  const auto tree = DomainTree::build(random_nodes());
  RC_ASSERT(tree.has_value());
  for (DomainId outer(0); outer.value < tree->size(); ++outer.value) {
    for (DomainId inner(0); inner.value < tree->size(); ++inner.value) {
      const auto above = ancestors(*tree, inner);
      const bool expected = std::find(above.begin(), above.end(), outer) != above.end();
      RC_ASSERT(tree->contains(outer, inner) == expected);
    }
  }
}

RC_GTEST_PROP(DomainTreeProperty, LowestCommonEqualsTheNaiveWalk, ()) {
  const auto tree = DomainTree::build(random_nodes());
  RC_ASSERT(tree.has_value());
  for (DomainId a(0); a.value < tree->size(); ++a.value) {
    for (DomainId b(0); b.value < tree->size(); ++b.value) {
      const auto of_a = ancestors(*tree, a);
      const auto of_b = ancestors(*tree, b);
      const auto first = std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
      RC_ASSERT(first != of_a.end());
      RC_ASSERT(tree->lowest_common(a, b) == *first);
    }
  }
}

}  // namespace
}  // namespace gridfold
