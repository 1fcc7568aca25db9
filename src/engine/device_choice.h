// Which devices of a node a task may get, and which of those it had better
// get, so that what is left stays useful. Pure, over masks: bit i is device i
// of the node.
//
//   const DeviceGroups groups = groups_of(node.devices);
//   const SetRequest four{4, DevicePlace::kSingleNuma, all};
//   if (most_of(idle, four, groups) >= 4) taken = choose_set(idle, four, groups);
//
// Whole devices: near to each other first (fewest islands, then NUMA nodes,
// then switches), and of such sets the one that leaves the free devices most
// together: the sum over all groups of (free in it)^2 is greatest. So one
// device is taken from the socket that has fewest left, and whole sockets stay
// whole (F07).
//
// Partitions: the start that leaves most, counted as the sum over the model's
// profiles of slices * (partitions of this profile that would still go in).
// First fit puts a 1g at slot 0 and so gives up every start of 4g; this puts it
// at slot 6, which spares all but one 3g.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "model/job.h"
#include "model/node.h"

namespace gridfold {

using DeviceMask = std::uint64_t;

// --- Whole devices ---

// How a node's devices hang together. The groups of one kind are disjoint; a
// device in none of them is at an unknown place.
struct DeviceGroups {
  std::vector<DeviceMask> numa;
  std::vector<DeviceMask> switches;
  std::vector<DeviceMask> islands;

  bool known() const { return !numa.empty() || !switches.empty() || !islands.empty(); }
  friend bool operator==(const DeviceGroups&, const DeviceGroups&) = default;
};
DeviceGroups groups_of(std::span<const DeviceSpec> devices);

struct SetRequest {
  std::int32_t count = 1;
  DevicePlace place = DevicePlace::kAny;
  // The node's devices that would do if all were free: over their NUMA nodes a
  // job is spread.
  DeviceMask all = 0;
};

// Whether these devices are near or far enough from each other.
bool is_legal_set(DeviceMask set, const SetRequest& request, const DeviceGroups& groups);
// Of the idle devices, the most that one task could get: it fits when this is
// at least `count`, and else this is the number to tell.
std::int32_t most_of(DeviceMask idle, const SetRequest& request, const DeviceGroups& groups);
// How many such tasks the idle devices hold at once.
std::int32_t sets_of(DeviceMask idle, const SetRequest& request, const DeviceGroups& groups);
// The devices to take. Requires most_of() >= count. Where nothing is known of
// the places: the first ones.
DeviceMask choose_set(DeviceMask idle, const SetRequest& request, const DeviceGroups& groups);
// Numbers of devices.
class DeviceOrder {
 public:
  void append(std::uint8_t device) { devices_[size_++] = device; }
  void append(const DeviceOrder& others) {
    for (const std::uint8_t device : others) append(device);
  }
  std::uint8_t front() const { return devices_[0]; }
  const std::uint8_t* begin() const { return devices_.data(); }
  const std::uint8_t* end() const { return devices_.data() + size_; }

 private:
  std::array<std::uint8_t, kMaxDevicesPerNode> devices_;  // the first size_ of them
  std::size_t size_ = 0;
};
// The devices of the mask in the order in which one of them had better be
// taken; equals by number.
DeviceOrder order_of_taking(DeviceMask idle, const DeviceGroups& groups);

// --- Partitions ---

using SlotMask = std::uint32_t;  // bit s: slot s of a device

struct PartitionKind {
  std::uint16_t name = 0;  // a number that stands for the profile's name
  std::int32_t slices = 0;
  std::int32_t length = 0;  // slots
  SlotMask starts = 0;      // slots at which one may begin
  friend bool operator==(const PartitionKind&, const PartitionKind&) = default;
};
// The ways in which a device model can be split. Empty: it cannot be.
struct PartitionTable {
  std::vector<PartitionKind> kinds;
  SlotMask slots = 0;  // all that some partition can take

  // Of length 0 when there is none of this name.
  PartitionKind kind_named(std::uint16_t name) const;
  friend bool operator==(const PartitionTable&, const PartitionTable&) = default;
};

// What a node's devices are to each other, and how each can be split; null: it
// is not. Tables are lent.
struct NodeLayout {
  DeviceGroups groups;
  std::vector<const PartitionTable*> tables;
  friend bool operator==(const NodeLayout&, const NodeLayout&) = default;
};

// The slots of one partition that begins at `start`.
constexpr SlotMask slots_at(const PartitionKind& kind, std::int32_t start) {
  return static_cast<SlotMask>(((std::uint64_t{1} << kind.length) - 1) << start);
}
// Starts at which one more may begin, with these slots free.
SlotMask legal_starts(const PartitionKind& kind, SlotMask free);
// How many more of this kind go in, beside nothing else.
std::int32_t partitions_of(const PartitionKind& kind, SlotMask free);
// What the free slots are good for; grows with them.
std::int64_t usefulness(const PartitionTable& table, SlotMask free);
// The most slots in a row, from a start of the kind; at most its length.
std::int32_t longest_run(const PartitionKind& kind, SlotMask free);

struct StartChoice {
  std::int32_t start = -1;  // -1: there is none
  std::int64_t lost = 0;    // of the usefulness, when it is taken
};
// Among equals: the lowest. Never at the price of the next of the same kind,
// where it can be had.
StartChoice choose_start(const PartitionTable& table, const PartitionKind& kind, SlotMask free);

}  // namespace gridfold
