#include "topology/link.h"

namespace gridfold {
namespace {

Error wrong(std::string field, std::string message, std::string hint) {
  Error error = invalid(std::move(message));
  error.field = std::move(field);
  error.hint = std::move(hint);
  return error;
}

Result<void> check_end(const LinkEnd& end, std::string field, const DomainTree& tree,
                       std::span<const NodeSpec> nodes) {
  if (end.domain.value >= tree.size()) {
    return wrong(field + ".domain", "there is no domain " + std::to_string(end.domain.value),
                 "name a domain of the tree");
  }
  if (end.device == -1) return {};
  if (!tree.is_node(end.domain)) {
    return wrong(field + ".device", "domain \"" + tree.path(end.domain) + "\" is not a node",
                 "a device belongs to a node; name the node");
  }
  const auto& node = nodes[tree.nodes_beneath(end.domain)[0].value];
  if (end.device < 0 || static_cast<std::size_t>(end.device) >= node.devices.size()) {
    return wrong(field + ".device",
                 "node \"" + node.name + "\" has " + std::to_string(node.devices.size()) +
                     " devices, none with index " + std::to_string(end.device),
                 "devices are counted from 0");
  }
  return {};
}

}  // namespace

Result<void> check_link(const Link& link, const DomainTree& tree, std::span<const NodeSpec> nodes) {
  if (auto end = check_end(link.a, "a", tree, nodes); !end) return end;
  if (auto end = check_end(link.b, "b", tree, nodes); !end) return end;
  if (link.latency.is_known() && link.latency.value() < Duration{}) {
    return wrong("latency", "a latency cannot be negative", "leave out what is not known");
  }
  if (link.bandwidth.is_known() && link.bandwidth.value() <= BitsPerSecond{}) {
    return wrong("bandwidth", "a bandwidth must be above zero", "leave out what is not known");
  }
  return {};
}

}  // namespace gridfold
