// Follows the attempts of this node: orders in, events out, one thread.
//
// The folders are the truth; what is kept here is what has been seen of them.
// A shim's steps are heard by inotify on its folder and its death by a pidfd,
// whether we asked for it or found it when we began. A shim that is dead
// without an exit record has its tree killed, and its attempt is recorded as
// lost, under the lock that the shim would hold.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/local/cgroup.h"
#include "backends/local/files.h"
#include "backends/local/nursery.h"
#include "backends/local/partition_keeper.h"
#include "backends/local/records.h"
#include "backends/local/report_file.h"
#include "control/backend.h"

namespace gridfold::local {

struct MonitorOptions {
  std::string state;
  std::string program;                 // the binary with the shim in it
  std::vector<std::string> arguments;  // for it, after "shim"
  std::string node;
  // Makes the partitions that orders ask for; null: there are none.
  std::unique_ptr<PartitionKeeper> partitions;
};

class Monitor {
 public:
  Monitor(MonitorOptions options, CgroupParent cgroups);
  // Stops following; shims go on.
  ~Monitor();

  // Finds what runs already, then begins to report.
  Result<void> open(std::function<void(Event)> sink, std::vector<Event> first_events);

  // From any thread; the work is done on the monitor's own.
  void launch(ShimOrder order);
  void report(Event event);
  void stop(TaskId task, std::uint32_t attempt, std::string signal, Duration grace);
  void forget(TaskId task, std::uint32_t attempt);

  std::vector<ObservedTask> observe() const;
  // Whether an attempt, of any job or of this one, is known and not over.
  bool has_live() const;
  bool has_live_of(std::string_view job_uid) const;
  bool knows(std::string_view job_uid, TaskId task, std::uint32_t attempt) const;

 private:
  using Key = std::pair<TaskId, std::uint32_t>;
  using Command = std::function<void()>;

  struct Attempt {
    AttemptName name;
    AttemptStatus status;        // as last seen and reported
    FileDescriptor shim;         // pidfd; open while the shim is known to live
    int watch = -1;              // inotify
    bool may_have_stop = false;  // a stop record may lie there unheard
    bool inherited = false;      // of an earlier backend, which may not have begun it
    bool forget_when_over = false;
    ReportFile reports;
    bool asked_to_stop = false;
  };

  void post(Command command);
  void run();
  void run_commands();
  void hear_folders();
  void hear_nursery();
  void hear_death(const Key& key, int shim);

  void find_attempts();
  void remove_stray_groups();
  void begin(const Key& key, const ShimOrder& order);
  void prepare(const Key& key, const ShimOrder& order);
  Result<bool> write_order(const ShimOrder& order);
  void refuse(const Key& key, const std::string& message);
  void fail(const Key& key, const std::string& message);
  void request(const Key& key, const AttemptName& name);
  void follow(const Key& key, FileDescriptor shim);
  void adopt(const Key& key);
  bool was_never_begun(const Attempt& attempt, const FileDescriptor& folder) const;
  void recover(const Key& key, FileDescriptor folder);
  bool end_tree(const AttemptName& name) const;
  void watch(const Key& key);
  void look(const Key& key);
  void tell(const Key& key, const AttemptStatus& before, const AttemptStatus& now);
  void ask_to_stop(const Key& key, StopRequest request);
  int wait_milliseconds() const;
  void read_reports();
  void try_again();
  void drop(const Key& key);
  void release_partition(const Key& key);

  Result<FileDescriptor> folder_of(const AttemptName& name) const;
  Attempt* find(const Key& key);

  MonitorOptions options_;  // constant but for the end of `partitions`
  const CgroupParent cgroups_;
  std::function<void(Event)> sink_;  // constant once open
  FileDescriptor tasks_;             // STATE/tasks, constant once open
  FileDescriptor state_;             // STATE, constant once open

  mutable std::mutex mutex_;
  std::vector<Command> commands_;  // guarded by mutex_
  bool ending_ = false;            // guarded by mutex_
  // Guarded by mutex_. launch() adds; only the monitor's thread changes or
  // removes, and so may keep a pointer to an attempt.
  std::map<Key, Attempt> attempts_;

  // The monitor's thread only.
  FileDescriptor poll_, wake_, folders_;
  Nursery nursery_;
  std::map<int, Key> by_watch_;
  std::map<int, Key> by_shim_;
  std::map<std::string, Key> by_path_;  // awaiting the nursery's reply
  // Tried again and again: to be adopted; without a watch; orders and stops
  // that could not be written down.
  std::int64_t reports_due_ns_ = 0;  // CLOCK_BOOTTIME
  std::set<Key> unsettled_;
  std::set<Key> unwatched_;
  std::map<Key, ShimOrder> unbegun_;
  std::set<Key> preparing_;  // their partition is being made
  std::map<Key, StopRequest> unasked_;
  std::thread thread_;
};

}  // namespace gridfold::local
