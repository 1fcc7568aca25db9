#include "model/node_window.h"

#include <algorithm>

namespace gridfold {

bool NodeSelector::matches(const NodeSpec& node) const {
  if (empty()) return false;
  const bool is_named = std::find(nodes.begin(), nodes.end(), node.name) != nodes.end();
  const bool lies_there =
      std::any_of(domains.begin(), domains.end(), [&](const DomainStep& domain) {
        return std::find(node.domains.begin(), node.domains.end(), domain) != node.domains.end();
      });
  if (!is_named && !lies_there && !(nodes.empty() && domains.empty())) return false;
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    const auto its = node.labels.find(label.first);
    return its != node.labels.end() && its->second == label.second;
  });
}

}  // namespace gridfold
