// Roles of a gang that start after others. The gang is placed and holds its room
// as one whole; tasks of a role that waits are launched once all tasks of the
// roles before it run, or have ended well. A role that others start after must
// not be gone for long: else the gang is stopped, which frees all its room.
#include <algorithm>

#include "engine/state.h"

namespace gridfold {
namespace {

// From the order to start, or from a death, until the task runs.
constexpr Duration kLongestDown = Duration::seconds(60);

std::size_t role_of(const JobSpec& spec, std::uint32_t task) {
  std::size_t role = 0;
  while (role + 1 < spec.roles.size() && task >= static_cast<std::uint32_t>(spec.roles[role].count))
    task -= static_cast<std::uint32_t>(spec.roles[role++].count);
  return role;
}

bool has_waiting(const JobRecord& record) {
  return std::any_of(record.tasks.begin(), record.tasks.end(),
                     [](const TaskRecord& task) { return task.phase == TaskPhase::kWaiting; });
}

bool runs_or_ended_well(const TaskRecord& task) {
  switch (task.phase) {
    case TaskPhase::kRunning:
    case TaskPhase::kDone:
    case TaskPhase::kIdle: return true;  // the last: not part of this run
    case TaskPhase::kCleaning: return task.exit && task.exit->ok();
    case TaskPhase::kStopping: return task.shed;
    case TaskPhase::kHeld:
    case TaskPhase::kBackoff:
    case TaskPhase::kWaiting: break;
  }
  return false;
}

}  // namespace

// The first role that the task's role starts after and that does not run yet.
const Role* Engine::State::awaited_role(const EngineJob& job, std::uint32_t task) const {
  const JobSpec& spec = *job.record.spec;
  for (const std::string& name : spec.roles[role_of(spec, task)].start_after) {
    std::size_t first = 0;
    for (const Role& role : spec.roles) {
      const std::size_t last = first + static_cast<std::size_t>(role.count);
      if (role.name == name) {
        const auto begin = job.record.tasks.begin();
        if (!std::all_of(begin + static_cast<std::ptrdiff_t>(first),
                         begin + static_cast<std::ptrdiff_t>(last), runs_or_ended_well))
          return &role;
      }
      first = last;
    }
  }
  return nullptr;
}

bool Engine::State::is_awaited(const EngineJob& job, std::uint32_t task) const {
  const JobSpec& spec = *job.record.spec;
  if (spec.roles.size() == 1) return false;
  const std::string& name = spec.roles[role_of(spec, task)].name;
  return std::any_of(spec.roles.begin(), spec.roles.end(), [&](const Role& role) {
    return std::find(role.start_after.begin(), role.start_after.end(), name) !=
           role.start_after.end();
  });
}

bool Engine::State::starts_later(const EngineJob& job, std::uint32_t task) const {
  const JobSpec& spec = *job.record.spec;
  return !spec.roles[role_of(spec, task)].start_after.empty();
}

// Whoever waits for roles that all run by now.
void Engine::State::launch_followers(EngineJob& job) {
  JobRecord& record = job.record;
  if (!has_waiting(record)) return;
  std::vector<std::uint32_t> next;
  for (std::uint32_t i = 0; i < record.tasks.size(); ++i) {
    if (record.tasks[i].phase == TaskPhase::kWaiting && awaited_role(job, i) == nullptr)
      next.push_back(i);
  }
  for (const std::uint32_t i : next) {
    const NodeRecord& node = cluster.record(record.tasks[i].allocation.node);
    if (!node.up)
      return begin_stop(job, StopCause::kNodeLost,
                        Reason(ReasonCode::kNodeLost, {{"node", node.spec.name}}));
    launch(job, i, record.tasks[i].why.feasible_nodes, record.tasks[i].why.score);
  }
}

Instant Engine::State::role_deadline(const JobRecord& record) const {
  Instant due = Instant::never();
  for (const TaskRecord& task : record.tasks) {
    if (!task.down_since.is_never()) due = std::min(due, task.down_since + kLongestDown);
  }
  return due;
}

// Stops a gang of which a role that others start after has been down for too long.
bool Engine::State::stop_if_role_is_down(EngineJob& job) {
  if (role_deadline(job.record) > now) return false;
  const JobSpec& spec = *job.record.spec;
  std::uint32_t down = 0;
  while (job.record.tasks[down].down_since.is_never() ||
         job.record.tasks[down].down_since + kLongestDown > now)
    ++down;
  begin_stop(job, StopCause::kRoleDown,
             Reason(ReasonCode::kRoleDown, {{"role", spec.roles[role_of(spec, down)].name},
                                            {"after_ns", kLongestDown.ns}}));
  return true;
}

// What the first task that is launched later waits for.
std::optional<Reason> Engine::State::role_reason(const EngineJob& job) const {
  std::int64_t waiting = 0;
  const Role* role = nullptr;
  for (std::uint32_t i = 0; i < job.record.tasks.size(); ++i) {
    if (job.record.tasks[i].phase != TaskPhase::kWaiting) continue;
    ++waiting;
    if (role == nullptr) role = awaited_role(job, i);
  }
  if (role == nullptr) return std::nullopt;
  return Reason(ReasonCode::kWaitsForRole, {{"tasks", waiting}, {"role", role->name}});
}

}  // namespace gridfold
