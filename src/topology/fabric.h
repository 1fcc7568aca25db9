// The fabric: what joins the devices of a grid and how fast, in the form the
// communication model reads. Nodes are described by layouts (many nodes share
// one), everything above them by links of the domain tree:
//
//   {kLeaf, rack, its parent, …, 800G}   what the rack has upwards, each way;
//                                        oversubscribed when its nodes have more
//   {kNvlink, rack, rack, …, 7.2T}       every device beneath is on one NVLink
//                                        switch with so much each: a domain
//                                        larger than a node
//   {kSpine, pod, pod, …, 3.2T}          the pod is rail-optimised: card i of
//                                        every node is on switch i, and this is
//                                        what joins the switches
//
// A link without a bandwidth is no bottleneck that we know of. Immutable once
// built; read it from any thread. The tree is lent and must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/links.h"
#include "topology/domain_tree.h"
#include "topology/link.h"
#include "topology/link_curve.h"

namespace gridfold {

// Where a device sits in its node; numbers count from 0 and are below 64.
struct DeviceSeat {
  std::int32_t island = -1;  // devices of one island are joined by NVLink; -1: by none
  std::int32_t pcie_switch = 0;
  std::int32_t socket = 0;
  std::int32_t card = 0;  // the network card next to it
  friend bool operator==(const DeviceSeat&, const DeviceSeat&) = default;
};

// Bandwidths are each way.
struct NodeWiring {
  std::vector<DeviceSeat> devices;
  std::vector<NetworkCard> cards;  // at least one
  BitsPerSecond nvlink;            // of one device, where it has an island
  BitsPerSecond pcie;              // of one device
  BitsPerSecond numa;              // of one PCIe switch to its socket
  BitsPerSecond socket;            // of one socket to the others
  BitsPerSecond host_network;      // what any two nodes share when their cards differ in kind
  friend bool operator==(const NodeWiring&, const NodeWiring&) = default;
};

struct FabricSpec {
  std::vector<NodeWiring> layouts;
  std::vector<std::uint32_t> layout_of_node;  // by NodeId
  std::vector<Link> links;                    // of domains; see above
  LinkCurves curves = typical_curves();
};

// One device as an end of communication.
struct Place {
  NodeId node;
  std::int32_t device = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class Fabric {
 public:
  // Errors: kInvalid with the field "layouts[i].…", "layout_of_node[i]" or
  // "links[i].…".
  static Result<Fabric> build(const DomainTree& tree, FabricSpec spec);

  // A stretch is how much slower than its kind's curve a link is, in 2^-24.
  static constexpr int kStretchBits = 24;
  struct Uplink {
    LinkKind kind = LinkKind::kLeaf;
    std::int64_t capacity = 0;  // bits per second; 0: no limit known
    Duration hop;
  };
  struct Layout : NodeWiring {
    std::vector<std::uint8_t> ring_position;  // of a device: near ones follow one another
    std::vector<std::int64_t> card_stretch;
    std::int64_t card_bandwidth = 0;  // of all cards together
    std::int64_t nvlink_stretch = 0;
    std::int64_t pcie_stretch = 0;
    std::int64_t numa_stretch = 0;
    std::int64_t socket_stretch = 0;
    std::int64_t host_stretch = 0;
  };

  const DomainTree& tree() const { return *tree_; }
  std::size_t node_count() const { return spec_.layout_of_node.size(); }
  std::span<const Layout> layouts() const { return layouts_; }
  std::uint32_t layout_id(NodeId node) const { return spec_.layout_of_node[node.value]; }
  const Layout& layout(NodeId node) const { return layouts_[layout_id(node)]; }
  const LinkCurve& curve(LinkKind kind) const {
    return spec_.curves[static_cast<std::size_t>(kind)];
  }
  // From a domain to its parent. A node's capacity is that of its cards unless
  // a link says less.
  const Uplink& uplink(DomainId domain) const { return uplinks_[domain.value]; }
  // The NVLink domain of the node, or the node's own leaf.
  DomainId unit(NodeId node) const { return units_[node.value]; }
  // Stretch of one device's NVLink in a unit larger than a node; 0: the unit is a node.
  std::int64_t unit_stretch(DomainId unit) const { return unit_stretches_[unit.value]; }
  // The narrowest rail-optimised domain around the node; none().
  DomainId rail_domain(NodeId node) const { return rail_domains_[node.value]; }
  // What joins the rail switches of a rail-optimised domain; 0: no limit known.
  std::int64_t between_rails(DomainId domain) const { return between_rails_[domain.value]; }

  std::int64_t stretch(LinkKind kind, std::int64_t bits_per_second) const;

 private:
  Result<void> add_layouts();
  Result<void> add_link(const Link& link);
  void settle_nodes();

  const DomainTree* tree_ = nullptr;
  FabricSpec spec_;
  std::vector<Layout> layouts_;
  // By DomainId.
  std::vector<Uplink> uplinks_;
  std::vector<std::int64_t> unit_stretches_;
  std::vector<std::int64_t> between_rails_;
  std::vector<bool> is_rail_domain_;
  // By NodeId.
  std::vector<DomainId> units_;
  std::vector<DomainId> rail_domains_;
};

}  // namespace gridfold
