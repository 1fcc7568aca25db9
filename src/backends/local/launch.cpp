#include "backends/local/launch.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

namespace gridfold::local {
namespace {

// In the child: says why on the failure pipe and ends.
class Failing {
 public:
  explicit Failing(int pipe) : pipe_(pipe) {}

  [[noreturn]] void fail(LaunchFault fault, const std::string& message) const {
    write_all(pipe_, (fault == LaunchFault::kJob ? "J" : "N") + message);
    ::_exit(127);
  }
  [[noreturn]] void fail_errno(LaunchFault fault, const std::string& what) const {
    fail(fault, what + ": " + std::strerror(errno));
  }

 private:
  int pipe_;
};

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void drop_rights(const ShimOrder& order, const Failing& failing) {
  if (order.run_as) {
    const auto [user, group] = *order.run_as;
    if (::setgroups(0, nullptr) != 0 || ::setresgid(group, group, group) != 0 ||
        ::setresuid(user, user, user) != 0) {
      failing.fail_errno(LaunchFault::kNode, "become user " + std::to_string(user));
    }
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    failing.fail_errno(LaunchFault::kNode, "set no_new_privs");
  }
}

// Lays one file out beneath the working directory, with the task's own rights.
// Renamed into place: several tasks of a job may lay out the same file.
void stage(int workdir, const StagedContent& staged, const std::string& suffix,
           const Failing& failing) {
  const auto fail = [&](const Error& error) {
    failing.fail(LaunchFault::kJob, "files: " + staged.path + ": " + error.message);
  };
  const std::size_t slash = staged.path.rfind('/');
  const std::string name = staged.path.substr(slash == std::string::npos ? 0 : slash + 1);
  FileDescriptor folder(::fcntl(workdir, F_DUPFD_CLOEXEC, 0));
  if (slash != std::string::npos) {
    auto made = make_folders_beneath(workdir, staged.path.substr(0, slash), 0777);
    if (!made) fail(made.error());
    folder = std::move(*made);
  }
  const std::string beside = ".gridfold-stage-" + suffix;
  ::unlinkat(folder.get(), beside.c_str(), 0);
  auto file = open_beneath(folder.get(), beside, O_WRONLY | O_CREAT | O_EXCL,
                           staged.executable ? 0777 : 0666);
  if (!file) fail(file.error());
  if (!write_all(file->get(), staged.content) || name.empty() || name == "." || name == ".." ||
      ::renameat(folder.get(), beside.c_str(), folder.get(), name.c_str()) != 0) {
    const Error error = from_errno(name.empty() ? EISDIR : errno, "write");
    ::unlinkat(folder.get(), beside.c_str(), 0);
    fail(error);
  }
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (auto& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// execve along the job's own PATH. Unlike execvp it never hands a file that is
// no program to a shell.
[[noreturn]] void become(const ShimOrder& order, const Failing& failing) {
  std::vector<std::string> command = order.command;
  std::vector<std::string> environment;
  for (const auto& [name, value] : order.environment) environment.push_back(name + "=" + value);
  const auto argv = pointers(command);
  const auto envp = pointers(environment);
  const std::string& program = order.command.front();
  int trouble = ENOENT;
  if (program.find('/') != std::string::npos) {
    ::execve(program.c_str(), argv.data(), envp.data());
    trouble = errno;
  } else {
    const auto path = order.environment.find("PATH");
    std::string_view rest = path == order.environment.end() ? "" : std::string_view(path->second);
    while (!rest.empty() && !program.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      const std::string candidate = std::string(rest.substr(0, end)) + "/" + program;
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ::execve(candidate.c_str(), argv.data(), envp.data());
      if (errno != ENOENT && errno != ENOTDIR) trouble = errno;
    }
  }
  errno = trouble;
  failing.fail_errno(LaunchFault::kJob, "cannot run " + program);
}

// The shim's lock above all: held by a child, it would outlive the shim.
void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned next = 3;
  for (const int file : kept) {
    const auto number = static_cast<unsigned>(file);
    if (number > next) ::syscall(SYS_close_range, next, number - 1, 0);
    next = std::max(next, number + 1);
  }
  ::syscall(SYS_close_range, next, ~0u, 0);
}

[[noreturn]] void run_child(const ShimOrder& order, const std::string& workdir, int output,
                            int errors, const std::string& score, int go, int failure) {
  const Failing failing(failure);
  close_all_but({output, errors, go, failure});
  // The shim owns the task: without it nobody would see the task end.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  char byte = 0;
  if (::read(go, &byte, 1) != 1) ::_exit(127);
  reset_signals();
  ::setsid();
  const int null = ::open("/dev/null", O_RDONLY);
  if (null < 0 || ::dup2(null, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(errors, 2) < 0) {
    failing.fail_errno(LaunchFault::kNode, "set up descriptors");
  }
  if (!score.empty()) {
    const FileDescriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
    if (file.is_open()) write_all(file.get(), score);
  }
  drop_rights(order, failing);
  // A change of user clears it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::umask(022);
  if (::chdir(workdir.c_str()) != 0) {
    failing.fail_errno(LaunchFault::kJob, "cannot enter the working directory " + workdir);
  }
  if (!order.files.empty()) {
    const auto folder = open_folder(".");
    if (!folder) failing.fail(LaunchFault::kJob, folder.error().message);
    for (const auto& file : order.files) stage(folder->get(), file, order.name.folder(), failing);
  }
  become(order, failing);
}

}  // namespace

Result<WaitingProcess> fork_waiting(const ShimOrder& order, const std::string& workdir, int output,
                                    int errors, const std::string& out_of_memory_score) {
  int go[2];
  int failure[2];
  if (::pipe2(go, O_CLOEXEC) != 0) return from_errno(errno, "make a pipe");
  FileDescriptor go_read(go[0]);
  WaitingProcess process{.go = FileDescriptor(go[1])};
  if (::pipe2(failure, O_CLOEXEC) != 0) return from_errno(errno, "make a pipe");
  process.failure = FileDescriptor(failure[0]);
  const FileDescriptor failure_write(failure[1]);
  process.pid = ::fork();
  if (process.pid < 0) return from_errno(errno, "fork the task");
  if (process.pid == 0) {
    process.go.reset();
    run_child(order, workdir, output, errors, out_of_memory_score, go[0], failure[1]);
  }
  return process;
}

void let_go(WaitingProcess& process) {
  write_all(process.go.get(), "g");
  process.go.reset();
}

std::optional<StartFailure> read_failure(const FileDescriptor& failure) {
  std::string text;
  char buffer[512];
  for (;;) {
    const ssize_t n = ::read(failure.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  if (text.empty()) return std::nullopt;
  return StartFailure{text[0] == 'J' ? LaunchFault::kJob : LaunchFault::kNode, text.substr(1)};
}

}  // namespace gridfold::local
