// What is written about one attempt, and where.
//
// The folder of an attempt is STATE/tasks/<job uid>/<task index>.<attempt>/:
//
//   order       what to run; written by the backend before the shim starts
//   shim        who the shim is: its pid and start time
//   lock        held (flock) by the shim as long as it lives
//   stop        how the task is to end; written by the backend
//   status      how far the attempt has come; written by the shim
//   stdout, stderr
//
// All but the logs are JSON and replaced whole. Readers ignore keys they do
// not know, so that a shim and a daemon of neighbouring versions agree.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/event.h"

namespace gridfold::local {

inline constexpr const char* kOrderFile = "order.json";
inline constexpr const char* kShimFile = "shim.json";
inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kStopFile = "stop.json";
inline constexpr const char* kStatusFile = "status.json";

// One attempt's name, and the paths that follow from it.
struct AttemptName {
  std::string job_uid;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  friend auto operator<=>(const AttemptName&, const AttemptName&) = default;

  std::string folder() const;  // "3.1", within the job's folder
  std::string path() const;    // "<job uid>/3.1", beneath STATE/tasks
  std::string cgroup() const;  // "<job uid>.3.1", one path component
  // Where the job may append its reports: in its own folder, not the shim's.
  std::string report(const std::string& state) const;
};
// Letters, digits, '-', '_' and '.', at most 64, not beginning with '.': fit
// to be the name of a folder.
bool is_safe_name(std::string_view text);
// "3.1" of job `job_uid`; empty when it is no attempt's folder.
std::optional<AttemptName> parse_attempt(std::string_view job_uid, std::string_view folder);
// The latest attempt of the same task that has a folder beneath STATE/tasks
// (open as `tasks`); 0 when there is none. An order of an earlier one is void.
std::uint32_t latest_attempt(int tasks, const AttemptName& name);

struct RunAs {
  uid_t user = 0;
  gid_t group = 0;
};

// The limits of one task; a value of 0 means none.
struct TaskLimits {
  std::int64_t cpu_thousandths = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t processes = 0;  // threads count too
};

struct StagedContent {
  std::string path;
  std::string content;
  bool executable = false;
};

// The partition of a real device that a task runs in.
struct TaskPartition {
  std::string device;  // uid
  std::string profile;
  std::int32_t start = 0;
  std::string uid;       // empty: not yet made
  std::string variable;  // of the environment, that names it to the program
};

// The whole of what a shim must know.
struct ShimOrder {
  TaskId task;
  AttemptName name;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::string workdir;  // absolute; empty: STATE/work/<job uid>
  std::vector<StagedContent> files;
  std::optional<RunAs> run_as;
  TaskLimits limits;
  std::int64_t log_limit_bytes = 0;  // a stream
  // How what outlives the first process is asked to end.
  std::string stop_signal = "TERM";
  std::int64_t stop_grace_ns = 0;
  std::uint64_t devices = 0;
  std::optional<TaskPartition> partition;
};

struct ShimIdentity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;  // clock ticks since boot, /proc/PID/stat field 22
};

// How a running task is to end: `signal` now, KILL when CLOCK_BOOTTIME has
// reached `deadline_ns`.
struct StopRequest {
  std::string signal = "TERM";
  std::int64_t deadline_ns = 0;
};

struct AttemptStatus {
  enum class Phase : std::uint8_t { kStarting, kStarted, kExited, kCleaned, kLaunchFailed };
  Phase phase = Phase::kStarting;
  ExitStatus exit;                         // from kExited on
  std::uint64_t dirty_devices = 0;         // kCleaned
  std::string message;                     // kLaunchFailed
  LaunchFault fault = LaunchFault::kNode;  // kLaunchFailed

  bool is_over() const { return phase == Phase::kCleaned || phase == Phase::kLaunchFailed; }
};

std::string to_json(const ShimOrder& order);
std::string to_json(const ShimIdentity& identity);
std::string to_json(const StopRequest& request);
std::string to_json(const AttemptStatus& status);

// Errors: kCorrupt with the reason.
Result<ShimOrder> parse_order(std::string_view json);
Result<ShimIdentity> parse_identity(std::string_view json);
Result<StopRequest> parse_stop(std::string_view json);
Result<AttemptStatus> parse_status(std::string_view json);

// Reads a record of an attempt's folder. kNotFound when it is not there.
Result<ShimOrder> read_order(int folder);
Result<ShimIdentity> read_identity(int folder);
Result<StopRequest> read_stop(int folder);
Result<AttemptStatus> read_status(int folder);
// An exit is on disk when this returns; the other phases only need to be seen
// in order, since a power cut leaves nothing running anyway.
Result<void> write_status(int folder, const AttemptStatus& status);

// "TERM" or "SIGTERM" to its number; empty when there is none of this name.
std::optional<int> signal_number(std::string_view name);

}  // namespace gridfold::local
