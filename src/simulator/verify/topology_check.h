// Where jobs may lie by the topology they ask for, counted by the checker for
// itself: domains are paths of names, never ids of the engine's tree.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "simulator/verify/mirror.h"
#include "simulator/verify/world.h"

namespace gridfold::verify {

// "zone-0/rack-1"; the node's own for the level node; nothing for a node that
// lies in no domain of the level.
std::optional<std::string> domain_at(const NodeSpec& node, const std::string& level);

// A job that holds tasks in two domains of a level within which it, or a segment
// of it, has to be: text.
std::optional<std::string> crosses_domains(const World& world, const MirrorJob& job);

// So many tasks of the role fit on the node (index in World::nodes).
using RoleSlots = std::function<std::int64_t(int node, const Role& role)>;

// The job has a topology that may keep it from starting.
bool has_hard_topology(const JobSpec& spec);

// The most tasks, of those that the job needs at least, that fit in one domain
// of the required level (in the grid, without one), and whether the domain of
// this path is such a one. Roles are counted each by itself.
struct TopologyReach {
  std::int64_t tasks = 0;
  std::int64_t need = 0;
  std::set<std::string> domains;
};
TopologyReach topology_reach(const World& world, const JobSpec& spec, const RoleSlots& slots);

// A job of one role, just started and spread over the domains of a level: a
// domain has two tasks fewer than another, and room for one more. Text.
std::optional<std::string> spread_unevenly(const World& world, const MirrorJob& job,
                                           const RoleSlots& slots);

}  // namespace gridfold::verify
