// The resources that one task asks for, one by one, to say which of them binds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cluster.h"
#include "model/reason.h"

namespace gridfold {

// How much of one resource a node has for a request, in the resource's unit.
struct Axis {
  std::string name;
  std::int64_t need = 0;
  // The most that one task could get.
  std::int64_t (*amount)(const NodeRoom&, const Request&, std::size_t) = nullptr;
  std::size_t device = 0;  // index of the device group, where it is one
  // All that is free of it, where that is more; null: the amount.
  std::int64_t (*all)(const NodeRoom&, const Request&, std::size_t) = nullptr;
  std::vector<Reason::Param> more = {};  // what the reason says beside the numbers

  std::int64_t amount_on(const NodeRoom& room, const Request& request) const {
    return amount(room, request, device);
  }
  std::int64_t all_on(const NodeRoom& room, const Request& request) const {
    return all == nullptr ? amount_on(room, request) : all(room, request, device);
  }
};

// Devices first, in the order of the request, then CPU and memory.
std::vector<Axis> axes_of(const Cluster& cluster, const Request& request);

}  // namespace gridfold
