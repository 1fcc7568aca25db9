// From the topology of one machine, as its files tell it, to the links of a node.
//
//   tell_links(*read_machine_topology("dgx.xml", bytes), facts, node);
//   wiring_of(node)
#pragma once

#include "model/node.h"
#include "topology/machine_topology.h"

namespace gridfold {

// What such files do not say, or not always.
struct LinkFacts {
  LinkKind network = LinkKind::kRoce;  // what the cards speak
  BitsPerSecond card;                  // of one card, each way
  Known<BitsPerSecond> nvlink;         // unknown: the sum of a GPU's links, where the file has it
  Known<BitsPerSecond> pcie;
  Known<BitsPerSecond> numa;
  Known<BitsPerSecond> socket;
  Known<BitsPerSecond> host_network;
  friend bool operator==(const LinkFacts&, const LinkFacts&) = default;
};

// Sets the node's links, and of its GPUs (device class "gpu", GPU i of the file
// is the i-th of them) the places that are not known yet and the nearest card,
// of several equally near ones the least used. Rails count the cards. kInvalid
// when the file has another number of GPUs or no card, when it does not say
// which card is near, and for what wiring_of() refuses.
Result<void> tell_links(const MachineTopology& machine, const LinkFacts& facts, NodeSpec& node);

}  // namespace gridfold
