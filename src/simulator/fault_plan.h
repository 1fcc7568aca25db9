// What goes wrong in a simulated cluster, and when. The cluster asks at each
// point where something can fail; the plan draws its answers from seeded
// streams, one a kind of fault, so that a kind more does not move the others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/time.h"
#include "control/backend.h"
#include "model/event.h"

namespace gridfold {

// What becomes of one report on its way to the control loop. Delays of
// different length put reports out of order.
struct ReportFate {
  bool dropped = false;  // observe() still tells it
  Duration delay{};
  std::optional<Duration> again{};  // told a second time, this much later still
};

// A node goes out of reach.
struct NodeFault {
  Instant at;
  std::size_t node = 0;  // index in the cluster's list
  // Fenced: it went off, and what ran there is gone. Unfenced: only the way to
  // it is cut, and what runs there runs on.
  Fencing fencing = Fencing::kFenced;
  Duration outage{};  // then it is back
};

// What becomes of a boot: it hangs until it is given up.
enum class BootFate : std::uint8_t { kBoots, kFails, kHangs };

class FaultPlan {
 public:
  virtual ~FaultPlan() = default;

  // False: nothing fails any more (and nothing below is asked), so that a test
  // can wait for the work to come through.
  virtual bool active(Instant now) const = 0;
  virtual ReportFate report_fate() = 0;
  // Set: this launch fails, and by whose fault.
  virtual std::optional<LaunchFault> launch_fault() = 0;
  virtual BootFate boot_fate() { return BootFate::kBoots; }
  // Set: the shim of the attempt that begins now dies after this long, and its
  // process with it; nobody sees the exit code.
  virtual std::optional<Duration> shim_loss() = 0;
  // Those of `held` that could not be cleared when an attempt ended.
  virtual std::uint64_t dirty_devices(std::uint64_t held) = 0;
  // The next fault of a node from `now` on, or none.
  virtual std::optional<NodeFault> next_node_fault(Instant now, std::size_t nodes) = 0;
};

// How often, in thousandths of the occasions; 0 is never.
struct FaultRates {
  std::int32_t report_dropped = 0;
  std::int32_t report_delayed = 0;
  std::int32_t report_repeated = 0;
  Duration longest_delay = Duration::seconds(20);
  std::int32_t launch_fails_by_node = 0;
  std::int32_t launch_fails_by_job = 0;
  std::int32_t shim_lost = 0;
  Duration longest_shim_life = Duration::minutes(5);
  std::int32_t device_dirty = 0;
  // Mean time between faults of any two nodes of the cluster; 0 is never.
  Duration node_fault_interval{};
  std::int32_t node_fault_unfenced = 500;  // of the node faults
  Duration longest_outage = Duration::minutes(2);
  Instant until = Instant::never();  // no faults from then on
};

std::unique_ptr<FaultPlan> seeded_faults(std::uint64_t seed, const FaultRates& rates);

}  // namespace gridfold
