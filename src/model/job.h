// What a user asks for. Plain values, immutable once submitted; how they are
// written is in docs/formats.md, how they are read in wire/job_file.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/units.h"
#include "model/job_traffic.h"
#include "model/topology.h"
#include "model/training.h"

namespace gridfold {

// The classes are scheduled by different strategies, not different weights.
enum class WorkloadClass : std::uint8_t {
  kTrain,   // a gang near together on whole devices, never preempted by its equals
  kInfer,   // answers requests
  kFiller,  // takes what is left and gives it back within its grace
};
std::string_view to_string(WorkloadClass value);
std::optional<WorkloadClass> parse_workload_class(std::string_view text);

// Who chose a job's class: its user, or the rule for jobs that name none
// (model/job_class.h).
enum class ClassSource : std::uint8_t { kGiven, kFeatures };

// How the whole devices of one request lie to each other within their node. A
// device whose place is unknown satisfies none of these, except alone: one
// device is always near to itself.
enum class DevicePlace : std::uint8_t {
  kAny,
  kSingleNuma,  // all on one NUMA node
  kLinked,      // all in one island of direct links (NVLink, xGMI, HCCS)
  kSameSwitch,  // all under one PCIe switch
  kSpread,      // over the node's NUMA nodes: of each at most its even part, rounded up
};
// "any", "single_numa", …
std::string_view to_string(DevicePlace value);
std::optional<DevicePlace> parse_device_place(std::string_view text);

// Devices of one class that each task asks of its node.
//
// Whole devices: share == kWholeDevice. A slice: count == 1 with a smaller
// share, a memory amount, or both; `share` 0 with a memory means "accounted by
// memory only". A partition: count == 1, share 0, no memory, and the profile's
// name; at most one group of a task asks for one.
struct DeviceRequest {
  std::string device_class;          // "gpu", "npu", …
  std::int32_t count = 0;            // devices a task
  DeviceShare share = kWholeDevice;  // of each device
  Bytes memory;                      // of each device; 0: none asked beyond the share
  std::vector<std::string> models;   // any of these; empty: any model
  DevicePlace place = DevicePlace::kAny;
  std::string partition;  // "3g.40gb": a part of a device that is split so; empty: none
  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;

  bool is_whole() const { return share == kWholeDevice; }
};

// What one task asks of one node.
struct TaskRequest {
  MilliCores cpu;
  Bytes memory;
  std::vector<DeviceRequest> devices;
  friend bool operator==(const TaskRequest&, const TaskRequest&) = default;
};

// A group of alike tasks: at most `count`, at least `min`, and a multiple of
// `multiple_of`. With min < count the role may start with fewer tasks; of a job
// that declares training the number may also change later, by a restart.
struct Role {
  std::string name = "main";
  std::int32_t count = 1;
  std::int32_t min = 1;
  std::int32_t multiple_of = 1;
  std::int32_t preferred = 0;  // what the user would choose; 0: count
  TaskRequest each;
  // The program and its arguments. `run: "text"` in a job file means
  // {"/bin/sh", "-c", text}.
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
  // Roles of the job, by name: its tasks are launched once all of theirs run.
  // Room for all is held before any of them starts.
  std::vector<std::string> start_after;
  friend bool operator==(const Role&, const Role&) = default;
};

// A file that is laid into the working directory before the task starts.
struct StagedFile {
  std::string path;     // relative, beneath the working directory
  std::string content;  // any bytes
  bool executable = false;
  friend bool operator==(const StagedFile&, const StagedFile&) = default;
};

enum class RetryCause : std::uint8_t { kFailure, kNodeLost, kOutOfMemory };
std::string_view to_string(RetryCause value);
std::optional<RetryCause> parse_retry_cause(std::string_view text);

// A failed task is restarted in place, on the node and devices it holds.
struct Retry {
  std::int32_t max = 0;
  Duration backoff = Duration::seconds(1);  // doubled each time, at most 5 min
  std::vector<RetryCause> on = {RetryCause::kFailure, RetryCause::kNodeLost};
  friend bool operator==(const Retry&, const Retry&) = default;
};

enum class DependencyCondition : std::uint8_t { kOk, kAny, kFailed };
std::string_view to_string(DependencyCondition value);
std::optional<DependencyCondition> parse_dependency_condition(std::string_view text);

// An edge to a job that must have ended first. A job that never ran satisfies
// no edge.
struct Dependency {
  std::string job;  // as written: a name in the same batch, or an id
  DependencyCondition condition = DependencyCondition::kOk;
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

// How a task is asked to end: the signal, then KILL to the whole process tree
// when the grace is over.
struct Stop {
  std::string signal = "TERM";
  Duration grace = Duration::seconds(30);
  friend bool operator==(const Stop&, const Stop&) = default;
};

// What the job says about its checkpoints.
struct Checkpoint {
  std::string signal = "TERM";             // asks the job to save
  Duration grace = Duration::seconds(30);  // it needs at most this long
  Known<Duration> interval;                // saves by itself this often
  Known<Duration> cost;                    // one save takes this long
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

struct JobSpec {
  std::string name;
  std::string tenant = "default";
  std::string queue = "default";
  WorkloadClass workload_class = WorkloadClass::kTrain;
  ClassSource class_source = ClassSource::kGiven;
  std::int32_t priority = 0;  // higher first
  std::vector<Role> roles;
  TopologyWish topology;
  // Its ranks are the whole devices of all tasks, in order of the tasks; `data`
  // is that of the job with all its tasks.
  std::optional<JobTraffic> communication;
  std::map<std::string, std::string> env;
  std::string workdir;  // absolute, or empty: a directory of the job's own
  std::vector<StagedFile> files;
  std::vector<std::int32_t> ports;  // on which its tasks answer
  Retry retry;
  std::vector<Dependency> after;
  std::optional<std::int64_t> array_index;
  // Of an array: which of its jobs it is, from 0, and how many of them may be
  // started at a time as it was submitted; 0: any number.
  std::int32_t array_position = 0;
  std::int32_t array_limit = 0;
  Stop stop;
  std::optional<Checkpoint> checkpoint;
  std::optional<TrainingDeclaration> training;
  Limit<Duration> time_limit;
  friend bool operator==(const JobSpec&, const JobSpec&) = default;

  // Signal and grace by which its tasks are stopped: the checkpoint's, if any.
  Stop effective_stop() const {
    return checkpoint ? Stop{checkpoint->signal, checkpoint->grace} : stop;
  }
  std::int32_t task_count() const {
    std::int32_t n = 0;
    for (const auto& role : roles) n += role.count;
    return n;
  }
  // The role of task `index`, counted over all roles in order.
  const Role& role_of(std::uint32_t index) const {
    for (const auto& role : roles) {
      if (index < static_cast<std::uint32_t>(role.count)) return role;
      index -= static_cast<std::uint32_t>(role.count);
    }
    return roles.back();
  }
};

}  // namespace gridfold
