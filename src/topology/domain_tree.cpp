#include "topology/domain_tree.h"

#include <algorithm>
#include <numeric>

namespace gridfold {
namespace {

Result<void> check_names(std::span<const NodeSpec> nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = 0; j < nodes[i].domains.size(); ++j) {
      if (!nodes[i].domains[j].empty()) continue;
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
std::vector<std::uint32_t> in_order_of_path(std::span<const NodeSpec> nodes) {
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return nodes[a].domains < nodes[b].domains;
  });
  return order;
}

}  // namespace

Result<DomainTree> DomainTree::build(std::span<const NodeSpec> nodes) {
  if (const auto checked = check_names(nodes); !checked) return checked.error();
  DomainTree tree;
  tree.leaves_.resize(nodes.size());
  tree.nodes_.reserve(nodes.size());
  std::vector<DomainId> open_domains = {tree.open(DomainId::none(), "", Kind::kInner)};
  const std::vector<std::string> none;
  const std::vector<std::string>* previous = &none;
  for (const std::uint32_t index : in_order_of_path(nodes)) {
    const auto& path = nodes[index].domains;
    const auto differ =
        std::mismatch(path.begin(), path.end(), previous->begin(), previous->end()).first;
    const auto shared = static_cast<std::size_t>(differ - path.begin());
    for (; open_domains.size() > shared + 1; open_domains.pop_back()) {
      tree.close(open_domains.back());
    }
    for (std::size_t depth = shared; depth < path.size(); ++depth) {
      open_domains.push_back(tree.open(open_domains.back(), path[depth], Kind::kInner));
    }
    const DomainId leaf = tree.open(open_domains.back(), nodes[index].name, Kind::kNode);
    tree.nodes_.push_back(NodeId(index));
    tree.leaves_[index] = leaf;
    tree.close(leaf);
    previous = &path;
  }
  for (; !open_domains.empty(); open_domains.pop_back()) tree.close(open_domains.back());
  return tree;
}

DomainId DomainTree::open(DomainId parent, std::string name, Kind kind) {
  const DomainId id(size());
  parents_.push_back(parent);
  levels_.push_back(parent.is_none() ? 0 : level(parent) + 1);
  ends_.push_back(DomainId::none());
  first_nodes_.push_back(static_cast<std::uint32_t>(nodes_.size()));
  end_nodes_.push_back(0);
  names_.push_back(std::move(name));
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

DomainId DomainTree::lowest_common(DomainId a, DomainId b) const {
  // In preorder the later of two ids cannot contain the earlier, unless equal.
  if (b < a) std::swap(a, b);
  while (!contains(a, b)) a = parent(a);
  return a;
}

Result<DomainId> DomainTree::find(std::span<const std::string> path) const {
  DomainId at = root();
  for (const auto& name : path) {
    const DomainId next = child(at, name);
    if (next.is_none()) {
      const auto where = at == root() ? "the grid" : "domain \"" + this->path(at) + "\"";
      return not_found("there is no domain \"" + name + "\" in " + where);
    }
    at = next;
  }
  return at;
}

DomainId DomainTree::child(DomainId domain, std::string_view name) const {
  for (DomainId at(domain.value + 1); at < subtree_end(domain); at = subtree_end(at)) {
    if (!is_node(at) && names_[at.value] == name) return at;
  }
  return DomainId::none();
}

}  // namespace gridfold
