// Nodes that are there only while they are needed: a backend boots them when it
// is asked to, and gets them back when they have had no work for a while.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "model/node.h"

namespace gridfold {

struct NodePool {
  std::string name;
  std::int32_t least = 0;  // so many are on even without work
  std::int32_t most = 0;   // there are no more than so many
  // All are alike, but for their names: NAME-1, NAME-2, …
  NodeSpec each;
  Duration boot_time;     // that a boot is expected to take
  Duration boot_timeout;  // after which it has failed
  Duration idle_timeout;  // without work, until a node is given back
  friend bool operator==(const NodePool&, const NodePool&) = default;

  NodeSpec node(std::int32_t number) const {  // from 1
    NodeSpec spec = each;
    spec.name = name + "-" + std::to_string(number);
    return spec;
  }
};

}  // namespace gridfold
