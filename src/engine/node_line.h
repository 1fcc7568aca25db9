// All nodes in a line, in the order in which ties are broken, and what is read
// of each to tell whether a request may fit there and whether the policy was
// asked about such a node before. It lies side by side, so who looks at all
// nodes reads the books of only those that matter to him.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cluster.h"
#include "engine/placement.h"
#include "engine/placement_options.h"

namespace gridfold {

class NodeLine {
 public:
  // What the policy says depends on: nodes of one face get the same choice.
  struct Face {
    std::uint64_t serial = 0;  // of the node's state; 0: of no node
    std::uint64_t key = 0;     // the policy's node_key()
    friend bool operator==(const Face&, const Face&) = default;
  };

  NodeLine(const Cluster& cluster, const PlacementPolicy& policy, const PlacementOptions& options)
      : cluster_(cluster), policy_(policy), options_(options) {}

  // Takes in what has changed in the cluster.
  void follow();
  // The policy has learned something: its keys are read anew.
  void forget_keys() { keys_are_known_ = false; }

  struct Entry {
    Face face;
    RoomBound bound;  // of a node that may not be used: nothing
    NodeId node = NodeId::none();
  };
  std::size_t size() const { return entries_.size(); }
  const Entry& at(std::size_t place) const { return entries_[place]; }
  std::size_t place(NodeId node) const { return places_[node.value]; }
  // Of the cluster, when the nodes were last put in order.
  std::uint64_t membership() const { return membership_; }
  std::size_t bytes() const;

 private:
  void order();
  void read_all();
  std::uint64_t rank(NodeId node) const;

  const Cluster& cluster_;
  const PlacementPolicy& policy_;
  const PlacementOptions& options_;
  std::uint64_t membership_ = 0;
  std::uint64_t change_ = 0;  // the cluster's last change that is in it
  bool keys_are_known_ = false;
  std::vector<Entry> entries_;         // by place
  std::vector<std::uint32_t> places_;  // by node
};

}  // namespace gridfold
