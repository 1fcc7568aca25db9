#include "simulator/verify/topology_check.h"

#include <algorithm>

namespace gridfold::verify {

std::optional<std::string> domain_at(const NodeSpec& node, const std::string& level) {
  std::string path;
  for (const DomainStep& step : node.domains) {
    path += (path.empty() ? "" : "/") + step.name;
    if (step.level == level) return path;
  }
  if (level != kNodeLevel) return std::nullopt;
  return path + (path.empty() ? "" : "/") + node.name;
}

std::optional<std::string> crosses_domains(const World& world, const MirrorJob& job) {
  const TopologyWish& wish = job.spec->topology;
  if (job.state != State::kStarting && job.state != State::kRunning) return std::nullopt;
  const auto one_domain = [&](const std::string& level, std::size_t first,
                              std::size_t last) -> std::optional<std::string> {
    std::set<std::string> used;
    std::size_t ordinal = 0;
    for (const MirrorTask& task : job.tasks) {
      if (task.phase == Phase::kIdle) continue;
      if (ordinal >= first && ordinal < last && holds(task.phase)) {
        const auto domain = domain_at(world.nodes[static_cast<std::size_t>(task.at.node)], level);
        used.insert(domain.value_or("no " + level));
      }
      ++ordinal;
    }
    if (used.size() <= 1 && used.count("no " + level) == 0) return std::nullopt;
    std::string text = "has to be in one " + level + " and is in";
    for (const std::string& domain : used) text += " " + domain;
    return text;
  };
  for (const MirrorTask& task : job.tasks) {
    if (wish.spread.empty() || !holds(task.phase)) continue;
    if (!domain_at(world.nodes[static_cast<std::size_t>(task.at.node)], wish.spread))
      return "is spread over " + wish.spread + " and has a task in none";
  }
  if (!wish.require.empty()) {
    if (auto wrong = one_domain(wish.require, 0, job.tasks.size())) return wrong;
  }
  if (!wish.segments) return std::nullopt;
  const auto size = static_cast<std::size_t>(wish.segments->size);
  for (std::size_t first = 0; first < job.tasks.size(); first += size) {
    if (auto wrong = one_domain(wish.segments->within, first, first + size))
      return "has a segment that " + *wrong;
  }
  return std::nullopt;
}

bool has_hard_topology(const JobSpec& spec) {
  return !spec.topology.require.empty() || !spec.topology.spread.empty() || spec.topology.segments;
}

TopologyReach topology_reach(const World& world, const JobSpec& spec, const RoleSlots& slots) {
  const TopologyWish& wish = spec.topology;
  const std::string part_level = wish.segments ? wish.segments->within : wish.spread;
  TopologyReach best;
  // By domain of the required level, by role, by part of it.
  std::map<std::string, std::vector<std::map<std::string, std::int64_t>>> rooms;
  for (std::size_t n = 0; n < world.nodes.size(); ++n) {
    const NodeSpec& node = world.nodes[n];
    const auto home = wish.require.empty() ? "grid" : domain_at(node, wish.require);
    const auto part = part_level.empty() ? "" : domain_at(node, part_level);
    if (!home || !part) continue;
    auto& by_role = rooms[*home];
    by_role.resize(spec.roles.size());
    for (std::size_t r = 0; r < spec.roles.size(); ++r)
      by_role[r][*part] += slots(static_cast<int>(n), spec.roles[r]);
  }
  for (const Role& role : spec.roles) best.need += role.min;
  // A segment may hold tasks of several roles: then parts are not rounded.
  const bool rounded = wish.segments && spec.roles.size() == 1;
  for (const auto& [home, by_role] : rooms) {
    std::int64_t tasks = 0;
    for (std::size_t r = 0; r < spec.roles.size(); ++r) {
      std::int64_t held = 0;
      for (const auto& [part, room] : by_role[r])
        held += rounded ? room / wish.segments->size * wish.segments->size : room;
      tasks += std::min<std::int64_t>(held, spec.roles[r].min);
    }
    if (tasks > best.tasks) best.domains.clear();
    best.tasks = std::max(best.tasks, tasks);
    if (tasks == best.tasks && tasks > 0) best.domains.insert(home);
  }
  if (best.domains.empty()) best.domains.insert(wish.require.empty() ? "grid" : "none");
  return best;
}

std::optional<std::string> spread_unevenly(const World& world, const MirrorJob& job,
                                           const RoleSlots& slots) {
  const TopologyWish& wish = job.spec->topology;
  if (wish.spread.empty() || !wish.prefer.empty() || job.spec->roles.size() != 1)
    return std::nullopt;
  std::map<std::string, std::int64_t> used;
  std::string home;
  for (const MirrorTask& task : job.tasks) {
    if (!holds(task.phase)) continue;
    const NodeSpec& node = world.nodes[static_cast<std::size_t>(task.at.node)];
    const auto domain = domain_at(node, wish.spread);
    if (!domain) return std::nullopt;  // that is said of the job anyway
    ++used[*domain];
    if (!wish.require.empty()) home = domain_at(node, wish.require).value_or("");
  }
  std::int64_t fullest = 0;
  for (const auto& [domain, tasks] : used) fullest = std::max(fullest, tasks);
  for (std::size_t n = 0; n < world.nodes.size(); ++n) {
    const NodeSpec& node = world.nodes[n];
    const auto domain = domain_at(node, wish.spread);
    if (!domain || (!wish.require.empty() && domain_at(node, wish.require) != home)) continue;
    if (used[*domain] + 2 > fullest || slots(static_cast<int>(n), job.spec->roles[0]) == 0)
      continue;
    return "has " + std::to_string(fullest) + " tasks in one " + wish.spread + ", and " +
           std::to_string(used[*domain]) + " in " + *domain + ", which has room for more";
  }
  return std::nullopt;
}

}  // namespace gridfold::verify
