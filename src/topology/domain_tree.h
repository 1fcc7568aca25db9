// The tree of domains: how close two nodes are. The root is the whole grid, the
// leaves are the nodes, between them lies whatever the nodes' paths say (site,
// zone, spine, rack, island): any depth, and not the same everywhere.
//
//   Result<DomainTree> tree = DomainTree::build(nodes);
//   DomainId shared = tree->lowest_common(NodeId(3), NodeId(7));
//   for (NodeId node : tree->nodes_beneath(shared)) …
//
// Kept as flat arrays in preorder, so that the domains beneath d are the ids
// [d, subtree_end(d)) and the nodes beneath it one span. A domain is its whole
// path: "rack-1" of two zones are two domains. The numbering depends on names
// alone, not on the order in which nodes were told, except that nodes of one
// domain keep their order. Immutable once built; read it from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/node.h"

namespace gridfold {

using DomainId = Id<struct DomainTag, std::uint32_t>;

class DomainTree {
 public:
  // nodes[i] is NodeId(i). Errors: kInvalid for an empty name in a path, with
  // the field "nodes[i].domains[j]".
  static Result<DomainTree> build(std::span<const NodeSpec> nodes);
  // The same from the parts that count; every path has been checked already.
  struct NodePath {
    std::string_view name;
    std::span<const DomainStep> domains;
  };
  static DomainTree build_from(std::span<const NodePath> nodes);

  static constexpr DomainId root() { return DomainId(0); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(parents_.size()); }

  // The node's own leaf; its parent is the last domain of the node's path.
  DomainId domain_of(NodeId node) const { return leaves_[node.value]; }
  // none() for the root.
  DomainId parent(DomainId domain) const { return parents_[domain.value]; }
  // Edges from the root: 0 for the root.
  std::uint32_t level(DomainId domain) const { return levels_[domain.value]; }
  // The last part of the path; the root's is empty.
  const std::string& name(DomainId domain) const { return names_[domain.value]; }
  // What the site calls its level: "rack", kNodeLevel for a node; may be empty.
  const std::string& level_name(DomainId domain) const {
    return level_names_[level_ids_[domain.value]];
  }
  // All domains of the level, in order of id; none lies in another.
  std::span<const DomainId> domains_at(std::string_view level_name) const;
  // Whether any node lies in a domain other than the grid.
  bool has_domains() const { return size() > leaves_.size() + 1; }
  // "zone-a/rack-3".
  std::string path(DomainId domain) const;
  // The first id after the domain's subtree.
  DomainId subtree_end(DomainId domain) const { return ends_[domain.value]; }
  bool contains(DomainId outer, DomainId inner) const {
    return outer <= inner && inner < subtree_end(outer);
  }
  bool is_node(DomainId domain) const { return is_node_[domain.value]; }
  std::span<const NodeId> nodes_beneath(DomainId domain) const {
    const auto first = first_nodes_[domain.value];
    return std::span(nodes_).subspan(first, end_nodes_[domain.value] - first);
  }
  // Those that lie in the domain and in no other beneath it.
  std::span<const NodeId> nodes_directly_in(DomainId domain) const;

  // The narrowest domain that holds both; of equals, themselves.
  DomainId lowest_common(DomainId a, DomainId b) const;
  DomainId lowest_common(NodeId a, NodeId b) const {
    return lowest_common(domain_of(a), domain_of(b));
  }
  // The domain of this path from the root, never a node's leaf. kNotFound.
  Result<DomainId> find(std::span<const DomainStep> path) const;

 private:
  enum class Kind : std::uint8_t { kInner, kNode };
  DomainId open(DomainId parent, const DomainStep& step, Kind kind);
  std::uint16_t intern_level(const std::string& name);
  void close(DomainId domain);
  DomainId child(DomainId domain, const DomainStep& step) const;

  // Indexed by DomainId; all of one length.
  std::vector<DomainId> parents_;
  std::vector<std::uint32_t> levels_;
  std::vector<DomainId> ends_;
  std::vector<std::uint32_t> first_nodes_;  // into nodes_
  std::vector<std::uint32_t> end_nodes_;
  std::vector<std::string> names_;
  std::vector<bool> is_node_;
  std::vector<std::uint16_t> level_ids_;
  std::vector<NodeId> nodes_;     // in preorder of their leaves
  std::vector<DomainId> leaves_;  // indexed by NodeId
  // Indexed by level id: the level's name, and its domains.
  std::vector<std::string> level_names_;
  std::vector<std::vector<DomainId>> at_level_;
};

}  // namespace gridfold
