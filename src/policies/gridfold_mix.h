// The mix of tasks that the policy `gridfold` expects: counts of the arrivals
// so far, older ones weighing less and less.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/cluster.h"
#include "policies/request_mix.h"

namespace gridfold {

class LearnedMix {
 public:
  // An arrival loses a factor e of its weight in `window` further arrivals.
  explicit LearnedMix(std::int64_t window) : window_(window) {}

  void add(const Request& request);

  // The weight of an arrival that would come now: a kind's weight divided by
  // it is how many of its arrivals are still remembered.
  std::int64_t unit() const { return unit_; }
  // Weights by kind, all positive, and their sum.
  const std::map<RequestKind, std::int64_t>& kinds() const { return kinds_; }
  std::int64_t weight() const { return weight_; }
  // Sum of weight * thousandths of devices of this class that a task asks for.
  std::int64_t demand(std::uint16_t device_class) const {
    return device_class < demand_.size() ? demand_[device_class] : 0;
  }

 private:
  void shrink();
  void count(const RequestKind& kind, std::int64_t weight);

  std::int64_t window_;
  std::int64_t unit_ = kSmallestUnit;
  std::int64_t weight_ = 0;
  std::map<RequestKind, std::int64_t> kinds_;
  std::vector<std::map<RequestKind, std::int64_t>::value_type*> by_id_;  // into kinds_
  std::vector<std::int64_t> demand_;                                     // by device class

  // weight * thousandths of 64 devices stays below 2^62 for windows to 65,536.
  static constexpr std::int64_t kSmallestUnit = std::int64_t{1} << 14;
  static constexpr std::int64_t kLargestUnit = std::int64_t{1} << 28;
};

// Thousandths of devices of this class that one task of the kind takes.
std::int64_t asked_share(const RequestKind& kind, std::uint16_t device_class);

}  // namespace gridfold
