// A queue as an operator configures it. "a/b" lies beneath "a": what holds for
// a holds for it and everything beneath it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/time.h"
#include "base/units.h"

namespace gridfold {

// Thousandths of a device, by device class.
using DeviceAmounts = std::map<std::string, std::int64_t>;

// What a queue has a right to, however much others would borrow of it.
struct QueueGuarantee {
  MilliCores cpu;
  Bytes memory;
  DeviceAmounts devices;
  friend bool operator==(const QueueGuarantee&, const QueueGuarantee&) = default;

  bool empty() const { return *this == QueueGuarantee{}; }
};

// At most so much may be held or claimed at once; an absent device class is
// unlimited.
struct QueueLimit {
  Limit<MilliCores> cpu;
  Limit<Bytes> memory;
  DeviceAmounts devices;
  Limit<std::int64_t> running_jobs;
  friend bool operator==(const QueueLimit&, const QueueLimit&) = default;

  bool empty() const { return *this == QueueLimit{}; }
};

struct QueueSpec {
  std::string name = "default";
  std::int32_t priority = 0;  // higher first, before job priority
  QueueLimit limit;
  QueueLimit each_tenant;  // of this queue's own jobs
  QueueGuarantee guaranteed;
  // Its part beside its siblings; 0: not given, which counts as 1. Once a queue
  // has a weight or a guarantee, queues take turns by their share.
  std::int32_t weight = 0;
  Limit<Duration> longest_run;  // of each of its jobs
  bool open = true;             // takes new jobs
  // Its jobs may stop work of this queue or beneath it that comes strictly later
  // in the queue's order (see engine/eviction_rights.h).
  bool preempts = false;
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

// A guarantee that cannot be kept: it exceeds a limit at the queue or above it,
// or those beneath a queue sum to more than that queue's limit or guarantee.
struct BrokenGuarantee {
  std::size_t queue = 0;  // index
  std::string message;
};
std::optional<BrokenGuarantee> broken_guarantee(std::span<const QueueSpec> queues);

}  // namespace gridfold
