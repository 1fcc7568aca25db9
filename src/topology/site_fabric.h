// What a site tells of its links (model/links.h) in the form in which the
// communication model reads it.
//
//   const SiteFabric site = site_fabric(tree, nodes, levels);
//   if (site.any_known()) fabric = Fabric::build(tree, site.spec);
//
// Nodes of which too little is told stand in the fabric all the same, but no
// time must be told of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/links.h"
#include "model/node.h"
#include "topology/fabric.h"

namespace gridfold {

// Every device with its place and every bandwidth that a path may have. kNotFound
// when the node does not tell its links at all, kInvalid with the field when it
// tells too little or what cannot be. Where the switch of a device is unknown it
// is one of its own, where the NUMA node is unknown it is the first.
Result<NodeWiring> wiring_of(const NodeSpec& node);

// Names a level twice, no level, both or neither kind of width, …: kInvalid with
// the field.
Result<void> check_levels(std::span<const LevelLinks> levels);

struct SiteFabric {
  FabricSpec spec;
  std::vector<bool> known;  // by NodeId
  std::size_t known_nodes = 0;

  bool any_known() const { return known_nodes > 0; }
};

// nodes[i] is NodeId(i) of the tree; the levels were checked. What is built of
// it is a Fabric, never an error.
SiteFabric site_fabric(const DomainTree& tree, std::span<const NodeSpec* const> nodes,
                       std::span<const LevelLinks> levels);

}  // namespace gridfold
