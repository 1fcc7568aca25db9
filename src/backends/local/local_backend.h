// The local backend: processes of this machine, one shim a task.
//
//   LocalBackend backend({.node = this_machine, .state = "/var/lib/gridfold",
//                         .program = "/usr/bin/gridfold", .instance = "main"});
//   auto opened = backend.open(sink);
//   backend.launch(order);   // returns at once; the sink hears the rest
//
// A task outlives the backend and is found again by the next one on the same
// state directory. STATE/tasks/ holds the attempts' records and logs (see
// records.h), STATE/work/<job uid>/ the directory of a job that names none; it
// is kept between attempts, so that checkpoints survive, until remove_job().
//
// What the machine cannot do is said by capabilities(), never hidden: without
// rights to cgroups the limits are in the books only, and a task's tree is
// followed by ancestry.
//
// All calls may come from any thread; events come from a thread of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/local/cgroup.h"
#include "backends/local/environment.h"
#include "backends/local/files.h"
#include "backends/local/records.h"
#include "control/backend.h"
#include "devices/plugin_host.h"

namespace gridfold::local {

class Monitor;

enum class CgroupUse : std::uint8_t { kWherePossible, kNever };

struct LocalOptions {
  NodeSpec node;
  // Absolute. Made if it is not there; one backend at a time.
  std::string state;
  // The binary that runs shim_main() when called as `program shim …`.
  std::string program;
  // Names our cgroups: gridfold/<instance>. The same again after a restart,
  // and no other backend's on this machine.
  std::string instance;
  // What tasks get of the daemon's environment; see host_environment().
  Environment host;
  // Holds tasks to their slices of a device; see slice_limits.h. Empty: there is
  // none, and slices are accounted only.
  std::string slice_library;
  // Makes and removes the partitions of real devices that are given out in them.
  // Null: there are none.
  std::shared_ptr<PluginHost> plugins;
  // Tasks run as this user; as the daemon's when not set.
  std::optional<RunAs> run_as;
  CgroupUse cgroups = CgroupUse::kWherePossible;
  // Processes and threads of one task, so that a fork bomb hurts only itself.
  std::int64_t processes_per_task = 8192;
  // What a stream's log keeps. More is read, counted and dropped: the task
  // never waits for its own log, and the log's last line says how much.
  Bytes log_limit = Bytes(std::int64_t{1} << 30);
  // Tests only: where shims die (failpoint.h).
  std::string fail_at;
};

class LocalBackend final : public Backend {
 public:
  explicit LocalBackend(LocalOptions options);
  ~LocalBackend() override;

  Capabilities capabilities() const override;
  // kConflict when another backend has the state directory.
  Result<void> open(EventSink sink) override;
  void launch(const LaunchOrder& order) override;
  void stop(const StopOrder& order) override;
  void forget(TaskId task, std::uint32_t attempt) override;
  Result<Observation> observe() override;
  Result<LogChunk> read_log(std::string_view job_uid, TaskId task, std::uint32_t attempt,
                            LogStream stream, std::uint64_t offset, std::size_t limit) override;

  // Removes the job's logs and its own directory. kConflict while a task of
  // it is not over.
  Result<void> remove_job(const std::string& job_uid);

 private:
  bool remove_shims_group() const;
  // An order for a shim, or what is wrong with it.
  Result<ShimOrder> shim_order(const LaunchOrder& order) const;

  const LocalOptions options_;
  CgroupParent cgroups_;
  FileDescriptor state_, lock_;
  std::unique_ptr<Monitor> monitor_;
};

}  // namespace gridfold::local
