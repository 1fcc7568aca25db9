#include "topology/device_pick.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace gridfold {
namespace {

// Devices joined to device d: its island, or else its socket's devices without one.
std::uint64_t joined(const NodeLayout& layout, std::size_t d) {
  const DeviceSeat& seat = layout.devices[d];
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < layout.devices.size(); ++i) {
    const DeviceSeat& other = layout.devices[i];
    const bool together = seat.island >= 0 ? other.island == seat.island
                                           : other.island < 0 && other.socket == seat.socket;
    if (together) mask |= std::uint64_t{1} << i;
  }
  return mask;
}

std::uint64_t socket_of(const NodeLayout& layout, std::size_t d) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < layout.devices.size(); ++i) {
    if (layout.devices[i].socket == layout.devices[d].socket) mask |= std::uint64_t{1} << i;
  }
  return mask;
}

// The smallest group of free devices that holds a task, else the largest.
std::uint64_t best_group(const NodeLayout& layout, std::uint64_t free, std::int32_t each) {
  std::uint64_t best = 0;
  const auto better = [&](std::uint64_t group) {
    const int size = std::popcount(group);
    const int most = std::popcount(best);
    if (best == 0) return true;
    return most >= each ? size >= each && size < most : size > most;
  };
  for (std::uint64_t left = free; left != 0; left &= left - 1) {
    const auto d = static_cast<std::size_t>(std::countr_zero(left));
    for (const std::uint64_t group : {joined(layout, d) & free, socket_of(layout, d) & free}) {
      if (better(group)) best = group;
    }
  }
  return best;
}

// The device of the group whose card has the fewest devices taken, then with
// the most of the task on its PCIe switch, then the first.
std::size_t next_device(const NodeLayout& layout, std::uint64_t group, std::uint64_t taken,
                        std::uint64_t task) {
  const auto shared = [&](std::uint64_t with, std::size_t d, auto&& same) {
    int count = 0;
    for (; with != 0; with &= with - 1) {
      const auto other = static_cast<std::size_t>(std::countr_zero(with));
      count += same(layout.devices[d], layout.devices[other]) ? 1 : 0;
    }
    return count;
  };
  const auto key = [&](std::size_t d) {
    const int by_card =
        shared(taken, d, [](const DeviceSeat& a, const DeviceSeat& b) { return a.card == b.card; });
    const int by_switch = shared(task, d, [](const DeviceSeat& a, const DeviceSeat& b) {
      return a.pcie_switch == b.pcie_switch;
    });
    return std::tuple(by_card, -by_switch, d);
  };
  auto best = static_cast<std::size_t>(std::countr_zero(group));
  for (std::uint64_t left = group; left != 0; left &= left - 1) {
    const auto d = static_cast<std::size_t>(std::countr_zero(left));
    if (key(d) < key(best)) best = d;
  }
  return best;
}

std::uint64_t pick_linked(const NodeLayout& layout, std::uint64_t free, std::int32_t tasks,
                          std::int32_t each) {
  std::uint64_t taken = 0;
  if (std::popcount(free) == tasks * each) return free;
  for (std::int32_t i = 0; i < tasks; ++i) {
    std::uint64_t task = 0;
    std::uint64_t group = 0;
    for (std::int32_t missing = each; missing > 0; --missing) {
      if ((group & ~taken) == 0) group = best_group(layout, free & ~taken, missing);
      const std::size_t d = next_device(layout, group & ~taken, taken, task);
      task |= std::uint64_t{1} << d;
      taken |= std::uint64_t{1} << d;
    }
  }
  return taken;
}

// Cuts devices picked for several tasks into tasks of `each`, as the devices
// follow one another in the node: near ones into one task, or into one each.
std::vector<std::uint64_t> cut_into_tasks(const Fabric::Layout& layout, std::uint64_t devices,
                                          std::int32_t each, DevicePick pick) {
  std::vector<std::size_t> order;
  for (std::uint64_t left = devices; left != 0; left &= left - 1) {
    order.push_back(static_cast<std::size_t>(std::countr_zero(left)));
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return layout.ring_position[a] < layout.ring_position[b];
  });
  std::vector<std::uint64_t> tasks(order.size() / static_cast<std::size_t>(each));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t task =
        pick == DevicePick::kLinked ? i / static_cast<std::size_t>(each) : i % tasks.size();
    tasks[task] |= std::uint64_t{1} << order[i];
  }
  return tasks;
}

}  // namespace

std::vector<std::uint64_t> pick_devices(const Fabric::Layout& layout, std::uint64_t free,
                                        std::int32_t tasks, std::int32_t each, DevicePick pick) {
  if (pick != DevicePick::kAcrossCards) {
    return cut_into_tasks(layout, pick_linked(layout, free, tasks, each), each, pick);
  }
  std::vector<std::uint64_t> out(static_cast<std::size_t>(tasks));
  for (std::uint64_t& task : out) {
    for (std::int32_t missing = each; missing > 0; --missing) {
      const std::size_t d = next_device(layout, free, task, task);
      task |= std::uint64_t{1} << d;
      free &= ~(std::uint64_t{1} << d);
    }
  }
  return out;
}

}  // namespace gridfold
