// What is free on a node: the view that policies score and requests are
// fitted against. What a device is lies with the shape of its node, which
// alike nodes share; only what is free of it is kept by state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "base/ids.h"
#include "engine/device_choice.h"

namespace gridfold {

// What a device is, whatever is held of it.
struct DeviceKind {
  std::uint16_t device_class = 0;
  std::uint16_t model = 0;
  std::int64_t memory = -1;  // bytes in all, -1 unknown
  std::uint16_t table = 0;   // of partitions, by number; 0: it is not split
  friend bool operator==(const DeviceKind&, const DeviceKind&) = default;
};

// What is free of a device.
struct DeviceState {
  // Bytes not held by slices, -1 unknown. Of a split device, which has no
  // slices, its free slots as a mask.
  std::int64_t free_memory = -1;
  std::int32_t free_share = 1000;  // thousandths
  std::int32_t holders = 0;
  friend bool operator==(const DeviceState&, const DeviceState&) = default;
};

// One device's room, both together. A whole-device holding takes all of it and
// needs holders == 0; a slice takes share, memory or both. A split device is
// given out in partitions only, which take slots; its share is the part of its
// slots that is free.
struct DeviceRoom {
  std::uint16_t device_class = 0;
  std::uint16_t model = 0;
  bool usable = true;              // false: quarantined
  std::int32_t free_share = 1000;  // thousandths
  std::int32_t holders = 0;
  std::int64_t memory = -1;       // bytes in all, -1 unknown
  std::int64_t free_memory = -1;  // bytes not held by slices, -1 unknown
  std::uint16_t table = 0;        // of partitions; 0: it is not split
  SlotMask free_slots = 0;        // of a split device
};

// The devices that nodes of one make have in common. `empty` is the state of
// each when nothing is held.
struct NodeShape {
  std::vector<DeviceKind> kinds;
  std::vector<DeviceState> empty;
  NodeLayout layout;

  // Null where nothing is known of places and no device is split.
  const NodeLayout* known_layout() const { return has_layout ? &layout : nullptr; }
  bool has_layout = false;
};

// The devices of a node, read as a sequence of DeviceRoom values.
class DeviceRooms {
 public:
  DeviceRooms() = default;
  // `kinds` and `states` have the same length and outlive the view; bit i of
  // `usable` is device i.
  DeviceRooms(std::span<const DeviceKind> kinds, std::span<const DeviceState> states,
              std::uint64_t usable)
      : kinds_(kinds.data()), states_(states.data()), size_(kinds.size()), usable_(usable) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  DeviceRoom operator[](std::size_t i) const {
    const DeviceKind& kind = kinds_[i];
    const DeviceState& state = states_[i];
    DeviceRoom room{kind.device_class, kind.model,  (usable_ >> i & 1) != 0, state.free_share,
                    state.holders,     kind.memory, state.free_memory,       kind.table};
    if (kind.table != 0) {
      room.free_slots = static_cast<SlotMask>(state.free_memory);
      room.free_memory = -1;
    }
    return room;
  }

  std::span<const DeviceKind> kinds() const { return {kinds_, size_}; }
  std::span<const DeviceState> states() const { return {states_, size_}; }
  std::uint64_t usable() const { return usable_; }

  class Iterator {
   public:
    using value_type = DeviceRoom;
    using reference = DeviceRoom;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Iterator(const DeviceRooms& rooms, std::size_t at) : rooms_(&rooms), at_(at) {}
    DeviceRoom operator*() const { return (*rooms_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const DeviceRooms* rooms_;
    std::size_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

 private:
  const DeviceKind* kinds_ = nullptr;
  const DeviceState* states_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t usable_ = 0;
};

// At least as much as is free on a node, in a few bytes: what does not fit into
// it does not fit on the node.
struct RoomBound {
  std::int32_t cpu = -1;               // millicores, or the largest number
  std::int32_t memory_mebibytes = -1;  // rounded up, or the largest number
  std::int16_t share = 0;              // most free on one device, thousandths
  std::uint8_t idle = 0;               // devices that nothing is held of
  bool covers(const RoomBound& asked) const {
    return cpu >= asked.cpu && memory_mebibytes >= asked.memory_mebibytes && share >= asked.share &&
           idle >= asked.idle;
  }
};

// Valid until the books change.
struct NodeRoom {
  std::int64_t cpu = 0;     // millicores free
  std::int64_t memory = 0;  // bytes free
  DeviceRooms devices;
  // Whose room this is as the books stand now, and which state of it (no two
  // states of any node share a version): what a policy derives from it may be
  // kept while the version is the same. None: a room that is only considered.
  NodeId node = NodeId::none();
  std::uint64_t version = 0;
  // Null where nothing is known of the devices' places and none is split.
  const NodeLayout* layout = nullptr;
};

}  // namespace gridfold
