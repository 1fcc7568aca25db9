// One change after which a waiting job would start at once: of the job, made by
// whoever submits it again, or of what others allow it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"

namespace gridfold {

enum class ChangeKind : std::uint8_t {
  kRelease,       // it is held, and would start if it were not
  kTasks,         // fewer tasks of a role
  kDevices,       // fewer devices a task
  kDeviceShare,   // a smaller share of a device
  kDeviceMemory,  // less of a device's memory
  kCpu,
  kMemory,
  kDomain,      // it need not lie in one domain of the level, or of a wider one
  kPlace,       // devices of a task need not lie near to each other
  kModel,       // another model of device as well
  kTimeLimit,   // a shorter one: it is over before others need the room
  kArrayLimit,  // more jobs of its array at a time
  kQueueLimit,
  kPriority,
};
// "release", "tasks", …
std::string_view to_string(ChangeKind kind);
// Whether whoever owns the job can make it.
constexpr bool is_owners(ChangeKind kind) { return kind < ChangeKind::kQueueLimit; }

// A queue whose limit stands in the way, as it would have to be.
struct RaisedLimit {
  QueueSpec queue;
  std::string resource;  // "gpu", "cpu", "memory", "running_jobs"
  bool each_tenant = false;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

struct StartChange {
  ChangeKind kind = ChangeKind::kTasks;
  std::size_t role = 0;
  std::size_t group = 0;  // of the role's devices
  // Amounts: tasks, devices, thousandths of a share, bytes, millicores,
  // nanoseconds, jobs, priority. `from` of a time limit is 0 where there is none.
  std::int64_t from = 0;
  std::int64_t to = 0;
  // Of kDomain a level ("": any), of kModel the model, of kPlace what it was.
  std::string from_name, to_name;
  std::vector<RaisedLimit> limits;  // of kQueueLimit: all of them together
  std::vector<JobId> victims;       // who would be stopped for it, and first has to leave
  // How much of what was asked is given up, in thousandths; a domain, a place or
  // a model counts as a quarter, a priority as a half, a queue's limit by how
  // much it is raised. What the owner can change comes before all else.
  std::int64_t size = 0;
};

// As the list of changes is ordered: the smallest first.
bool is_smaller(const StartChange& a, const StartChange& b);

// The job as it would be submitted instead.
JobSpec changed(const JobSpec& spec, const StartChange& change);

// What has to be told an engine that knows the job: it is taken back and
// submitted anew as `instead`, or others allow it more.
std::vector<Event> events_of(const StartChange& change, const JobRecord& job, JobId instead);
// Which job starts then.
JobId who_starts(const StartChange& change, const JobRecord& job, JobId instead);

}  // namespace gridfold
