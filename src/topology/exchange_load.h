// How a job's ranks load the links when all groups of an axis exchange at once:
// counted in flows, so that one count serves every message size.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/job_traffic.h"
#include "topology/link_traffic.h"

namespace gridfold {

// Three ways of passing data round that load links differently.
enum class Flow : std::uint8_t {
  kRing,   // each to the next near one and round: all-reduce and its like
  kChain,  // each to the next in order of rank
  kAll,    // each to each
};

struct ExchangeLoad {
  // Of the most loaded link of each kind: how much longer the flow of one rank
  // takes than alone on the curve's own link, in 2^-16; 0: none uses the kind.
  std::array<std::int64_t, kLinkKinds> pressure{};
  // The same summed over all links of the kind.
  std::array<std::int64_t, kLinkKinds> work{};
  std::int64_t size = 1;        // ranks of a group
  Duration start;               // the slowest start among the kinds used
  Duration round;               // hops once around the ring, of the longest group
  Duration inner_hop;           // the longest inside a unit
  Duration outer_hop;           // the longest between units
  std::int64_t most_inner = 1;  // ranks of a group in one unit, at most
  std::int64_t most_outer = 1;  // units of a group, at most
  std::int64_t channels = 1;    // into which a rank's flow between units is cut, at least
  bool alike = true;            // every unit of every group has most_inner ranks
};

// A rank with what is looked up again and again.
struct RankSeat {
  std::uint64_t key = 0;  // near ones follow one another
  std::uint32_t rank = 0;
  std::uint32_t local_node = 0;  // counted over the nodes of the job
  std::int32_t device = 0;
  NodeId node;
  DomainId unit;
};

// Bytes over one domain's way up, or one card of a node when not -1, in flows
// of one rank, 2^-16.
struct LinkFlow {
  DomainId domain;
  std::int32_t card = -1;
  std::int64_t flows = 0;
};

// Keeps its scratch room between calls, so that counting allocates nothing
// once it has seen a job as large. One owner; not thread-safe.
class LoadCounter {
 public:
  static constexpr int kFlowBits = 16;

  explicit LoadCounter(const LinkTraffic& traffic);

  // Seats of all ranks, in order of key.
  ExchangeLoad count(std::span<const RankSeat> seats, const AxisGroups& groups, Flow flow);
  // Of the last count, in the busier direction.
  std::span<const LinkFlow> links() const { return links_; }

 private:
  struct Unit {
    std::uint32_t first = 0;  // into the group's members
    std::uint32_t last = 0;
    DomainId domain;
  };
  enum class Direction : std::uint8_t { kOut, kIn };

  void sort_into_groups(std::span<const RankSeat> seats, const AxisGroups& groups, Flow flow);
  void enter(std::span<const RankSeat> group);
  void note_units();
  void find_network();
  void ring();
  void chain();
  void all();
  void all_inside(const Unit& unit);
  std::int64_t eligible_in(const Unit& unit) const;
  void spread(const Unit& unit, std::int64_t channels);
  void inside(const RankSeat& a, const RankSeat& b, std::int64_t flows);
  void between(const RankSeat& a, const RankSeat& b);
  void by_card(const RankSeat& seat, std::int64_t flows, Direction direction);
  DomainId climb(DomainId from, DomainId to, std::int64_t flows);
  void add(DomainId domain, std::int64_t flows, Direction direction);
  void cross_rails(DomainId domain, std::int64_t flows);
  void press(LinkKind kind, std::int64_t flows, std::int64_t stretch);
  void press(LinkKind kind, std::int64_t flows, const SharedLink& link);
  void finish(std::span<const RankSeat> seats);
  bool eligible(const RankSeat& seat) const;
  std::uint64_t rail(const RankSeat& seat) const;
  const Fabric::Layout& layout(const RankSeat& seat) const { return fabric_.layout(seat.node); }
  const DeviceSeat& place(const RankSeat& seat) const {
    return layout(seat).devices[static_cast<std::size_t>(seat.device)];
  }
  const NetworkCard& card(const RankSeat& seat) const;

  const LinkTraffic& traffic_;
  const Fabric& fabric_;
  // Counters of one node: cards, then the host's network, switches, sockets.
  std::size_t host_at_ = 0;
  std::size_t switch_at_ = 0;
  std::size_t socket_at_ = 0;
  std::size_t width_ = 0;
  std::vector<std::int64_t> out_;  // local nodes x width
  std::vector<std::int64_t> in_;
  std::vector<std::int64_t> domain_out_;  // by DomainId
  std::vector<std::int64_t> domain_in_;
  std::vector<DomainId> touched_;
  std::vector<LinkFlow> links_;
  std::vector<LinkFlow> crossings_;
  std::vector<RankSeat> members_;  // of all groups, group by group
  std::vector<std::uint32_t> filled_;
  // Of the group at hand.
  std::span<const RankSeat> group_;
  std::vector<Unit> units_;
  std::uint64_t rails_ = 0;  // that every unit has; 0: does not matter
  DomainId crossed_;         // rail-optimised domain without a common rail; none()
  LinkKind network_ = LinkKind::kEthernet;
  bool by_host_ = false;  // cards of several kinds: over the hosts' network
  Duration hops_;
  ExchangeLoad load_;
};

}  // namespace gridfold
