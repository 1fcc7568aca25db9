#include "backends/local/cgroup.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <set>

#include "backends/local/process_tree.h"

namespace gridfold::local {
namespace {

constexpr std::size_t kMaxControlFile = 4u << 20;

bool make_folder(const std::string& path) {
  return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

// One write, as control files want it. Leaves errno.
bool write_control(const std::string& path, std::string_view value) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.is_open() &&
         ::write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

std::string read_control(const std::string& path) {
  return read_file(AT_FDCWD, path, kMaxControlFile).value_or("");
}

Result<void> must_write(const std::string& path, const std::string& value) {
  if (!write_control(path, value)) return from_errno(errno, "write " + value + " to " + path);
  return {};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> subgroups(const std::string& folder) {
  std::vector<std::string> names;
  const auto opened = open_folder(folder);
  if (!opened) return names;
  for (auto& name : list_folder(opened->get())) {
    struct stat about {};
    if (::fstatat(opened->get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(about.st_mode)) {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void collect_members(const std::string& folder, std::vector<pid_t>& pids) {
  const std::string text = read_control(folder + "/cgroup.procs");
  for (const auto line : split(text, '\n')) {
    pid_t pid = 0;
    std::from_chars(line.data(), line.data() + line.size(), pid);
    if (pid > 0) pids.push_back(pid);  // 0: of another pid namespace
  }
  for (const auto& name : subgroups(folder)) collect_members(folder + "/" + name, pids);
}

bool remove_group(const std::string& folder) {
  if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return true;
  for (const auto& name : subgroups(folder)) {
    if (!remove_group(folder + "/" + name)) return false;
  }
  return ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

// The value of "name N" in a control file of such lines.
std::int64_t counter(const std::string& text, std::string_view name) {
  for (const auto line : split(text, '\n')) {
    if (line.size() <= name.size() || !line.starts_with(name) || line[name.size()] != ' ') continue;
    std::int64_t value = 0;
    std::from_chars(line.data() + name.size() + 1, line.data() + line.size(), value);
    return value;
  }
  return 0;
}

bool is_delegated(const std::string& folder) {
  char value = 0;
  return ::getxattr(folder.c_str(), "trusted.delegate", &value, 1) == 1 ||
         ::getxattr(folder.c_str(), "user.delegate", &value, 1) == 1;
}

// This process's own group in the v2 hierarchy, as text of /proc/self/cgroup.
std::string own_unified_group(std::string_view own_groups) {
  for (const auto line : split(own_groups, '\n')) {
    if (line.starts_with("0::")) return std::string(line.substr(3));
  }
  return "/";
}

// Gives children of `folder` the controllers that they can have. A group with
// processes of its own cannot: then this process, often the only one, steps
// aside into a leaf.
void enable_controllers(const std::string& folder) {
  for (const char* controller : {"+cpu", "+memory", "+pids"}) {
    if (write_control(folder + "/cgroup.subtree_control", controller) || errno != EBUSY) continue;
    const std::string aside = folder + "/gridfold-daemon";
    if (make_folder(aside) && write_control(aside + "/cgroup.procs", "0")) {
      write_control(folder + "/cgroup.subtree_control", controller);
    }
  }
}

// Makes gridfold/<instance> in one hierarchy; false when that is not allowed.
bool prepare(CgroupHierarchy& hierarchy, const std::string& instance) {
  const std::string ours = hierarchy.folder + "/gridfold";
  const std::string parent = ours + "/" + instance;
  if (!make_folder(ours)) return false;
  const bool v2 = hierarchy.version == CgroupVersion::kV2;
  if (v2) {
    enable_controllers(hierarchy.folder);
    enable_controllers(ours);
  }
  if (!make_folder(parent) || ::access(parent.c_str(), W_OK) != 0) return false;
  if (v2) {
    const std::string given = read_control(parent + "/cgroup.controllers");
    const std::string_view line(given.data(), std::min(given.find('\n'), given.size()));
    const auto controllers = split(line, ' ');
    hierarchy.cpu = contains(controllers, "cpu");
    hierarchy.memory = contains(controllers, "memory");
    hierarchy.pids = contains(controllers, "pids");
    enable_controllers(parent);
  }
  hierarchy.folder = parent;
  return true;
}

}  // namespace

std::vector<CgroupHierarchy> parse_hierarchies(std::string_view mountinfo,
                                               std::string_view own_groups) {
  std::vector<CgroupHierarchy> found;
  for (const auto line : split(mountinfo, '\n')) {
    // "ID PARENT DEVICE ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPER_OPTIONS"
    const auto words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || words.end() - dash < 4) continue;
    CgroupHierarchy hierarchy{.folder = std::string(words[4])};
    const std::string_view root = words[3];
    if (dash[1] == "cgroup2") {
      std::string own = own_unified_group(own_groups);
      if (root != "/" && own.starts_with(root)) own.erase(0, root.size());
      const std::string own_folder = own == "/" ? hierarchy.folder : hierarchy.folder + own;
      if (is_delegated(own_folder) || ::geteuid() != 0) hierarchy.folder = own_folder;
    } else if (dash[1] == "cgroup") {
      const auto options = split(dash[3], ',');
      hierarchy.version = CgroupVersion::kV1;
      hierarchy.cpu = contains(options, "cpu");
      hierarchy.memory = contains(options, "memory");
      hierarchy.pids = contains(options, "pids");
      if (!hierarchy.cpu && !hierarchy.memory && !hierarchy.pids) continue;
    } else {
      continue;
    }
    const auto same = [&](const CgroupHierarchy& other) {
      return other.version == hierarchy.version && other.cpu == hierarchy.cpu &&
             other.memory == hierarchy.memory && other.pids == hierarchy.pids;
    };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(std::move(hierarchy));
  }
  // The first one tells who belongs to a task: v2 for its cgroup.kill, else
  // pids, where no member can fork away.
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const CgroupHierarchy& h) {
      return h.version == CgroupVersion::kV2 ? 0 : h.pids ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  return found;
}

CgroupParent CgroupParent::open(const std::string& instance) {
  return open(instance, parse_hierarchies(read_control("/proc/self/mountinfo"),
                                          read_control("/proc/self/cgroup")));
}

CgroupParent CgroupParent::open(const std::string& instance,
                                std::vector<CgroupHierarchy> hierarchies) {
  CgroupParent parent;
  for (auto& hierarchy : hierarchies) {
    if (prepare(hierarchy, instance)) parent.hierarchies_.push_back(std::move(hierarchy));
  }
  return parent;
}

bool CgroupParent::limits_cpu() const {
  return std::any_of(hierarchies_.begin(), hierarchies_.end(), [](auto& h) { return h.cpu; });
}
bool CgroupParent::limits_memory() const {
  return std::any_of(hierarchies_.begin(), hierarchies_.end(), [](auto& h) { return h.memory; });
}
bool CgroupParent::limits_processes() const {
  return std::any_of(hierarchies_.begin(), hierarchies_.end(), [](auto& h) { return h.pids; });
}

void CgroupParent::enter(const std::string& name) const {
  for (const auto& hierarchy : hierarchies_) {
    const std::string folder = hierarchy.folder + "/" + name;
    if (make_folder(folder)) write_control(folder + "/cgroup.procs", "0");
  }
}

std::vector<std::string> CgroupParent::children() const {
  std::set<std::string> names;
  for (const auto& hierarchy : hierarchies_) {
    for (auto& name : subgroups(hierarchy.folder)) names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

void CgroupParent::remove_if_empty() const {
  for (const auto& hierarchy : hierarchies_) {
    // rmdir refuses while a group lies beneath.
    if (::rmdir(hierarchy.folder.c_str()) == 0) {
      ::rmdir(hierarchy.folder.substr(0, hierarchy.folder.rfind('/')).c_str());
    }
  }
}

TaskCgroup::TaskCgroup(const CgroupParent& parent, const std::string& name)
    : groups_(parent.hierarchies()) {
  for (auto& group : groups_) group.folder += "/" + name;
}

Result<void> TaskCgroup::create(const TaskLimits& limits) {
  std::vector<CgroupHierarchy> used;
  for (auto& group : groups_) {
    const bool cpu = group.cpu && limits.cpu_thousandths > 0;
    const bool memory = group.memory && limits.memory_bytes > 0;
    const bool pids = group.pids && limits.processes > 0;
    if (!used.empty() && !cpu && !memory && !pids) continue;
    if (!make_folder(group.folder)) return from_errno(errno, "make cgroup " + group.folder);
    const bool v2 = group.version == CgroupVersion::kV2;
    Result<void> done;
    if (memory) {
      const std::string bytes = std::to_string(limits.memory_bytes);
      done = must_write(group.folder + (v2 ? "/memory.max" : "/memory.limit_in_bytes"), bytes);
      // Swap would hide the limit; kernels without swap accounting lack these.
      write_control(group.folder + (v2 ? "/memory.swap.max" : "/memory.memsw.limit_in_bytes"),
                    v2 ? "0" : bytes);
      if (v2 && done) done = must_write(group.folder + "/memory.oom.group", "1");
    }
    if (cpu && done) {
      // A period of a second lets the smallest share, a thousandth, be the
      // kernel's smallest quota; larger shares get the usual tenth.
      const std::int64_t period = limits.cpu_thousandths < 10 ? 1'000'000 : 100'000;
      const std::string quota = std::to_string(limits.cpu_thousandths * (period / 1000));
      if (v2) {
        done = must_write(group.folder + "/cpu.max", quota + " " + std::to_string(period));
      } else {
        done = must_write(group.folder + "/cpu.cfs_period_us", std::to_string(period));
        if (done) done = must_write(group.folder + "/cpu.cfs_quota_us", quota);
      }
    }
    if (pids && done) {
      done = must_write(group.folder + "/pids.max", std::to_string(limits.processes));
    }
    if (!done) return done;
    used.push_back(group);
    used.back().memory = memory;
  }
  groups_ = std::move(used);
  return {};
}

Result<void> TaskCgroup::attach(pid_t pid) const {
  for (const auto& group : groups_) {
    if (auto done = must_write(group.folder + "/cgroup.procs", std::to_string(pid)); !done) {
      return done;
    }
  }
  return {};
}

std::vector<pid_t> TaskCgroup::members() const {
  std::vector<pid_t> pids;
  if (!groups_.empty()) collect_members(groups_.front().folder, pids);
  return pids;
}

bool TaskCgroup::freeze() const {
  if (groups_.empty() || !write_control(groups_.front().folder + "/cgroup.freeze", "1"))
    return false;
  for (int tries = 0; tries < 200; ++tries) {
    if (counter(read_control(groups_.front().folder + "/cgroup.events"), "frozen") == 1)
      return true;
    ::usleep(1000);
  }
  thaw();
  return false;
}

void TaskCgroup::thaw() const {
  if (!groups_.empty()) write_control(groups_.front().folder + "/cgroup.freeze", "0");
}

void TaskCgroup::kill_all() const {
  if (groups_.empty()) return;
  if (write_control(groups_.front().folder + "/cgroup.kill", "1")) return;
  for (const auto& group : groups_) {
    if (group.pids) write_control(group.folder + "/pids.max", "0");  // nobody forks away
  }
  signal_each([this] { return members(); }, SIGKILL);
}

bool TaskCgroup::remove() const {
  bool gone = true;
  for (const auto& group : groups_) gone = remove_group(group.folder) && gone;
  return gone;
}

FileDescriptor TaskCgroup::watch_memory() const {
  for (const auto& group : groups_) {
    if (!group.memory || group.version == CgroupVersion::kV2) continue;
    const FileDescriptor control(
        ::open((group.folder + "/memory.oom_control").c_str(), O_RDONLY | O_CLOEXEC));
    FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    const std::string line = std::to_string(event.get()) + " " + std::to_string(control.get());
    if (write_control(group.folder + "/cgroup.event_control", line)) return event;
  }
  return {};
}

bool TaskCgroup::was_out_of_memory() const {
  for (const auto& group : groups_) {
    if (!group.memory) continue;
    const bool v2 = group.version == CgroupVersion::kV2;
    const auto text = read_control(group.folder + (v2 ? "/memory.events" : "/memory.oom_control"));
    if (counter(text, "oom_kill") > 0) return true;
  }
  return false;
}

}  // namespace gridfold::local
