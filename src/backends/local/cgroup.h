// Control groups: how a task's limits are kept and how its whole tree is
// found, signalled, killed and seen to be gone.
//
// Three kinds of machine are served. Unified (v2): one hierarchy, cpu.max,
// memory.max with memory.oom.group, pids.max, cgroup.kill. Hybrid or v1: a
// hierarchy a controller, and a v2 hierarchy beside them that is used for
// cgroup.kill alone. None usable (no rights): nothing is made, can_track() is
// false, and limits are only in our books.
//
// Everything lies under gridfold/<instance>/ in each hierarchy, one folder a
// task. That parent is at the hierarchy's root as this process sees it, or in
// this process's own group where the group was delegated to it (systemd's
// Delegate=yes) or where it is all that may be written to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/local/files.h"
#include "backends/local/records.h"
#include "base/result.h"

namespace gridfold::local {

enum class CgroupVersion : std::uint8_t { kV1, kV2 };

// The group that the shims live in, beside their tasks'.
inline constexpr const char* kShimsGroup = "shims";

// One mounted hierarchy, as far as we use it.
struct CgroupHierarchy {
  CgroupVersion version = CgroupVersion::kV2;
  std::string folder;  // where gridfold/ is made
  bool cpu = false;
  bool memory = false;
  bool pids = false;
};

// Reads the mounts (the text of /proc/self/mountinfo) and this process's
// groups (/proc/self/cgroup). On v2 the controllers are filled in later, by
// trying.
std::vector<CgroupHierarchy> parse_hierarchies(std::string_view mountinfo,
                                               std::string_view own_groups);

// gridfold/<instance>/ in every usable hierarchy.
class CgroupParent {
 public:
  CgroupParent() = default;  // nothing usable
  // Makes the folders. What cannot be made is left out.
  static CgroupParent open(const std::string& instance);
  static CgroupParent open(const std::string& instance, std::vector<CgroupHierarchy> hierarchies);

  bool can_track() const { return !hierarchies_.empty(); }
  bool limits_cpu() const;
  bool limits_memory() const;
  bool limits_processes() const;

  // Moves this process to the group `name`, out of its caller's.
  void enter(const std::string& name) const;
  // Names of the groups beneath, sorted.
  std::vector<std::string> children() const;
  // Removes the parent where nothing is left beneath it.
  void remove_if_empty() const;

  // Each folder is that of gridfold/<instance>.
  const std::vector<CgroupHierarchy>& hierarchies() const { return hierarchies_; }

 private:
  std::vector<CgroupHierarchy> hierarchies_;
};

// The groups of one task. A plain value; nothing happens on destruction.
class TaskCgroup {
 public:
  TaskCgroup() = default;  // no groups: all calls do nothing
  TaskCgroup(const CgroupParent& parent, const std::string& name);

  // Makes the groups that the limits need and writes the limits.
  Result<void> create(const TaskLimits& limits);
  Result<void> attach(pid_t pid) const;

  // Every process of the task, in groups made beneath ours too.
  std::vector<pid_t> members() const;
  // Holds every member still, so that none forks while all are signalled;
  // false when that cannot be had. What is signalled meanwhile hears it on thaw.
  bool freeze() const;
  void thaw() const;
  // Kills every member; they may take a moment to be gone.
  void kill_all() const;
  // Removes the groups. False while a process is left.
  bool remove() const;

  // Readable when the kernel had to kill for want of memory. Not open where
  // the kernel kills the whole tree by itself, or there is no memory limit.
  FileDescriptor watch_memory() const;
  bool was_out_of_memory() const;

 private:
  std::vector<CgroupHierarchy> groups_;  // folder: this task's
};

}  // namespace gridfold::local
