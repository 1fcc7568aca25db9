// A queue as an operator configures it. "a/b" lies beneath "a": what holds for
// a holds for it and everything beneath it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/units.h"

namespace gridfold {

// Thousandths of a device, by device class ("gpu": of whatever model) or by class
// and model ("gpu:H100-SXM5-80GB": of these alone).
using DeviceAmounts = std::map<std::string, std::int64_t>;

// What a queue has a right to, however much others would borrow of it.
struct QueueGuarantee {
  MilliCores cpu;
  Bytes memory;
  DeviceAmounts devices;
  friend bool operator==(const QueueGuarantee&, const QueueGuarantee&) = default;

  bool empty() const { return *this == QueueGuarantee{}; }
};

// At most so much may be held or claimed at once; an absent device class or
// model is unlimited.
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

// What a device of a model gets done, beside one of another: work units of a
// whole device in an hour, in thousandths. A model without a rate counts 1.
struct WorkUnits {
  std::map<std::string, std::int64_t> by_model;
  std::string source;  // where the rates are from, in words
  friend bool operator==(const WorkUnits&, const WorkUnits&) = default;
};

// All that may change about the queues while work runs.
struct QueueConfiguration {
  std::vector<QueueSpec> queues = {QueueSpec{}};
  // What queues have held counts half after this time when they take turns by
  // their share; zero: only what they hold.
  Duration usage_half_life{};
  WorkUnits work_units;
  friend bool operator==(const QueueConfiguration&, const QueueConfiguration&) = default;
};

// A guarantee that cannot be kept: it exceeds a limit at the queue or above it,
// or those beneath a queue sum to more than that queue's limit or guarantee.
struct BrokenGuarantee {
  std::size_t queue = 0;  // index
  std::string message;
};
std::optional<BrokenGuarantee> broken_guarantee(std::span<const QueueSpec> queues);

}  // namespace gridfold
