// A stretch of time in which some nodes are not for everybody's work.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/node.h"

namespace gridfold {

// Nodes that have a listed name or lie in a listed domain; where labels are
// given, of these (or of all, when neither is listed) those that carry them all.
struct NodeSelector {
  std::vector<std::string> nodes;
  std::vector<DomainStep> domains;  // by level and name
  std::map<std::string, std::string> labels;
  friend bool operator==(const NodeSelector&, const NodeSelector&) = default;

  bool empty() const { return nodes.empty() && domains.empty() && labels.empty(); }
  bool matches(const NodeSpec& node) const;
};

// Maintenance: nothing runs there from `from` until just before `until`.
struct NodeWindow {
  std::string name;
  Instant from{};
  Instant until{};
  NodeSelector where;
  friend bool operator==(const NodeWindow&, const NodeWindow&) = default;
};

}  // namespace gridfold
