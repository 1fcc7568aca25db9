// What is free on a node in the course of time: a step function of counts.
//
//   FreeSteps free(capacity);
//   free.add(from, until, taken, -1);       // something is held so long
//   free.least(from, until)                 // what is free all the while
//
// Counts only: which devices these are is decided when a task starts. That is
// enough, for everything that is held is held from now on, and intervals of
// which never more overlap than there are devices can always be given to
// devices one after the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace gridfold {

// The distinct kinds of devices of one node that are counted.
inline constexpr std::size_t kMaxDeviceKinds = 8;

struct FreeAmount {
  std::int64_t cpu = 0;     // millicores
  std::int64_t memory = 0;  // bytes
  // Whole devices by kind of the node. Below zero where more is held than there
  // is: a task that should have ended by now and has not.
  std::array<std::int16_t, kMaxDeviceKinds> devices{};

  void add(const FreeAmount& other, int sign) {
    cpu += sign * other.cpu;
    memory += sign * other.memory;
    for (std::size_t k = 0; k < kMaxDeviceKinds; ++k)
      devices[k] = static_cast<std::int16_t>(devices[k] + sign * other.devices[k]);
  }
  void lower_to(const FreeAmount& other) {
    cpu = std::min(cpu, other.cpu);
    memory = std::min(memory, other.memory);
    for (std::size_t k = 0; k < kMaxDeviceKinds; ++k)
      devices[k] = std::min(devices[k], other.devices[k]);
  }
  bool is_negative() const {
    return cpu < 0 || memory < 0 ||
           std::any_of(devices.begin(), devices.end(), [](std::int16_t d) { return d < 0; });
  }
  friend bool operator==(const FreeAmount&, const FreeAmount&) = default;
};

// A time that long ago that nothing is known of what lies before it.
inline constexpr Instant kLongAgo{0};
// For work that may last for ever.
inline constexpr Duration kForEver{INT64_MAX};

constexpr Instant end_of(Instant start, Duration run) {
  return run.ns >= Instant::never().ns - std::max<std::int64_t>(start.ns, 0) ? Instant::never()
                                                                             : start + run;
}

class FreeSteps {
 public:
  struct Step {
    Instant at{};  // free from here to the next step, the last for ever
    FreeAmount free;
    friend bool operator==(const Step&, const Step&) = default;
  };

  FreeSteps() : steps_{{kLongAgo, {}}} {}
  explicit FreeSteps(const FreeAmount& capacity) : steps_{{kLongAgo, capacity}} {}

  // Adds the amount (or takes it off, sign -1) from `from` to `until`, which may
  // be never().
  void add(Instant from, Instant until, const FreeAmount& amount, int sign);
  // Nothing is free in between. What is held beyond what there is stays so.
  void close(Instant from, Instant until);
  // The least of each count over [from, until), from < until.
  FreeAmount least(Instant from, Instant until) const;
  // What lies before is not asked for any more.
  void forget_before(Instant now);

  std::span<const Step> steps() const { return steps_; }
  friend bool operator==(const FreeSteps&, const FreeSteps&) = default;

 private:
  std::size_t index_at(Instant at) const;  // of the step that holds at this time
  std::size_t cut(Instant at);             // a step begins there; its index
  void join(std::size_t index);            // with the one before, if equal

  std::vector<Step> steps_;  // by time, neighbours differ; never empty
};

}  // namespace gridfold
