#include "control/start_change.h"

#include <tuple>

namespace gridfold {

std::string_view to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kRelease: return "release";
    case ChangeKind::kTasks: return "tasks";
    case ChangeKind::kDevices: return "devices";
    case ChangeKind::kDeviceShare: return "device_share";
    case ChangeKind::kDeviceMemory: return "device_memory";
    case ChangeKind::kCpu: return "cpu";
    case ChangeKind::kMemory: return "memory";
    case ChangeKind::kDomain: return "domain";
    case ChangeKind::kPlace: return "place";
    case ChangeKind::kModel: return "model";
    case ChangeKind::kTimeLimit: return "time_limit";
    case ChangeKind::kArrayLimit: return "array_limit";
    case ChangeKind::kQueueLimit: return "queue_limit";
    case ChangeKind::kPriority: return "priority";
  }
  return "";
}

bool is_smaller(const StartChange& a, const StartChange& b) {
  const auto key = [](const StartChange& change) {
    return std::tuple(!is_owners(change.kind), change.size, change.kind, change.role, change.group);
  };
  return key(a) < key(b);
}

JobSpec changed(const JobSpec& spec, const StartChange& change) {
  JobSpec made = spec;
  made.array_limit = 0;  // it takes the turn of the one that it stands for
  Role& role = made.roles[change.role];
  DeviceRequest* group =
      change.group < role.each.devices.size() ? &role.each.devices[change.group] : nullptr;
  switch (change.kind) {
    case ChangeKind::kRelease:
    case ChangeKind::kArrayLimit:
    case ChangeKind::kQueueLimit: break;
    case ChangeKind::kTasks:
      // A gang of a fixed size gets smaller, another is content with less.
      if (role.min == role.count) role.count = static_cast<std::int32_t>(change.to);
      role.min = static_cast<std::int32_t>(change.to);
      role.preferred = 0;
      break;
    case ChangeKind::kDevices: group->count = static_cast<std::int32_t>(change.to); break;
    case ChangeKind::kDeviceShare: group->share = DeviceShare(change.to); break;
    case ChangeKind::kDeviceMemory: group->memory = Bytes(change.to); break;
    case ChangeKind::kCpu: role.each.cpu = MilliCores(change.to); break;
    case ChangeKind::kMemory: role.each.memory = Bytes(change.to); break;
    case ChangeKind::kDomain:
      made.topology.require = change.to_name;
      if (change.to_name.empty()) made.topology = {};
      break;
    case ChangeKind::kPlace: group->place = DevicePlace::kAny; break;
    case ChangeKind::kModel: group->models.push_back(change.to_name); break;
    case ChangeKind::kTimeLimit: made.time_limit = Duration{change.to}; break;
    case ChangeKind::kPriority: made.priority = static_cast<std::int32_t>(change.to); break;
  }
  return made;
}

std::vector<Event> events_of(const StartChange& change, const JobRecord& job, JobId instead) {
  std::vector<Event> events;
  if (change.kind == ChangeKind::kRelease) {
    events.emplace_back(JobReleaseRequested{job.id, ""});
  } else if (change.kind == ChangeKind::kArrayLimit) {
    JobChangeRequested more;
    more.job = job.id;
    more.array_limit = static_cast<std::int32_t>(change.to);
    events.emplace_back(std::move(more));
  } else if (change.kind == ChangeKind::kQueueLimit) {
    for (const RaisedLimit& raised : change.limits)
      events.emplace_back(QueueConfigured{raised.queue});
  } else {
    events.emplace_back(JobCancelRequested{job.id, ""});
    JobSubmitted again{
        instead,       "",       std::make_shared<const JobSpec>(changed(*job.spec, change)),
        job.waits_for, job.held, std::nullopt};
    events.emplace_back(std::move(again));
  }
  return events;
}

JobId who_starts(const StartChange& change, const JobRecord& job, JobId instead) {
  const bool same = change.kind == ChangeKind::kRelease || change.kind == ChangeKind::kArrayLimit ||
                    change.kind == ChangeKind::kQueueLimit;
  return same ? job.id : instead;
}

}  // namespace gridfold
