#include "backends/local/process_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <map>
#include <set>
#include <string>

#include "backends/local/files.h"

namespace gridfold::local {
namespace {

constexpr std::size_t kMaxProcFile = 8u << 20;

// The words of /proc/PID/stat after the program's name, which may hold spaces
// and brackets: state is word 0, the parent word 1, the start time word 19.
std::vector<std::string_view> stat_words(const std::string& text) {
  std::vector<std::string_view> words;
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return words;
  std::string_view rest = std::string_view(text).substr(std::min(bracket + 2, text.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

template <class Number>
Number number(std::string_view text) {
  Number value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  const auto proc = open_folder("/proc");
  if (!proc) return pids;
  for (const auto& name : list_folder(proc->get())) {
    if (name[0] >= '1' && name[0] <= '9') pids.push_back(number<pid_t>(name));
  }
  return pids;
}

std::string proc_file(pid_t pid, const char* name) {
  return read_file(AT_FDCWD, "/proc/" + std::to_string(pid) + "/" + name, kMaxProcFile)
      .value_or("");
}

}  // namespace

std::uint64_t start_time_of(pid_t pid) {
  const std::string text = proc_file(pid, "stat");
  const auto words = stat_words(text);
  return words.size() > 19 ? number<std::uint64_t>(words[19]) : 0;
}

std::vector<pid_t> descendants_of(pid_t ancestor) {
  std::multimap<pid_t, pid_t> children;
  std::set<pid_t> dead;  // zombies lead to nobody: their children have moved on
  for (const pid_t pid : all_processes()) {
    const std::string text = proc_file(pid, "stat");
    const auto words = stat_words(text);
    if (words.size() < 2) continue;
    children.emplace(number<pid_t>(words[1]), pid);
    if (words[0] == "Z" || words[0] == "X") dead.insert(pid);
  }
  std::vector<pid_t> found;
  std::vector<pid_t> open = {ancestor};
  while (!open.empty()) {
    const auto [begin, end] = children.equal_range(open.back());
    open.pop_back();
    for (auto it = begin; it != end; ++it) {
      open.push_back(it->second);
      if (!dead.contains(it->second)) found.push_back(it->second);
    }
  }
  return found;
}

void signal_each(const std::function<std::vector<pid_t>()>& members, int signal) {
  std::set<pid_t> told;
  for (int pass = 0; pass < 16; ++pass) {
    bool news = false;
    for (const pid_t pid : members()) {
      if (!told.insert(pid).second) continue;
      ::kill(pid, signal);
      news = true;
    }
    if (!news) return;
  }
}

std::vector<pid_t> processes_with_environment(std::string_view line) {
  std::vector<pid_t> found;
  const std::string wanted = '\0' + std::string(line) + '\0';
  for (const pid_t pid : all_processes()) {
    if (pid == ::getpid()) continue;
    if (('\0' + proc_file(pid, "environ")).find(wanted) != std::string::npos) found.push_back(pid);
  }
  return found;
}

}  // namespace gridfold::local
