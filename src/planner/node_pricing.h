// The most valuable set of tasks that one node can hold, found by dynamic
// programming: the pricing problem of the bounds in packing_bound.h.
//
// Everything is counted in cells: a cell of CPU, a cell of a device's share. A
// task asks for CPU and either for nothing else, for a slice of one device, or
// for whole devices. One run gives the answer for every node of at most
// `devices` devices and `cpu` cells.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace gridfold {

struct PricedTask {
  int id = 0;       // the caller's
  int cpu = 0;      // cells; a task that asks for no device needs at least 1
  int devices = 0;  // 0, 1 with any share, more with the share of a whole one
  int share = 0;    // cells of each device; 0 when devices == 0
  double value = 0;
};

// How many tasks of which id a node holds.
using NodePattern = std::vector<std::pair<int, int>>;

class NodePricing {
 public:
  // share_cells: of a whole device.
  NodePricing(int devices, int cpu, int share_cells);

  int devices() const { return devices_; }
  int cpu() const { return static_cast<int>(width_) - 1; }

  // Takes the tasks whose value is positive; any number of each may be placed.
  void price(std::span<const PricedTask> tasks);

  // Of the last price(): the greatest total value on a node of this size, and a
  // set of tasks that reaches it, by id.
  double best(int devices, int cpu) const { return node(devices)[cpu]; }
  NodePattern pattern(int devices, int cpu) const;

 private:
  using Counts = std::map<int, int>;  // by id

  void fill_processors();
  void fill_one_device();
  void fill_devices(int devices);
  void trace_processors(int cpu, Counts& counts) const;
  void trace_one_device(int cpu, Counts& counts) const;
  void trace_last(int& devices, int& cpu, Counts& counts) const;

  double* node(int devices) { return &node_[static_cast<std::size_t>(devices) * width_]; }
  const double* node(int devices) const {
    return &node_[static_cast<std::size_t>(devices) * width_];
  }
  double* slices(int share) { return &slices_[static_cast<std::size_t>(share) * width_]; }
  const double* slices(int share) const {
    return &slices_[static_cast<std::size_t>(share) * width_];
  }

  int devices_;
  int share_cells_;
  std::size_t width_;            // CPU cells + 1
  std::vector<PricedTask> cpu_;  // the tasks of positive value by kind
  std::vector<PricedTask> slice_;
  std::vector<PricedTask> whole_;
  // slices_[share][cpu]: of one device, with at most this much of both.
  std::vector<double> slices_;
  // CPU amounts at which a whole device's worth of slices grows.
  std::vector<int> steps_;
  // node_[devices][cpu]
  std::vector<double> node_;
};

}  // namespace gridfold
