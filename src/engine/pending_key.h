// The order of pending jobs.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include "base/ids.h"
#include "base/time.h"

namespace gridfold {

// Queue priority, then work with rights to its place before fillers, then job
// priority, then submission.
struct PendingKey {
  std::int32_t queue_priority = 0;
  bool filler = false;
  std::int32_t priority = 0;
  JobId job;
  friend bool operator<(const PendingKey& a, const PendingKey& b) {
    if (a.queue_priority != b.queue_priority) return a.queue_priority > b.queue_priority;
    if (a.filler != b.filler) return !a.filler;
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.job < b.job;
  }
  friend bool operator==(const PendingKey&, const PendingKey&) = default;
};

// Whether a is of a lower priority than b, whenever they were submitted.
inline bool is_lower(const PendingKey& a, const PendingKey& b) {
  return std::tuple(a.queue_priority, !a.filler, a.priority) <
         std::tuple(b.queue_priority, !b.filler, b.priority);
}

// As above, but by length where that is decided by submission alone.
struct ShorterFirst {
  using Key = std::pair<PendingKey, Duration>;
  bool operator()(const Key& a, const Key& b) const {
    PendingKey left = a.first;
    PendingKey right = b.first;
    left.job = right.job = JobId();
    if (!(left == right)) return left < right;
    if (a.second != b.second) return a.second < b.second;
    return a.first.job < b.first.job;
  }
};

}  // namespace gridfold
