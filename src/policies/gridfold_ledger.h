// What is idle on which node, of one device class, kept up to date by the nodes
// that changed; and the nodes with so many idle devices, in order of name.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cluster.h"
#include "policies/gridfold_stranding.h"

namespace gridfold {

// A set of small numbers that is walked from the largest down.
class DescendingSet {
 public:
  void resize(std::size_t size) { words_.assign((size + 63) / 64, 0); }
  void insert(std::uint32_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void erase(std::uint32_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }

  // Calls visit(i) until it returns false; false when it did.
  template <class Visit>
  bool walk(Visit visit) const {
    for (std::size_t w = words_.size(); w-- > 0;) {
      for (std::uint64_t left = words_[w]; left != 0;) {
        const int bit = 63 - __builtin_clzll(left);
        left ^= std::uint64_t{1} << bit;
        if (!visit(static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(bit)))) return false;
      }
    }
    return true;
  }

 private:
  std::vector<std::uint64_t> words_;
};

class IdleLedger {
 public:
  struct Node {
    std::int32_t whole = 0;    // idle devices that a new task could take
    std::int32_t devices = 0;  // in all
    std::int64_t share = 0;    // thousandths free
    std::uint16_t model = 0;   // of the first such device, which stands for all
  };

  // All nodes with one model.
  struct Model {
    std::int64_t idle_share = 0;
    std::int64_t capacity_share = 0;
  };

  explicit IdleLedger(std::uint16_t device_class) : device_class_(device_class) {}

  // Looks at the nodes that changed since the last call.
  void refresh(const Cluster& cluster);

  std::uint16_t device_class() const { return device_class_; }
  const Node& node(NodeId node) const { return nodes_[node.value]; }
  std::int64_t idle_share() const { return idle_share_; }  // of all nodes
  std::int64_t capacity_share() const { return capacity_share_; }
  const std::vector<Model>& models() const { return models_; }
  // The most devices on a node, and the most CPU of a node with so many.
  std::int32_t most_devices() const { return most_devices_; }
  std::int64_t most_cpu() const { return most_cpu_; }
  // How many nodes have the most devices, and how many of them the most CPU.
  std::int64_t nodes_of_most_devices() const { return nodes_of_most_devices_; }
  std::int64_t largest_nodes() const { return largest_nodes_; }
  // Of all nodes that have such devices, each number by itself.
  const Stranding::Extent& extent() const { return extent_; }

  // Nodes with exactly so many idle devices, by rank of name, and their ids.
  const DescendingSet& with_whole(std::int32_t whole) const {
    return by_whole_[static_cast<std::size_t>(whole)];
  }
  NodeId at_rank(std::uint32_t rank) const { return by_rank_[rank]; }

 private:
  void read_all(const Cluster& cluster);
  void measure(const Cluster& cluster);
  bool read(const Cluster& cluster, NodeId node);
  void count(const Node& node, int sign);

  std::uint16_t device_class_;
  std::uint64_t seen_ = 0;                 // the last change of the cluster that is in it
  std::uint64_t membership_ = UINT64_MAX;  // of the cluster when all was read
  std::vector<Node> nodes_;                // by NodeId
  std::vector<NodeId> by_rank_;
  std::vector<DescendingSet> by_whole_;
  std::vector<Model> models_;
  std::int64_t idle_share_ = 0;
  std::int32_t most_devices_ = 0;
  std::int64_t most_cpu_ = 0;
  std::int64_t nodes_of_most_devices_ = 0;
  std::int64_t largest_nodes_ = 0;
  std::int64_t capacity_share_ = 0;
  Stranding::Extent extent_;
};

}  // namespace gridfold
