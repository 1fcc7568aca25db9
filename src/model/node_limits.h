// What keeps the tasks of a waiting job off the nodes: each node is counted
// once, under the first limit that binds there, so that the counts add up to
// all nodes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gridfold {

// In the order in which they are looked at.
enum class NodeLimit : std::uint8_t {
  kTooSmall,  // even empty it has too little of the resource for one task
  kDown,
  kDrained,
  kMaintenance,  // it is closed, or would be before the job has ended
  kReserved,  // it would have room but for what is earmarked for others
  kInUse,     // too little of the resource is free
  kDomain,    // it has room, and lies in no domain that holds what the topology asks
  kNone,      // it has room
};
// "too_small", …, "has_room".
std::string_view to_string(NodeLimit limit);

struct LimitCount {
  NodeLimit limit = NodeLimit::kNone;
  // Of kTooSmall and kInUse: "gpu", "cpu", …, or "combination" where each of
  // them would do by itself.
  std::string resource;
  std::string wish;  // how devices must lie ("single_numa"), or a partition's profile
  std::int64_t nodes = 0;
  friend bool operator==(const LimitCount&, const LimitCount&) = default;
};

// Of one role. Limits that bind on no node are left out.
struct RoleLimits {
  std::string role;
  std::int64_t nodes = 0;  // all there are
  std::vector<LimitCount> counts;
};

}  // namespace gridfold
