// The free states of nodes, each kept once: nodes of one shape with the same
// room share a state, so what follows from a state alone (whether a request
// fits, how a policy scores it) is worked out once for all of them.
//
// A state that no node is in any more is kept for a while, since it tends to
// come back; its record is used again when the table has grown past one and an
// eighth of the nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/node_room.h"

namespace gridfold {

// Index of a shape, and of a record of the table.
using ShapeIndex = std::uint32_t;
using StateIndex = std::uint32_t;

// Everything a state is. `devices` is as long as the shape's kinds.
struct RoomState {
  ShapeIndex shape = 0;
  std::int64_t cpu = 0;      // millicores free
  std::int64_t memory = 0;   // bytes free
  std::uint64_t usable = 0;  // bit i: device i is not quarantined
  std::span<const DeviceState> devices;
};

class RoomStates {
 public:
  static constexpr StateIndex kNone = UINT32_MAX;

  // The shape with these devices, made when there is none yet.
  ShapeIndex shape_with(std::span<const DeviceKind> kinds, const NodeLayout& layout);
  const NodeShape& shape(ShapeIndex index) const { return *shapes_[index]; }

  // The record of this state, made when there is none, with one more node in
  // it. `state.devices` may lie in this table.
  StateIndex enter(const RoomState& state);
  // One node fewer is in it.
  void leave(StateIndex index) { --records_[index].nodes; }

  RoomState state(StateIndex index) const;
  NodeRoom room(StateIndex index, NodeId node, std::uint64_t version) const {
    const Record& record = records_[index];
    const NodeShape& shape = *shapes_[record.shape];
    const DeviceRooms devices({shape.kinds.data(), shape.kinds.size()},
                              {devices_.data() + record.first_device, shape.kinds.size()},
                              record.usable);
    return {record.cpu, record.memory, devices, node, version, shape.known_layout()};
  }
  const NodeShape& shape_of(StateIndex index) const { return *shapes_[records_[index].shape]; }
  std::uint64_t usable(StateIndex index) const { return records_[index].usable; }
  // Never given to another state, as the index may be.
  std::uint64_t serial(StateIndex index) const { return records_[index].serial; }

  // Fetched ahead of room(): first the record, then what it points to.
  void prefetch(StateIndex index) const { __builtin_prefetch(&records_[index]); }
  void prefetch_devices(StateIndex index) const {
    const DeviceState* const devices = devices_.data() + records_[index].first_device;
    __builtin_prefetch(devices);
    __builtin_prefetch(devices + 4);
  }

  // The largest number of nodes there may be.
  void expect_nodes(std::size_t nodes) { nodes_expected_ = nodes; }
  std::size_t size() const { return records_.size(); }
  std::size_t bytes() const;

 private:
  struct Record {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::uint64_t usable = 0;
    std::uint64_t serial = 0;
    std::uint32_t hash = 0;
    ShapeIndex shape = 0;
    std::uint32_t first_device = 0;  // in devices_
    std::uint32_t nodes = 0;         // in this state; 0: may be used again
    StateIndex next = kNone;         // in the same bucket
  };

  static std::uint32_t hash_of(const RoomState& state);
  bool holds(const Record& record, std::uint32_t hash, const RoomState& state) const;
  StateIndex spare_record();
  void unlink(StateIndex index);
  void grow_buckets();
  std::uint32_t device_range(std::size_t count);

  std::vector<std::unique_ptr<NodeShape>> shapes_;  // stable addresses
  std::vector<Record> records_;
  std::vector<DeviceState> devices_;
  std::vector<std::vector<std::uint32_t>> spare_ranges_;  // by length: starts in devices_
  std::vector<StateIndex> buckets_;                       // a power of two of them
  std::vector<DeviceState> incoming_;                     // a copy, while devices_ may move
  StateIndex hand_ = 0;                                   // where the search for a spare goes on
  std::uint64_t last_serial_ = 0;
  std::size_t nodes_expected_ = 0;
};

}  // namespace gridfold
