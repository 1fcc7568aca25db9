#include "devices/cgroup_limits.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "base/quote.h"

namespace gridfold {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) out.push_back(part);
  return out;
}

// First line of a file; empty optional when there is no such file.
std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) return std::nullopt;
  return line;
}

// A hierarchy and where this process stands in it.
struct Hierarchy {
  std::vector<std::string> controllers;  // {"cpu", "cpuacct"}; empty: version 2
  std::string path;                      // as /proc/self/cgroup says

  bool has(const std::string& controller) const {
    return controllers.empty() ||
           std::find(controllers.begin(), controllers.end(), controller) != controllers.end();
  }
};

// Lines such as "4:memory:/a/b" and "0::/a/b".
std::vector<Hierarchy> read_hierarchies(const std::string& root) {
  std::vector<Hierarchy> out;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    out.push_back(
        {split(line.substr(first + 1, second - first - 1), ','), line.substr(second + 1)});
  }
  return out;
}

struct Mount {
  std::string root;   // the part of the hierarchy that is mounted
  std::string point;  // where
  std::vector<std::string> options;
  bool version_2 = false;
};

// "36 35 0:30 /root /point rw,... shared:9 - cgroup cgroup rw,memory"
std::vector<Mount> read_mounts(const std::string& root) {
  std::vector<Mount> out;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const auto dash = line.find(" - ");
    if (dash == line.npos) continue;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    if (after[0] != "cgroup" && after[0] != "cgroup2") continue;
    out.push_back({before[3], before[4], split(after[2], ','), after[0] == "cgroup2"});
  }
  return out;
}

const Mount* mount_of(const Hierarchy& hierarchy, const std::vector<Mount>& mounts) {
  for (const auto& mount : mounts) {
    if (mount.version_2 != hierarchy.controllers.empty()) continue;
    if (mount.version_2) return &mount;
    const auto& options = mount.options;
    if (std::find(options.begin(), options.end(), hierarchy.controllers[0]) != options.end()) {
      return &mount;
    }
  }
  return nullptr;
}

// The folders from the process's own group up to the mount point.
std::vector<std::string> levels_of(const Hierarchy& hierarchy, const Mount& mount) {
  std::string relative = hierarchy.path;
  if (mount.root != "/") {
    // Only a part is mounted, as in a container; what lies outside is not ours
    // to see, and then the mount point stands for our group.
    const bool beneath =
        relative.compare(0, mount.root.size(), mount.root) == 0 &&
        (relative.size() == mount.root.size() || relative[mount.root.size()] == '/');
    relative = beneath ? relative.substr(mount.root.size()) : "";
  }
  if (relative.find("/..") != relative.npos) relative.clear();
  std::vector<std::string> out;
  while (!relative.empty() && relative != "/") {
    out.push_back(mount.point + relative);
    relative.resize(relative.rfind('/'));
  }
  out.push_back(mount.point);
  return out;
}

Error unreadable(const std::string& path, const std::string& text) {
  return internal("control group limit " + path + " does not read: " + quote(text));
}

template <class T>
void tighten(Limit<T>& limit, T bound) {
  if (limit.allows(bound)) limit = bound;
}

Result<void> tighten_cpu(const std::string& path, const std::string& quota,
                         const std::string& period, Limit<MilliCores>& limit) {
  if (quota == "max" || quota == "-1") return {};
  const auto used = parse_count(quota);
  const auto of = parse_count(period);
  std::int64_t thousandths = 0;
  if (!used || !of || *of == 0 || __builtin_mul_overflow(*used, 1000, &thousandths)) {
    return unreadable(path, quota + " " + period);
  }
  tighten(limit, MilliCores(thousandths / *of));
  return {};
}

Result<void> read_cpu(const std::string& folder, bool version_2, Limit<MilliCores>& limit) {
  if (version_2) {
    const auto line = first_line(folder + "/cpu.max");
    if (!line) return {};
    const auto parts = split(*line, ' ');
    if (parts.size() != 2) return unreadable(folder + "/cpu.max", *line);
    return tighten_cpu(folder + "/cpu.max", parts[0], parts[1], limit);
  }
  const auto quota = first_line(folder + "/cpu.cfs_quota_us");
  const auto period = first_line(folder + "/cpu.cfs_period_us");
  if (!quota || !period) return {};
  return tighten_cpu(folder + "/cpu.cfs_quota_us", *quota, *period, limit);
}

Result<void> read_memory(const std::string& folder, bool version_2, Limit<Bytes>& limit) {
  const std::string path = folder + (version_2 ? "/memory.max" : "/memory.limit_in_bytes");
  const auto line = first_line(path);
  if (!line || *line == "max") return {};
  const auto bytes = parse_count(*line);
  if (!bytes) return unreadable(path, *line);
  tighten(limit, Bytes(*bytes));
  return {};
}

}  // namespace

Result<CgroupLimits> read_cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  const auto mounts = read_mounts(root);
  for (const auto& hierarchy : read_hierarchies(root)) {
    const Mount* mount = mount_of(hierarchy, mounts);
    if (mount == nullptr) continue;
    for (const auto& level : levels_of(hierarchy, *mount)) {
      const std::string folder = root + level;
      if (hierarchy.has("cpu")) {
        if (auto read = read_cpu(folder, mount->version_2, limits.cpu); !read) return read.error();
      }
      if (hierarchy.has("memory")) {
        auto read = read_memory(folder, mount->version_2, limits.memory);
        if (!read) return read.error();
      }
    }
  }
  return limits;
}

}  // namespace gridfold
