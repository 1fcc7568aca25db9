// Takes places for alike tasks on some nodes, best node first by the policy's
// score, on an overlay over the books: nothing is booked.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/domain_slots.h"
#include "engine/engine.h"
#include "model/why_here.h"

namespace gridfold {

// One task's place, and the node that was weighed against it, where one was.
struct GangSeat {
  NodeId node;
  std::uint64_t devices = 0;
  std::int64_t score = 0;
  std::int32_t start = kNoPartition;
  DecidedBy by = DecidedBy::kWholeDomain;
  NodeId runner_up = NodeId::none();
  std::int64_t runner_up_score = 0;
  Allocation allocation() const { return {node, devices, start}; }
};

class NodeSeating {
 public:
  // Whether what is taken counts for what is taken later. Without it no node
  // may be named twice.
  enum class Memory : std::uint8_t { kNone, kRemembers };
  enum class Take : std::uint8_t { kBest, kAll };

  NodeSeating(const Cluster& cluster, DomainSlots& slots, TieBreak tie_break)
      : cluster_(cluster), slots_(slots), tie_break_(tie_break) {}

  // Forgets what was taken.
  void begin(Memory memory, std::uint64_t salt);

  // Appends up to `tasks` seats on the nodes and gives how many. kAll: at most
  // all that fit are asked for, so no node is weighed against another.
  std::int64_t seat(const Request& request, std::span<const NodeId> nodes, std::int64_t tasks,
                    Take take, std::vector<GangSeat>& seats);
  // Gives seats back that were taken for the request.
  void unseat(const Request& request, std::span<const GangSeat> seats);

  // So many more tasks fit on the node, with what was taken.
  std::int64_t slots_on(const Request& request, NodeId node);
  std::span<const NodeId> touched() const { return touched_; }

  // Nodes that held fewer tasks than was counted, and how many they held.
  std::span<const std::pair<NodeId, std::int64_t>> shortages() const { return shortages_; }

 private:
  struct Bid {
    std::int64_t score = 0;
    std::uint64_t rank = 0;
    NodeId node;
    std::uint64_t devices = 0;
    friend bool operator<(const Bid& a, const Bid& b) {
      return a.score != b.score ? a.score < b.score : a.rank > b.rank;
    }
  };
  struct Overlay {
    Cluster::Scratch room;
    std::int64_t seated = 0;  // of the request that is being seated
  };

  bool next_bid(const DomainSlots::Row& row, const Request& request, NodeId node, Bid& bid);
  void take_seat(const DomainSlots::Row& row, const Request& request, const Bid& bid,
                 std::vector<GangSeat>& seats);
  void weigh(GangSeat& seat) const;
  Overlay* overlay_of(NodeId node);
  Overlay& make_overlay(NodeId node);

  const Cluster& cluster_;
  DomainSlots& slots_;
  TieBreak tie_break_;
  Memory memory_ = Memory::kNone;
  std::uint64_t salt_ = 0;
  std::vector<Bid> bids_;
  std::vector<Overlay> overlays_;          // the first touched_.size() are in use
  std::vector<std::uint32_t> overlay_at_;  // by node: index + 1, 0: none
  std::vector<NodeId> touched_;
  std::vector<std::pair<NodeId, std::int64_t>> shortages_;
};

}  // namespace gridfold
