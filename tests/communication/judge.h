// Judges a placement by a simulation of its flows: a second opinion that
// shares no code with the model in src/topology. Each flow takes its path of
// links, all flows and those of other jobs share each link max-min fairly
// until one has passed, then anew, and an exchange ends with its last flow. Every link is as fast
// and every hop as slow as it truly is, which the placer does not know: within ±10 % of what the
// world says.
//
// It knows rings (one channel a card) and two-level all-reduces, no trees.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "tests/communication/world.h"

namespace gridfold {

enum class Deviation : std::uint8_t {
  kEachKind,  // all links of a kind differ from what is said by the same factor
  kEachLink,  // each by its own
};

class Judge {
 public:
  // The factors are drawn from `seed`.
  Judge(const World& world, std::uint64_t seed, Deviation deviation);

  // Of a step of the world's job with rank r at places[r].
  double step_seconds(std::span<const Place> places);
  std::int64_t judged() const { return judged_; }

 private:
  struct SharedLink {
    double capacity = 0;  // bytes a second
    double left = 0;
    int flows = 0;
  };
  struct PathFlow {
    std::vector<int> links;
    double bytes = 0;
    double most = 0;  // bytes a second, of another job; 0: as fast as it can
    double rate = 0;
    bool settled = false;
  };
  struct NodeLinks {
    std::vector<int> nvlink_out, nvlink_in, pcie_out, pcie_in;  // by device
    std::vector<int> switch_up, switch_down;
    std::vector<int> socket_out, socket_in;
    std::vector<int> card_out, card_in;
    int host_out = 0;
    int host_in = 0;
  };
  struct Rank {
    Place place;
    int card = 0;
    int rail = 0;
    // Tree's order of nodes, then socket, island, switch, device.
    std::tuple<std::uint32_t, int, int, int, int> near;
  };
  struct Unit {
    std::size_t first = 0;
    std::size_t last = 0;
    std::vector<std::size_t> channels;  // members whose cards carry data
  };
  struct Group {
    std::vector<Rank> ranks;
    std::vector<Unit> units;
    bool by_hosts = false;  // cards of several kinds
  };

  int link(LinkKind kind, double bits_per_second);
  void build_node(NodeId node);
  void build_domains();
  std::vector<int> network_path(NodeId a, int card_a, NodeId b, int card_b, bool by_hosts) const;
  std::vector<int> path(const Rank& a, const Rank& b, bool by_hosts) const;
  double hop(const Rank& a, const Rank& b) const;
  bool in_one_unit(NodeId a, NodeId b) const;
  DomainId rail_domain(NodeId node) const;
  const NodeWiring& layout(NodeId node) const {
    return world_.layouts[world_.layout_of_node[node.value]];
  }

  std::vector<Group> groups(std::span<const Place> places, RankAxis axis, bool by_rank) const;
  void find_units(Group& group) const;
  void send(const Group& group, std::size_t from, std::size_t to, double bytes);
  void share();
  double slowest();

  double seconds(const Exchange& exchange, std::span<const Place> places);
  double ring(const std::vector<Group>& groups, double bytes, double turns);
  double two_levels(const std::vector<Group>& groups, double bytes);
  double each_to_each(const std::vector<Group>& groups, double bytes);
  double chain(const std::vector<Group>& groups, double bytes);
  double around(const Group& group) const;

  const World& world_;
  DomainTree tree_;
  RandomStream random_;
  Deviation deviation_;
  std::vector<double> of_kind_;  // factors, by LinkKind
  std::vector<double> hops_;     // seconds, by LinkKind
  double start_ = 0;             // seconds
  std::vector<SharedLink> links_;
  std::vector<NodeLinks> nodes_;
  std::vector<int> domain_up_, domain_down_, between_rails_;  // by DomainId; -1: none
  std::vector<double> unit_bits_;                             // by DomainId; 0: no NVLink domain
  std::vector<DomainId> units_;                               // by NodeId
  std::vector<PathFlow> foreign_;
  std::vector<PathFlow> flows_;
  std::vector<PathFlow*> all_;  // flows under way
  std::vector<int> used_;       // links
  std::int64_t judged_ = 0;
};

}  // namespace gridfold
