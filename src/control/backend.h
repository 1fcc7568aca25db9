// The backend port: whatever starts and stops work. Local processes, Slurm,
// Kubernetes and the simulated cluster implement it and pass one contract
// suite (tests/contracts/backend_contract.h).
//
// Orders are asynchronous and idempotent; what becomes of them comes back as
// events through the sink. Events are hints: the whole truth is observe(),
// which is asked on start and on a timer and compared by reconcile().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"

namespace gridfold {

// What the backend must know to start one attempt.
struct LaunchOrder {
  TaskId task;
  std::uint32_t attempt = 0;
  std::string job_uid;
  std::shared_ptr<const JobSpec> spec;  // shared with the engine's record: immutable
  std::string node;
  std::uint64_t devices = 0;  // bit i: device i of the node
  // Slot at which the task's partition begins; its profile is in the spec.
  std::int32_t start = kNoPartition;
  std::uint32_t rank = 0;  // among the tasks that run, from 0
  std::uint32_t world_size = 1;
  // Node of every running task by rank, for MASTER_ADDR and host lists.
  std::vector<std::string> peers;
};

struct StopOrder {
  TaskId task;
  std::uint32_t attempt = 0;
  std::string node;
  std::string signal;  // "TERM"; sent to the whole tree
  Duration grace;      // then KILL to the whole tree
};

// What a backend sees of one attempt.
struct ObservedTask {
  enum class Phase : std::uint8_t { kStarting, kRunning, kExited, kCleaned, kLaunchFailed };
  TaskId task;
  std::uint32_t attempt = 0;
  std::string node;
  Phase phase = Phase::kRunning;
  ExitStatus status;                // from kExited on
  std::uint64_t dirty_devices = 0;  // kCleaned
  std::string launch_message;       // kLaunchFailed, as in the event
  LaunchFault launch_fault = LaunchFault::kNode;
};

struct Observation {
  std::vector<NodeSpec> nodes;      // those in reach
  std::vector<std::string> fenced;  // out of reach, and it is certain that nothing runs there
  std::vector<ObservedTask> tasks;  // every attempt on them that is not forgotten
};

// Whether a limit is kept by force or only in our books.
enum class Enforcement : std::uint8_t { kEnforced, kAccounted };

struct Capabilities {
  Enforcement cpu = Enforcement::kAccounted;
  Enforcement memory = Enforcement::kAccounted;
  Enforcement device_share = Enforcement::kAccounted;
  Enforcement device_access = Enforcement::kAccounted;
  bool exact_devices = true;  // the devices we name are the ones given
  bool boots_nodes = false;   // of pools (model/node_pool.h)
};

// A piece of a task's output, by byte offset from its first byte.
struct LogChunk {
  std::string bytes;
  std::uint64_t next_offset = 0;
  bool ended = false;  // nothing will follow next_offset
};
enum class LogStream : std::uint8_t { kOutput, kError };

class Backend {
 public:
  virtual ~Backend() = default;

  // Called from any thread the backend owns; never from within a call below.
  using EventSink = std::function<void(Event)>;

  virtual Capabilities capabilities() const = 0;
  // Begins to report. Called once, before any order.
  virtual Result<void> open(EventSink sink) = 0;
  // An attempt that is already known is not started again.
  virtual void launch(const LaunchOrder& order) = 0;
  // Of an attempt that is not known: reports nothing. Asked again with a
  // shorter grace, the shorter holds.
  virtual void stop(const StopOrder& order) = 0;
  // The attempt's end is recorded in the store; the backend may drop its own
  // record (never its logs).
  virtual void forget(TaskId task, std::uint32_t attempt) = 0;
  // Only where it boots nodes. What becomes of a boot is told as NodeJoined or
  // NodeBootFailed, of a release as NodeLost, fenced. A node that is on, or boots
  // already, is not booted again; one that boots is released as well.
  virtual void boot(const NodeSpec&) {}
  virtual void release(const std::string&) {}
  virtual Result<Observation> observe() = 0;
  // Output of an attempt from `offset`, at most `limit` bytes. kNotFound when
  // there is none.
  virtual Result<LogChunk> read_log(std::string_view job_uid, TaskId task, std::uint32_t attempt,
                                    LogStream stream, std::uint64_t offset, std::size_t limit) = 0;
};

}  // namespace gridfold
