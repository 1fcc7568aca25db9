#include "engine/node_seating.h"

#include <algorithm>

#include "engine/device_fit.h"
#include "engine/tie_rank.h"

namespace gridfold {

void NodeSeating::begin(Memory memory, std::uint64_t salt) {
  memory_ = memory;
  salt_ = salt;
  for (const NodeId node : touched_) {
    if (node.value < overlay_at_.size()) overlay_at_[node.value] = 0;
  }
  touched_.clear();
  shortages_.clear();
  overlay_at_.resize(cluster_.size(), 0);
}

NodeSeating::Overlay* NodeSeating::overlay_of(NodeId node) {
  const std::uint32_t at = overlay_at_[node.value];
  return at == 0 ? nullptr : &overlays_[at - 1];
}

NodeSeating::Overlay& NodeSeating::make_overlay(NodeId node) {
  if (Overlay* known = overlay_of(node)) return *known;
  touched_.push_back(node);
  if (overlays_.size() < touched_.size()) overlays_.emplace_back();
  overlay_at_[node.value] = static_cast<std::uint32_t>(touched_.size());
  Overlay& overlay = overlays_[touched_.size() - 1];
  cluster_.copy_room(node, overlay.room);
  overlay.seated = 0;
  return overlay;
}

std::int64_t NodeSeating::slots_on(const Request& request, NodeId node) {
  if (const Overlay* overlay = overlay_of(node)) return slots(overlay->room.room(), request);
  return slots_.row(request).slots[slots_.tree().domain_of(node).value];
}

// The policy's choice for one more task on the node, if it has room.
bool NodeSeating::next_bid(const DomainSlots::Row& row, const Request& request, NodeId node,
                           Bid& bid) {
  Choice choice;
  if (const Overlay* overlay = overlay_of(node)) {
    const NodeRoom room = overlay->room.room();
    if (!fits(room, request)) {
      const std::int64_t counted = row.slots[slots_.tree().domain_of(node).value];
      if (memory_ == Memory::kNone && overlay->seated < counted)
        shortages_.emplace_back(node, overlay->seated);
      return false;
    }
    choice = slots_.policy().choose(room, request);
  } else {
    if (row.slots[slots_.tree().domain_of(node).value] == 0) return false;
    choice = slots_.choice(request, node);
  }
  bid = {choice.score, tie_rank(cluster_, tie_break_, salt_, node), node, choice.devices};
  return true;
}

void NodeSeating::take_seat(const DomainSlots::Row& row, const Request& request, const Bid& bid,
                            std::vector<GangSeat>& seats) {
  const Overlay* known = overlay_of(bid.node);
  const NodeRoom room = known == nullptr ? cluster_.room(bid.node) : known->room.room();
  const std::int32_t start = choose_start(room, request, bid.devices);
  GangSeat& seat = seats.emplace_back();
  seat.node = bid.node;
  seat.devices = bid.devices;
  seat.score = bid.score;
  seat.start = start;
  const bool full = row.slots[slots_.tree().domain_of(bid.node).value] == 1;
  if (full && memory_ == Memory::kNone) return;
  Overlay& overlay = make_overlay(bid.node);
  Cluster::take_out(overlay.room, request, bid.devices, start);
  ++overlay.seated;
}

std::int64_t NodeSeating::seat(const Request& request, std::span<const NodeId> nodes,
                               std::int64_t tasks, Take take, std::vector<GangSeat>& seats) {
  const DomainSlots::Row& row = slots_.row(request);
  const bool single = memory_ == Memory::kNone;
  const auto is_full = [&](NodeId node) {
    return single && row.slots[slots_.tree().domain_of(node).value] == 1;
  };
  const std::size_t before = seats.size();
  const auto seated = [&] { return static_cast<std::int64_t>(seats.size() - before); };
  Bid bid;
  if (take == Take::kAll) {
    for (const NodeId node : nodes) {
      while (seated() < tasks && next_bid(row, request, node, bid)) {
        take_seat(row, request, bid, seats);
        if (is_full(node)) break;
      }
    }
    return seated();
  }
  bids_.clear();
  for (const NodeId node : nodes) {
    if (next_bid(row, request, node, bid)) bids_.push_back(bid);
  }
  std::make_heap(bids_.begin(), bids_.end());
  while (seated() < tasks && !bids_.empty()) {
    std::pop_heap(bids_.begin(), bids_.end());
    const Bid best = bids_.back();
    bids_.pop_back();
    take_seat(row, request, best, seats);
    weigh(seats.back());
    if (is_full(best.node) || !next_bid(row, request, best.node, bid)) continue;
    bids_.push_back(bid);
    std::push_heap(bids_.begin(), bids_.end());
  }
  return seated();
}

// Against the best of the bids that are left.
void NodeSeating::weigh(GangSeat& seat) const {
  seat.by = DecidedBy::kOnlyOne;
  if (bids_.empty()) return;
  const Bid& next = bids_.front();
  seat.runner_up = next.node;
  seat.runner_up_score = next.score;
  seat.by = seat.score != next.score ? DecidedBy::kScore : tie_rule(tie_break_);
}

void NodeSeating::unseat(const Request& request, std::span<const GangSeat> seats) {
  for (const GangSeat& seat : seats) {
    Overlay& overlay = make_overlay(seat.node);
    Cluster::add_back(overlay.room, request, seat.devices, seat.start);
    --overlay.seated;
  }
}

}  // namespace gridfold
