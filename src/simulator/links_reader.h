// How fast the nodes and domains of a cluster file are joined.
//
//   links: {cards: [{kind: roce, bandwidth: 200Gbps, count: 8}], nvlink: 1600Gbps, pcie: 160Gbps}
//   fabric: {rack: {bandwidth: 800Gbps, latency: 600ns}, spine: {oversubscription: 4}}
#pragma once

#include <vector>

#include "model/links.h"
#include "model/node.h"
#include "wire/field.h"

namespace gridfold {

// Sets the links of a node whose devices were read. Too little of them, or what
// cannot be, is refused.
void read_node_links(const Field& field, NodeSpec& node);

// By level, checked.
std::vector<LevelLinks> read_levels(const Field& field);

}  // namespace gridfold
