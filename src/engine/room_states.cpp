#include "engine/room_states.h"

#include <algorithm>

#include "engine/growth.h"

namespace gridfold {
namespace {

constexpr std::size_t kLeastRecords = 1024;

// The two halves of a 128-bit product, folded (as wyhash does).
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ 0x9e3779b97f4a7c15) * (b ^ 0xbf58476d1ce4e5b9);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

ShapeIndex RoomStates::shape_with(std::span<const DeviceKind> kinds, const NodeLayout& layout) {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (std::ranges::equal(shapes_[i]->kinds, kinds) && shapes_[i]->layout == layout)
      return static_cast<ShapeIndex>(i);
  }
  NodeShape& fresh = *shapes_.emplace_back(std::make_unique<NodeShape>());
  fresh.kinds.assign(kinds.begin(), kinds.end());
  fresh.layout = layout;
  fresh.has_layout = layout.groups.known();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const PartitionTable* table = layout.tables[i];
    fresh.empty.push_back({table == nullptr ? kinds[i].memory : table->slots, 1000, 0});
    fresh.has_layout |= table != nullptr;
  }
  return static_cast<ShapeIndex>(shapes_.size() - 1);
}

std::uint32_t RoomStates::hash_of(const RoomState& state) {
  const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  std::uint64_t hash = mixed(word(state.cpu), word(state.memory));
  hash = mixed(hash, state.usable ^ state.shape * 0x94d049bb133111eb);
  for (const DeviceState& device : state.devices) {
    const auto holders = static_cast<std::uint64_t>(static_cast<std::uint32_t>(device.holders));
    hash = mixed(hash ^ word(device.free_memory), word(device.free_share) ^ holders << 32);
  }
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

bool RoomStates::holds(const Record& record, std::uint32_t hash, const RoomState& state) const {
  return record.hash == hash && record.shape == state.shape && record.cpu == state.cpu &&
         record.memory == state.memory && record.usable == state.usable &&
         std::equal(state.devices.begin(), state.devices.end(),
                    devices_.begin() + record.first_device);
}

StateIndex RoomStates::enter(const RoomState& state) {
  if (buckets_.empty()) grow_buckets();
  const std::uint32_t hash = hash_of(state);
  for (StateIndex at = buckets_[hash & (buckets_.size() - 1)]; at != kNone;
       at = records_[at].next) {
    if (!holds(records_[at], hash, state)) continue;
    ++records_[at].nodes;
    return at;
  }
  incoming_.assign(state.devices.begin(), state.devices.end());
  const StateIndex index = spare_record();
  const std::uint32_t range = device_range(incoming_.size());
  std::copy(incoming_.begin(), incoming_.end(), devices_.begin() + range);
  StateIndex& bucket = buckets_[hash & (buckets_.size() - 1)];
  records_[index] = {
      state.cpu, state.memory, state.usable, ++last_serial_, hash, state.shape, range, 1, bucket};
  bucket = index;
  return index;
}

// A new record while there are few, else one that no node is in. There is one:
// every node is in one state, and the table holds more records than nodes.
StateIndex RoomStates::spare_record() {
  const std::size_t enough = nodes_expected_ + nodes_expected_ / 8 + kLeastRecords;
  if (records_.size() < enough) {
    reserve_more(records_, 1);
    records_.emplace_back();
    if (records_.size() > buckets_.size()) grow_buckets();
    return static_cast<StateIndex>(records_.size() - 1);
  }
  for (;; ++hand_) {
    if (hand_ >= records_.size()) hand_ = 0;
    if (records_[hand_].nodes == 0) break;
  }
  unlink(hand_);
  const Record& old = records_[hand_];
  const std::size_t length = shapes_[old.shape]->kinds.size();
  spare_ranges_[length].push_back(old.first_device);
  return hand_++;
}

void RoomStates::unlink(StateIndex index) {
  StateIndex* at = &buckets_[records_[index].hash & (buckets_.size() - 1)];
  while (*at != index) at = &records_[*at].next;
  *at = records_[index].next;
}

void RoomStates::grow_buckets() {
  buckets_.assign(std::max<std::size_t>(kLeastRecords, 2 * buckets_.size()), kNone);
  for (StateIndex i = 0; i < records_.size(); ++i) {
    if (records_[i].serial == 0) continue;  // being made
    StateIndex& bucket = buckets_[records_[i].hash & (buckets_.size() - 1)];
    records_[i].next = bucket;
    bucket = i;
  }
}

std::uint32_t RoomStates::device_range(std::size_t count) {
  if (spare_ranges_.size() <= count) spare_ranges_.resize(count + 1);
  std::vector<std::uint32_t>& spare = spare_ranges_[count];
  if (!spare.empty()) {
    const std::uint32_t start = spare.back();
    spare.pop_back();
    return start;
  }
  const std::size_t start = devices_.size();
  reserve_more(devices_, count);
  devices_.resize(start + count);
  return static_cast<std::uint32_t>(start);
}

RoomState RoomStates::state(StateIndex index) const {
  const Record& record = records_[index];
  const std::size_t count = shapes_[record.shape]->kinds.size();
  return {record.shape, record.cpu, record.memory, record.usable,
          std::span(devices_).subspan(record.first_device, count)};
}

std::size_t RoomStates::bytes() const {
  std::size_t ranges = 0;
  for (const auto& spare : spare_ranges_) ranges += spare.capacity();
  return records_.capacity() * sizeof(Record) + devices_.capacity() * sizeof(DeviceState) +
         buckets_.size() * sizeof(StateIndex) + ranges * sizeof(std::uint32_t);
}

}  // namespace gridfold
