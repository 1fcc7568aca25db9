#include "policies/round_seating.h"

#include <algorithm>
#include <numeric>

#include "policies/round_room.h"

namespace gridfold {
namespace {

struct Seat {
  NodeId node = NodeId::none();
  std::int32_t free = 0;    // devices
  bool is_crossed = false;  // by a job that goes over several nodes
};

class Seating {
 public:
  explicit Seating(std::span<const RoundNode> nodes) {
    seats_.reserve(nodes.size());
    for (const auto& node : nodes) seats_.push_back({node.id, node.devices, false});
  }

  void keep(const RoundJob& job) {
    for (const auto& place : job.places) {
      const auto seat = std::lower_bound(seats_.begin(), seats_.end(), place.node,
                                         [](const Seat& s, NodeId id) { return s.node < id; });
      seat->free -= place.tasks * job.devices_each();
      seat->is_crossed = seat->is_crossed || job.places.size() > 1;
    }
  }

  std::vector<RoundPlace> place(std::int32_t tasks, std::int32_t each) {
    if (Seat* one = tightest(tasks, each, true)) {
      one->free -= tasks * each;
      return {{one->node, tasks}};
    }
    std::vector<RoundPlace> over_several = spread(tasks, each);
    const Seat* widest = widest_seat(each);
    if (widest != nullptr && widest->free / each >= task_count(over_several)) {
      return place(widest->free / each, each);
    }
    for (const auto& place : over_several) {
      Seat& seat = *std::find_if(seats_.begin(), seats_.end(),
                                 [&](const Seat& s) { return s.node == place.node; });
      seat.free -= place.tasks * each;
      seat.is_crossed = over_several.size() > 1;
    }
    return over_several;
  }

 private:
  // The node with the least free devices on which so many tasks fit.
  Seat* tightest(std::int32_t tasks, std::int32_t each, bool crossed_too) {
    Seat* best = nullptr;
    for (auto& seat : seats_) {
      if (seat.free < tasks * each || (seat.is_crossed && !crossed_too)) continue;
      if (best == nullptr || seat.free < best->free) best = &seat;
    }
    return best;
  }
  const Seat* widest_seat(std::int32_t each) const {
    const Seat* best = nullptr;
    for (const auto& seat : seats_) {
      if (seat.free >= each && (best == nullptr || seat.free > best->free)) best = &seat;
    }
    return best;
  }
  // On the emptiest nodes, the last of them as tight as can be; perhaps fewer.
  std::vector<RoundPlace> spread(std::int32_t tasks, std::int32_t each) {
    std::vector<const Seat*> order;
    for (const auto& seat : seats_) {
      if (!seat.is_crossed && seat.free >= each) order.push_back(&seat);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Seat* a, const Seat* b) { return a->free > b->free; });
    std::vector<RoundPlace> places;
    for (std::size_t i = 0; i < order.size() && tasks > 0; ++i) {
      std::size_t chosen = i;
      while (chosen + 1 < order.size() && order[chosen + 1]->free >= tasks * each) ++chosen;
      const std::int32_t taken = std::min(tasks, order[chosen]->free / each);
      places.push_back({order[chosen]->node, taken});
      tasks -= taken;
    }
    std::sort(places.begin(), places.end(),
              [](const RoundPlace& a, const RoundPlace& b) { return a.node < b.node; });
    return places;
  }

  std::vector<Seat> seats_;
};

}  // namespace

std::vector<std::vector<RoundPlace>> seat(std::span<const RoundNode> nodes,
                                          std::span<const SeatWish> wishes) {
  Seating seating(nodes);
  std::vector<std::vector<RoundPlace>> places(wishes.size());
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    if (wishes[i].keeps) {
      seating.keep(*wishes[i].job);
      places[i] = wishes[i].job->places;
    } else if (wishes[i].tasks > 0) {
      moving.push_back(i);
    }
  }
  std::stable_sort(moving.begin(), moving.end(), [&](std::size_t a, std::size_t b) {
    return wishes[a].tasks * wishes[a].job->devices_each() >
           wishes[b].tasks * wishes[b].job->devices_each();
  });
  for (const std::size_t i : moving) {
    places[i] = seating.place(wishes[i].tasks, wishes[i].job->devices_each());
  }
  return places;
}

std::vector<std::vector<RoundPlace>> seat_best(std::span<const RoundNode> nodes,
                                               std::vector<SeatWish> wishes, const SeatCost& cost,
                                               std::int64_t& steps) {
  std::vector<std::size_t> keepers;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    if (wishes[i].keeps) keepers.push_back(i);
  }
  std::stable_sort(keepers.begin(), keepers.end(),
                   [&](std::size_t a, std::size_t b) { return wishes[a].tasks < wishes[b].tasks; });
  const auto total = [&](const std::vector<std::vector<RoundPlace>>& places) {
    double sum = 0;
    for (std::size_t i = 0; i < places.size(); ++i) sum += cost(i, places[i]);
    steps += static_cast<std::int64_t>(places.size());
    return sum;
  };
  std::vector<std::vector<RoundPlace>> best = seat(nodes, wishes);
  double least = total(best);
  std::size_t made_way = 0;
  for (std::size_t target = 1; made_way < keepers.size(); target += target / 2 + 1) {
    while (made_way < std::min(target, keepers.size())) wishes[keepers[made_way++]].keeps = false;
    auto places = seat(nodes, wishes);
    const double sum = total(places);
    if (sum < least) {
      least = sum;
      best = std::move(places);
    }
  }
  return best;
}

}  // namespace gridfold
