// Free devices of the nodes while a policy of rounds gives them out, and the
// placement most of them share: on the fewest nodes, best fit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/round_policy.h"

namespace gridfold {

class RoundPool {
 public:
  // All devices of the view free.
  explicit RoundPool(const RoundView& view);

  void take(const RoundJob& job, std::span<const RoundPlace> places);
  void give_back(const RoundJob& job, std::span<const RoundPlace> places);
  // Whole tasks of the job that fit now on nodes of its class and models.
  std::int64_t room_for(const RoundJob& job) const;
  // Places for so many tasks: on one node if one has room, the one with least
  // left; else the nodes with most free first, and the last of them as tight as
  // possible. By node; none: there is no room for all.
  std::vector<RoundPlace> consolidated(const RoundJob& job, std::int64_t tasks) const;

 private:
  struct Room {
    const RoundNode* node = nullptr;
    std::int64_t free = 0;  // devices
  };
  std::vector<Room> rooms_;  // by node
  std::map<NodeId, std::size_t> index_;
};

// The view's nodes with what these leave of them.
std::vector<RoundNode> nodes_beside(const RoundView& view,
                                    std::span<const RoundAssignment> assignments);

// How many tasks the user would choose.
std::int64_t preferred_tasks(const JobSpec& spec);

}  // namespace gridfold
