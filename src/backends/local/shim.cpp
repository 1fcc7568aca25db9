#include "backends/local/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <limits>
#include <set>

#include "backends/local/failpoint.h"
#include "backends/local/launch.h"
#include "backends/local/log_writer.h"
#include "backends/local/process_tree.h"

namespace gridfold::local {
namespace {

using Phase = AttemptStatus::Phase;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr int kMemoryLooks = 500;  // 10 ms apart
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// How long a killed tree may take to be gone before its devices are given up
// as dirty: a process stuck in a driver cannot be killed by anyone.
constexpr std::int64_t kStuckAfter = 60'000 * kMillisecond;

std::int64_t boot_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

sigset_t shim_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  ::sigaddset(&set, SIGUSR1);  // "look at the stop record"
  return set;
}

// Does the work again while the disk is full, which is no fault of the job or
// the node.
template <class Work>
auto once_there_is_room(Work work) {
  auto done = work();
  while (!done && done.error().kind == ErrorKind::kUnavailable) {
    const timespec pause{0, 200'000'000};
    ::nanosleep(&pause, nullptr);
    done = work();
  }
  return done;
}

class Shim {
 public:
  Shim(const ShimContext& context, const AttemptName& name) : context_(context), name_(name) {}

  int run() {
    if (!take_folder()) return 0;
    if (auto failure = start()) {
      finish_failed_launch(*failure);
      return 0;
    }
    while (!done_) wait_and_handle();
    return 0;
  }

 private:
  // --- beginning ---

  // True when this attempt is ours to run: nobody holds it, nobody has, and
  // no later attempt of the task was ordered (fencing).
  bool take_folder() {
    const auto tasks = open_folder(context_.state + "/tasks");
    if (!tasks) return false;
    auto folder = open_beneath(tasks->get(), name_.path(), O_RDONLY | O_DIRECTORY);
    if (!folder) return false;
    folder_ = std::move(*folder);
    lock_ = FileDescriptor(
        ::openat(folder_.get(), kLockFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock_.is_open() || ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) return false;
    if (::faccessat(folder_.get(), kStatusFile, F_OK, AT_SYMLINK_NOFOLLOW) == 0) return false;
    const std::uint32_t latest = latest_attempt(tasks->get(), name_);
    if (latest <= name_.attempt) return true;
    finish_failed_launch({LaunchFault::kNode, "attempt " + std::to_string(name_.attempt) +
                                                  " is older than attempt " +
                                                  std::to_string(latest)});
    return false;
  }

  std::optional<StartFailure> start() {
    const auto node_fault = [](const Error& error) {
      return StartFailure{LaunchFault::kNode, error.message};
    };
    auto order = read_order(folder_.get());
    if (!order) return node_fault(order.error());
    order_ = std::move(*order);
    const ShimIdentity identity{::getpid(), start_time_of(::getpid())};
    auto done = once_there_is_room([&] {
      return replace_file(folder_.get(), kShimFile, to_json(identity), Durability::kOrdered);
    });
    if (!done) return node_fault(done.error());
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const sigset_t set = shim_signals();
    signals_ = FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    cgroup_ = TaskCgroup(context_.cgroups, name_.cgroup());
    for (auto [log, file] : {std::pair{&output_, "stdout"}, std::pair{&errors_, "stderr"}}) {
      auto made = once_there_is_room([&, name = file] {
        return LogWriter::create(folder_.get(), name, order_.log_limit_bytes);
      });
      if (!made) return node_fault(made.error());
      *log = std::move(*made);
    }
    if (done = cgroup_.create(order_.limits); !done) return node_fault(done.error());
    memory_ = cgroup_.watch_memory();
    return start_process();
  }

  std::optional<StartFailure> start_process() {
    auto workdir = once_there_is_room([this] { return prepare_workdir(); });
    if (!workdir) return StartFailure{LaunchFault::kNode, workdir.error().message};
    auto process = fork_waiting(order_, *workdir, output_.task_end(), errors_.task_end(),
                                context_.out_of_memory_score);
    if (!process) return StartFailure{LaunchFault::kNode, process.error().message};
    first_ = process->pid;
    failure_ = std::move(process->failure);
    output_.close_task_end();
    errors_.close_task_end();
    if (auto done = cgroup_.attach(first_); !done) {
      process->go.reset();  // the child ends by itself
      return StartFailure{LaunchFault::kNode, done.error().message};
    }
    failpoint("runtime.before_exec");
    let_go(*process);
    read_stop_record();
    return std::nullopt;
  }

  // The job's own folder is made here, with the shim's rights, and given away.
  // Its reports go there even when it works elsewhere.
  Result<std::string> prepare_workdir() {
    const std::string path = context_.state + "/work/" + name_.job_uid;
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno != EEXIST) return from_errno(errno, "make folder " + path);
    } else if (order_.run_as &&
               ::lchown(path.c_str(), order_.run_as->user, order_.run_as->group) != 0) {
      return from_errno(errno, "give away folder " + path);
    }
    return order_.workdir.empty() ? path : order_.workdir;
  }

  // --- the loop ---

  void wait_and_handle() {
    pollfd files[] = {{signals_.get(), POLLIN, 0},
                      {output_.pipe(), POLLIN, 0},
                      {errors_.pipe(), POLLIN, 0},
                      {failure_.get(), POLLIN, 0},
                      {memory_.get(), POLLIN, 0}};
    ::poll(files, std::size(files), wait_milliseconds());
    if (files[1].revents) output_.drain();
    if (files[2].revents) errors_.drain();
    if (files[3].revents) learn_start();
    if (files[4].revents) hear_memory();
    look_at_memory();
    if (files[0].revents) hear_signals();
    keep_deadline();
    if (exited_) look_for_the_end();
  }

  int wait_milliseconds() const {
    const std::int64_t next = std::min(deadline_, exited_ ? next_look_ : kNever);
    const std::int64_t most = memory_looks_ > 0 ? 10 : 60'000;
    if (next == kNever) return memory_looks_ > 0 ? 10 : -1;
    const std::int64_t left = next - boot_time_ns();
    return static_cast<int>(std::clamp<std::int64_t>(left / kMillisecond + 1, 0, most));
  }

  void hear_signals() {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGUSR1) read_stop_record();
    }
    // Signals merge, so children are asked for whenever one was heard.
    reap();
  }

  // The kernel tells before it has chosen and killed a process, so whether it
  // did is looked at for a while.
  void hear_memory() {
    std::uint64_t count = 0;
    if (::read(memory_.get(), &count, sizeof count) > 0) {
      memory_looks_ = kMemoryLooks;
    }
  }

  void look_at_memory() {
    if (memory_looks_ == 0 || out_of_memory_) return;
    --memory_looks_;
    if (!cgroup_.was_out_of_memory()) return;
    out_of_memory_ = true;
    memory_looks_ = 0;
    kill_tree();
  }

  void reap() {
    for (;;) {
      int how = 0;
      const pid_t pid = ::waitpid(-1, &how, WNOHANG);
      if (pid < 0 && errno == EINTR) continue;
      has_children_ = pid == 0;
      if (pid <= 0) return;
      if (pid == first_ && !exited_) first_ended(how);
    }
  }

  // --- what was seen ---

  // The failure pipe has ended: the program runs, or could not be started.
  void learn_start() {
    if (!failure_.is_open()) return;
    start_failure_ = read_failure(failure_);
    failure_.reset();
    if (start_failure_) return;  // the child's end is next
    status_.phase = Phase::kStarted;
    // A hint only: the exit record carries the same truth.
    (void)write_status(folder_.get(), status_);
    failpoint("runtime.after_exec");
  }

  void first_ended(int how) {
    learn_start();
    exited_ = true;
    if (start_failure_) return;
    failpoint("shim.exit_seen");
    status_.phase = Phase::kExited;
    status_.exit.code = WIFEXITED(how) ? WEXITSTATUS(how) : 0;
    status_.exit.signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    out_of_memory_ = out_of_memory_ || cgroup_.was_out_of_memory();
    status_.exit.out_of_memory = out_of_memory_;
    record();
    failpoint("shim.exit_fsynced");
  }

  // --- stopping ---

  void read_stop_record() {
    const auto request = read_stop(folder_.get());
    if (!request) return;
    deadline_ = std::min(deadline_, request->deadline_ns);
    if (request->signal == asked_with_) return;
    asked_with_ = request->signal;
    ask_tree(request->signal);
  }

  std::vector<pid_t> tree() const {
    std::vector<pid_t> pids = cgroup_.members();
    // What left the cgroup is still below us: nothing escapes its subreaper.
    for (const pid_t pid : descendants_of(::getpid())) pids.push_back(pid);
    return pids;
  }

  // Every process hears the signal once, and none that was born after it does:
  // the helper that a handler starts to save the work is not to be ended.
  void ask_tree(const std::string& signal) {
    const int number = signal_number(signal).value_or(SIGTERM);
    const auto all = [this] { return tree(); };
    const bool frozen = cgroup_.freeze();
    if (!frozen) signal_each(all, SIGSTOP);
    const std::vector<pid_t> now = tree();
    for (const pid_t pid : std::set<pid_t>(now.begin(), now.end())) ::kill(pid, number);
    if (frozen) cgroup_.thaw();
    // What is stopped, by us or before, hears nothing until it goes on.
    if (number != SIGSTOP) signal_each(all, SIGCONT);
  }

  void kill_tree() {
    cgroup_.kill_all();
    // Frozen first, a tree cannot fork faster than it is killed.
    const auto below = [] { return descendants_of(::getpid()); };
    signal_each(below, SIGSTOP);
    signal_each(below, SIGKILL);
    if (killed_at_ == 0) killed_at_ = boot_time_ns();
    deadline_ = boot_time_ns() + 50 * kMillisecond;  // and again, until it is gone
  }

  void keep_deadline() {
    if (deadline_ <= boot_time_ns()) kill_tree();
  }

  // --- the end ---

  // The first process has ended; is anything else left?
  void look_for_the_end() {
    reap();
    if (!has_children_ && cgroup_.remove()) return finish();
    if (killed_at_ != 0 && order_.devices != 0 && boot_time_ns() - killed_at_ > kStuckAfter) {
      status_.dirty_devices = order_.devices;
      return finish();
    }
    if (out_of_memory_ && killed_at_ == 0) kill_tree();
    if (asked_with_.empty()) {
      asked_with_ = order_.stop_signal;
      deadline_ = std::min(deadline_, boot_time_ns() + order_.stop_grace_ns);
      // What only dies already needs no asking.
      if (!tree().empty()) ask_tree(order_.stop_signal);
    }
    look_delay_ = std::min(look_delay_ * 2, 50 * kMillisecond);
    next_look_ = boot_time_ns() + look_delay_;
  }

  void finish() {
    output_.finish();
    errors_.finish();
    failpoint("shim.cleanup_half");
    done_ = true;
    if (start_failure_) {
      status_.phase = Phase::kLaunchFailed;
      status_.message = start_failure_->message;
      status_.fault = start_failure_->fault;
    } else {
      status_.phase = Phase::kCleaned;
    }
    record();
  }

  // Nothing of the job has run.
  void finish_failed_launch(const StartFailure& failure) {
    if (first_ > 0) {
      ::kill(first_, SIGKILL);
      ::waitpid(first_, nullptr, 0);
    }
    cgroup_.remove();
    status_.phase = Phase::kLaunchFailed;
    status_.message = failure.message;
    status_.fault = failure.fault;
    record();
  }

  // An exit status is never given up: while the disk is full, the shim waits.
  void record() {
    while (!write_status(folder_.get(), status_)) {
      const timespec pause{0, 200'000'000};
      ::nanosleep(&pause, nullptr);
    }
  }

  const ShimContext& context_;
  const AttemptName name_;
  ShimOrder order_;
  FileDescriptor folder_, lock_, signals_, failure_, memory_;
  LogWriter output_, errors_;
  TaskCgroup cgroup_;
  AttemptStatus status_;
  std::optional<StartFailure> start_failure_;
  pid_t first_ = 0;
  bool has_children_ = true;
  bool exited_ = false;  // the first process has ended
  bool out_of_memory_ = false;
  bool done_ = false;
  int memory_looks_ = 0;            // still to be taken
  std::string asked_with_;          // the last signal the tree was asked with
  std::int64_t deadline_ = kNever;  // when to kill
  std::int64_t killed_at_ = 0;
  std::int64_t next_look_ = 0;
  std::int64_t look_delay_ = kMillisecond;
};

}  // namespace

void block_shim_signals() {
  const sigset_t set = shim_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

int run_shim(const ShimContext& context, const AttemptName& name) {
  return Shim(context, name).run();
}

}  // namespace gridfold::local
