// Where device-time goes: every moment of every device is of exactly one part.
//
//   supplied  = what nodes have
//   pooled    = supplied less what no task could be given (NotPooled)
//   allocated = pooled less what stood idle (Idle)
//   useful    = allocated less what came to nothing (Wasted) and what is still
//               undecided (kInProgress)
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gridfold {

// Thousandths of a device times nanoseconds.
using DeviceTime = __int128;

enum class Part : std::uint8_t {
  kUseful,
  // Runs, or has run, and neither has been saved nor ended yet.
  kInProgress,
  // Wasted: held by a task.
  kStarting,     // from the order to the running process
  kClearing,     // from its end until nothing of it is left
  kRestartWait,  // failed, held for its restart in place
  kEvicted,      // work done since the last save, stopped for others or moved
  kFailed,       // likewise, and the task failed
  kNodeFailed,   // likewise, and its node or shim was lost
  kTimeLimit,
  kCancelled,
  kRestarted,  // requeued by an operator, or started again with another size
  // Idle: pooled, held by nobody.
  kNoDemand,
  kGangWait,   // fewer are free than the gang in front needs
  kShape,      // enough are free, but not where or how they are asked for
  kStranded,   // their node has no cores or memory left
  kWrongKind,  // those who wait ask for other models, or for what no node has
  kQuota,      // those who wait may not hold more
  kReserved,   // promised to a planned start, or victims are leaving
  kTurn,       // those who wait have to wait for their turn or round
  // Not pooled: free, and given to nobody.
  kDrained,
  kNodeDown,
  kQuarantined,   // clean-up failed
  kFaulty,        // the backend says so
  kBeyondLimits,  // more than all queues together may hold
};
inline constexpr std::size_t kParts = static_cast<std::size_t>(Part::kBeyondLimits) + 1;

enum class PartGroup : std::uint8_t { kUseful, kInProgress, kWasted, kIdle, kNotPooled };
PartGroup group_of(Part part);
// "no_demand", …: as shown.
std::string_view to_string(Part part);
std::string_view to_string(PartGroup group);

// Of one device class, or of all.
struct EffectiveTotals {
  DeviceTime supplied = 0;   // counted by itself, from the devices there were
  DeviceTime allocated = 0;  // likewise, from what tasks held
  std::array<DeviceTime, kParts> parts{};

  DeviceTime at(Part part) const { return parts[static_cast<std::size_t>(part)]; }
  DeviceTime sum(PartGroup group) const;
  DeviceTime pooled() const { return supplied - sum(PartGroup::kNotPooled); }
  // Of all parts: `supplied`, if the account is right.
  DeviceTime sum() const;
  void add(const EffectiveTotals& other);
  void divide_by(std::int64_t number);  // for a mean; each figure rounded towards zero
};

double device_hours(DeviceTime time);

}  // namespace gridfold
