#include "topology/domain_tree.h"

#include <algorithm>
#include <numeric>

namespace gridfold {
namespace {

Result<void> check_names(std::span<const NodeSpec> nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = 0; j < nodes[i].domains.size(); ++j) {
      if (!nodes[i].domains[j].name.empty()) continue;
      Error error = invalid("node \"" + nodes[i].name + "\" has a domain without a name");
      error.field = "nodes[" + std::to_string(i) + "].domains[" + std::to_string(j) + "]";
      error.hint = "name every domain of the path, or leave it out";
      return error;
    }
  }
  return {};
}

// Node numbers by path, then by number. A path sorts before those it begins, so
// all nodes beneath one domain stand together.
std::vector<std::uint32_t> in_order_of_path(std::span<const DomainTree::NodePath> nodes) {
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(nodes[a].domains.begin(), nodes[a].domains.end(),
                                        nodes[b].domains.begin(), nodes[b].domains.end());
  });
  return order;
}

}  // namespace

Result<DomainTree> DomainTree::build(std::span<const NodeSpec> nodes) {
  if (const auto checked = check_names(nodes); !checked) return checked.error();
  std::vector<NodePath> paths;
  paths.reserve(nodes.size());
  for (const NodeSpec& node : nodes) paths.push_back({node.name, node.domains});
  return build_from(paths);
}

DomainTree DomainTree::build_from(std::span<const NodePath> nodes) {
  DomainTree tree;
  tree.leaves_.resize(nodes.size());
  tree.nodes_.reserve(nodes.size());
  std::vector<DomainId> open_domains = {tree.open(DomainId::none(), {}, Kind::kInner)};
  const std::string node_level(kNodeLevel);
  std::span<const DomainStep> previous;
  for (const std::uint32_t index : in_order_of_path(nodes)) {
    const auto path = nodes[index].domains;
    const auto differ =
        std::mismatch(path.begin(), path.end(), previous.begin(), previous.end()).first;
    const auto shared = static_cast<std::size_t>(differ - path.begin());
    for (; open_domains.size() > shared + 1; open_domains.pop_back()) {
      tree.close(open_domains.back());
    }
    for (std::size_t depth = shared; depth < path.size(); ++depth) {
      open_domains.push_back(tree.open(open_domains.back(), path[depth], Kind::kInner));
    }
    const DomainId leaf =
        tree.open(open_domains.back(), {node_level, std::string(nodes[index].name)}, Kind::kNode);
    tree.nodes_.push_back(NodeId(index));
    tree.leaves_[index] = leaf;
    tree.close(leaf);
    previous = path;
  }
  for (; !open_domains.empty(); open_domains.pop_back()) tree.close(open_domains.back());
  return tree;
}

std::uint16_t DomainTree::intern_level(const std::string& name) {
  const auto known = std::find(level_names_.begin(), level_names_.end(), name);
  if (known != level_names_.end()) return static_cast<std::uint16_t>(known - level_names_.begin());
  level_names_.push_back(name);
  at_level_.emplace_back();
  return static_cast<std::uint16_t>(level_names_.size() - 1);
}

std::span<const DomainId> DomainTree::domains_at(std::string_view level_name) const {
  const auto known = std::find(level_names_.begin(), level_names_.end(), level_name);
  if (level_name.empty() || known == level_names_.end()) return {};
  return at_level_[static_cast<std::size_t>(known - level_names_.begin())];
}

DomainId DomainTree::open(DomainId parent, const DomainStep& step, Kind kind) {
  const DomainId id(size());
  parents_.push_back(parent);
  levels_.push_back(parent.is_none() ? 0 : level(parent) + 1);
  ends_.push_back(DomainId::none());
  first_nodes_.push_back(static_cast<std::uint32_t>(nodes_.size()));
  end_nodes_.push_back(0);
  names_.push_back(step.name);
  level_ids_.push_back(intern_level(step.level));
  at_level_[level_ids_.back()].push_back(id);
  is_node_.push_back(kind == Kind::kNode);
  return id;
}

void DomainTree::close(DomainId domain) {
  ends_[domain.value] = DomainId(size());
  end_nodes_[domain.value] = static_cast<std::uint32_t>(nodes_.size());
}

std::string DomainTree::path(DomainId domain) const {
  if (domain == root()) return {};
  const DomainId above = parent(domain);
  return above == root() ? name(domain) : path(above) + "/" + name(domain);
}

// A node's path sorts before those it begins, so they come first.
std::span<const NodeId> DomainTree::nodes_directly_in(DomainId domain) const {
  std::size_t count = 0;
  for (DomainId at(domain.value + 1); at < subtree_end(domain) && is_node(at); ++at.value) ++count;
  return nodes_beneath(domain).first(count);
}

DomainId DomainTree::lowest_common(DomainId a, DomainId b) const {
  // In preorder the later of two ids cannot contain the earlier, unless equal.
  if (b < a) std::swap(a, b);
  while (!contains(a, b)) a = parent(a);
  return a;
}

Result<DomainId> DomainTree::find(std::span<const DomainStep> path) const {
  DomainId at = root();
  for (const DomainStep& step : path) {
    const DomainId next = child(at, step);
    if (next.is_none()) {
      const auto where = at == root() ? "the grid" : "domain \"" + this->path(at) + "\"";
      return not_found("there is no domain \"" + step.name + "\" in " + where);
    }
    at = next;
  }
  return at;
}

DomainId DomainTree::child(DomainId domain, const DomainStep& step) const {
  for (DomainId at(domain.value + 1); at < subtree_end(domain); at = subtree_end(at)) {
    if (!is_node(at) && name(at) == step.name && level_name(at) == step.level) return at;
  }
  return DomainId::none();
}

}  // namespace gridfold
