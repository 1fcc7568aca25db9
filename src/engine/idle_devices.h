// What work with rights to its place leaves: by class and model, the devices on
// which there is none of it, and of these the ones on which there is nothing.
// Follows the books by their log of changes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/cluster.h"

namespace gridfold {

class IdleDevices {
 public:
  struct Pool {
    std::uint16_t device_class = 0;
    std::uint16_t model = 0;
    std::int64_t left = 0;  // sound devices without work with rights, and not claimed by any
    std::int64_t free = 0;  // of these, without fillers
  };

  // The cluster outlives it.
  explicit IdleDevices(const Cluster& cluster) : cluster_(cluster) {}

  // Up to now.
  void follow(const std::function<bool(JobId)>& is_filler);
  // In order of first sight: a pool keeps its number.
  std::span<const Pool> pools() const { return pools_; }

 private:
  struct Part {
    std::uint16_t pool = 0;
    std::int16_t left = 0;
    std::int16_t free = 0;
  };
  void recount(NodeId node, const std::function<bool(JobId)>& is_filler);
  std::uint16_t pool_of(const DeviceKind& kind);

  const Cluster& cluster_;
  std::vector<Pool> pools_;
  std::vector<std::vector<Part>> parts_;  // by node
  std::uint64_t change_ = 0;
  std::uint64_t membership_ = ~std::uint64_t{0};
};

}  // namespace gridfold
