// The rules of devices inside a node, told a second time from the specs: the
// checker must not share the engine's idea of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/job.h"
#include "model/node.h"

namespace gridfold::verify {

// Class, model, and for whole devices their memory; a split device is given out
// in its partitions only, any other never in partitions.
bool suits(const DeviceRequest& group, const DeviceSpec& device);

// Whether these devices of the node lie to each other as the group wishes.
bool lies_as_wished(const NodeSpec& node, const DeviceRequest& group, std::uint64_t set);
// Of the idle devices (which suit): the most one task could get, and how many
// tasks find theirs at once.
std::int64_t most_for_one(const NodeSpec& node, const DeviceRequest& group, std::uint64_t idle);
std::int64_t tasks_at_once(const NodeSpec& node, const DeviceRequest& group, std::uint64_t idle);

// Null when the device cannot be split so.
const PartitionProfile* profile_named(const DeviceSpec& device, std::string_view name);
bool may_begin(const PartitionProfile& profile, std::int32_t start);
std::uint32_t slots_taken(const PartitionProfile& profile, std::int32_t start);
// How many partitions go into the free slots, and the most slots in a row from
// a start, at most the profile's length.
std::int64_t partitions_at_once(const PartitionProfile& profile, std::uint32_t free);
std::int64_t longest_run(const PartitionProfile& profile, std::uint32_t free);

}  // namespace gridfold::verify
