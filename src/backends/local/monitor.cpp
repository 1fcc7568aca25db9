#include "backends/local/monitor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "backends/local/process_tree.h"

namespace gridfold::local {
namespace {

using Phase = AttemptStatus::Phase;

constexpr int kRetryMilliseconds = 10;
// Between looks at what the jobs report; shorter while one that was asked to
// stop may say that it has saved.
constexpr int kReportMilliseconds = 1000;
constexpr int kSavingMilliseconds = 50;

std::int64_t boot_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void watch_readable(const FileDescriptor& poll, int file) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = file}};
  ::epoll_ctl(poll.get(), EPOLL_CTL_ADD, file, &event);
}

ObservedTask::Phase observed_phase(Phase phase) {
  switch (phase) {
    case Phase::kStarting: return ObservedTask::Phase::kStarting;
    case Phase::kStarted: return ObservedTask::Phase::kRunning;
    case Phase::kExited: return ObservedTask::Phase::kExited;
    case Phase::kCleaned: return ObservedTask::Phase::kCleaned;
    case Phase::kLaunchFailed: return ObservedTask::Phase::kLaunchFailed;
  }
  return ObservedTask::Phase::kStarting;
}

}  // namespace

Monitor::Monitor(MonitorOptions options, CgroupParent cgroups)
    : options_(std::move(options)), cgroups_(std::move(cgroups)) {}

Monitor::~Monitor() {
  options_.partitions.reset();  // answers to us no more
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

Result<void> Monitor::open(std::function<void(Event)> sink, std::vector<Event> first_events) {
  sink_ = std::move(sink);
  auto tasks = open_folder(options_.state + "/tasks");
  if (!tasks) return tasks.error();
  tasks_ = std::move(*tasks);
  auto state = open_folder(options_.state);
  if (!state) return state.error();
  state_ = std::move(*state);
  poll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  wake_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  folders_ = FileDescriptor(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!poll_.is_open() || !wake_.is_open()) return from_errno(errno, "set up the task monitor");
  if (!folders_.is_open()) {
    Error error = from_errno(errno, "watch the tasks' folders");
    error.hint = "raise fs.inotify.max_user_instances";
    return error;
  }
  watch_readable(poll_, wake_.get());
  watch_readable(poll_, folders_.get());
  find_attempts();
  remove_stray_groups();
  for (auto& event : first_events) report(std::move(event));
  thread_ = std::thread([this] { run(); });
  return {};
}

// --- orders, from any thread ---

void Monitor::post(Command command) {
  {
    const std::lock_guard lock(mutex_);
    commands_.push_back(std::move(command));
  }
  ::eventfd_write(wake_.get(), 1);
}

void Monitor::launch(ShimOrder order) {
  const Key key{order.task, order.name.attempt};
  {
    const std::lock_guard lock(mutex_);
    // Known from now on: observe() must not deny what was ordered.
    if (!attempts_.try_emplace(key, Attempt{.name = order.name}).second) return;
  }
  post([this, key, order = std::move(order)] { begin(key, order); });
}

void Monitor::report(Event event) {
  post([this, event = std::move(event)] { sink_(event); });
}

void Monitor::stop(TaskId task, std::uint32_t attempt, std::string signal, Duration grace) {
  StopRequest request{std::move(signal), boot_time_ns() + grace.ns};
  post([this, key = Key{task, attempt}, request = std::move(request)] {
    ask_to_stop(key, request);
  });
}

void Monitor::forget(TaskId task, std::uint32_t attempt) {
  post([this, key = Key{task, attempt}] {
    Attempt* known = find(key);
    if (known == nullptr) return;
    known->forget_when_over = true;
    if (known->status.is_over()) drop(key);
  });
}

std::vector<ObservedTask> Monitor::observe() const {
  std::vector<ObservedTask> seen;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, attempt] : attempts_) {
    AttemptStatus status = attempt.status;
    if (!status.is_over()) {
      // The folder knows better than what we were told of it.
      if (const auto folder = folder_of(attempt.name)) {
        status = read_status(folder->get()).value_or(status);
      }
    }
    seen.push_back({.task = key.first,
                    .attempt = key.second,
                    .node = options_.node,
                    .phase = observed_phase(status.phase),
                    .status = status.exit,
                    .dirty_devices = status.dirty_devices,
                    .launch_message = status.message,
                    .launch_fault = status.fault});
  }
  return seen;
}

bool Monitor::has_live() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(attempts_.begin(), attempts_.end(),
                     [](const auto& entry) { return !entry.second.status.is_over(); });
}

bool Monitor::has_live_of(std::string_view job_uid) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(attempts_.begin(), attempts_.end(), [&](const auto& entry) {
    return entry.second.name.job_uid == job_uid && !entry.second.status.is_over();
  });
}

bool Monitor::knows(std::string_view job_uid, TaskId task, std::uint32_t attempt) const {
  const std::lock_guard lock(mutex_);
  const auto found = attempts_.find({task, attempt});
  return found != attempts_.end() && found->second.name.job_uid == job_uid;
}

// --- the thread ---

void Monitor::run() {
  epoll_event ready[64];
  for (;;) {
    const int count = ::epoll_wait(poll_.get(), ready, std::size(ready), wait_milliseconds());
    for (int i = 0; i < count; ++i) {
      const int file = ready[i].data.fd;
      if (file == wake_.get()) {
        eventfd_t count_of_wakes = 0;
        ::eventfd_read(wake_.get(), &count_of_wakes);
      } else if (file == folders_.get()) {
        hear_folders();
      } else if (nursery_.is_running() && file == nursery_.socket()) {
        hear_nursery();
      } else if (const auto shim = by_shim_.find(file); shim != by_shim_.end()) {
        hear_death(Key(shim->second), file);
      }
    }
    try_again();
    if (reports_due_ns_ <= boot_time_ns()) read_reports();
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
    }
    run_commands();
  }
}

// Until there is something to do without being told; -1: nothing.
int Monitor::wait_milliseconds() const {
  if (!unsettled_.empty() || !unwatched_.empty() || !unbegun_.empty() || !unasked_.empty())
    return kRetryMilliseconds;
  if (!has_live()) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(
      (reports_due_ns_ - boot_time_ns()) / 1'000'000 + 1, 0, kReportMilliseconds));
}

// What running jobs say of themselves.
void Monitor::read_reports() {
  std::vector<std::pair<Key, Attempt*>> live;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, attempt] : attempts_) {
      if (attempt.status.phase == Phase::kStarted) live.emplace_back(key, &attempt);
    }
  }
  bool any_saves = false;
  for (const auto& [key, attempt] : live) {
    any_saves |= attempt->asked_to_stop;
    const TaskReport report =
        attempt->reports.read(state_.get(), attempt->name.report("").substr(1));
    if (!report.empty()) sink_(TaskReported{key.first, key.second, report});
  }
  reports_due_ns_ = boot_time_ns() +
                    std::int64_t{any_saves ? kSavingMilliseconds : kReportMilliseconds} * 1'000'000;
}

void Monitor::try_again() {
  for (const Key& key : std::set<Key>(unsettled_)) adopt(key);
  for (const Key& key : std::set<Key>(unwatched_)) look(key);
  for (const auto& [key, order] : std::exchange(unbegun_, {})) begin(key, order);
  for (const auto& [key, request] : std::exchange(unasked_, {})) ask_to_stop(key, request);
}

void Monitor::run_commands() {
  std::vector<Command> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
  }
  for (const auto& command : commands) command();
}

void Monitor::hear_folders() {
  alignas(inotify_event) char buffer[16384];
  for (;;) {
    const ssize_t size = ::read(folders_.get(), buffer, sizeof buffer);
    if (size <= 0) return;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
      if (event->mask & IN_Q_OVERFLOW) {
        std::vector<Key> all;
        for (const auto& [watch, key] : by_watch_) all.push_back(key);
        for (const Key& key : all) look(key);
      } else if (event->len > 0 && std::string_view(event->name) == kStatusFile) {
        if (const auto found = by_watch_.find(event->wd); found != by_watch_.end()) {
          look(Key(found->second));
        }
      }
    }
  }
}

void Monitor::hear_nursery() {
  for (;;) {
    auto reply = nursery_.reply();
    if (!reply) {
      // Whether the shims it was asked for began is found out from their
      // folders; the next launch starts another nursery.
      nursery_ = Nursery();
      for (const auto& [path, key] : by_path_) unsettled_.insert(key);
      by_path_.clear();
      return;
    }
    if (!*reply) return;
    const auto asked = by_path_.find((*reply)->attempt);
    if (asked == by_path_.end()) continue;
    const Key key = asked->second;
    by_path_.erase(asked);
    if ((*reply)->trouble.empty() && (*reply)->shim.is_open()) {
      follow(key, std::move((*reply)->shim));
    } else if ((*reply)->trouble.empty()) {
      unsettled_.insert(key);  // it runs, or has ended; the folder tells
    } else {
      fail(key, (*reply)->trouble);
    }
  }
}

// The shim's pidfd was readable. Earlier news of this turn may have closed it
// and given its number to another shim's, so it is asked again.
void Monitor::hear_death(const Key& key, int shim) {
  pollfd ended{shim, POLLIN, 0};
  if (::poll(&ended, 1, 0) != 1) return;
  by_shim_.erase(shim);
  Attempt* attempt = find(key);
  if (attempt == nullptr) return;
  attempt->shim.reset();
  look(key);
  attempt = find(key);
  if (attempt != nullptr && !attempt->status.is_over()) unsettled_.insert(key);
}

// --- finding ---

void Monitor::find_attempts() {
  for (const auto& uid : list_folder(tasks_.get())) {
    if (!is_safe_name(uid)) continue;
    const auto job = open_beneath(tasks_.get(), uid, O_RDONLY | O_DIRECTORY);
    if (!job) continue;
    for (const auto& entry : list_folder(job->get())) {
      const auto name = parse_attempt(uid, entry);
      if (!name) continue;
      const auto folder = folder_of(*name);
      if (!folder) continue;
      const auto order = read_order(folder->get());
      if (!order) continue;  // forgotten, or never quite ordered
      const Key key{order->task, name->attempt};
      if (options_.partitions && order->partition)
        options_.partitions->hold(key, order->partition->uid);
      attempts_.try_emplace(key, Attempt{.name = *name, .may_have_stop = true, .inherited = true});
      unsettled_.insert(key);
    }
  }
}

// Groups of attempts that nobody knows: the state directory lost them.
void Monitor::remove_stray_groups() {
  std::set<std::string> known;
  for (const auto& [key, attempt] : attempts_) known.insert(attempt.name.cgroup());
  for (const auto& name : cgroups_.children()) {
    if (name == kShimsGroup || known.contains(name)) continue;
    TaskCgroup group(cgroups_, name);
    group.kill_all();
    for (int tries = 0; tries < 500 && !group.remove(); ++tries) ::usleep(2000);
  }
}

// Ordered just before the backend's own end. A shim of then that comes late
// after all finds the lock held, or the attempt's status.
bool Monitor::was_never_begun(const Attempt& attempt, const FileDescriptor& folder) const {
  return attempt.inherited && !read_status(folder.get()) && !read_identity(folder.get());
}

// Decides what an attempt without a known shim is: running (its shim holds the
// lock), over, never begun, or lost.
void Monitor::adopt(const Key& key) {
  Attempt* attempt = find(key);
  if (attempt == nullptr || attempt->status.is_over() || attempt->shim.is_open()) {
    unsettled_.erase(key);
    return;
  }
  const AttemptName name = attempt->name;
  auto folder = folder_of(name);
  if (!folder) return;
  if (attempt->watch < 0) watch(key);
  look(key);
  attempt = find(key);
  if (attempt == nullptr || attempt->status.is_over()) return;
  FileDescriptor lock(
      ::openat(folder->get(), kLockFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.is_open()) return;
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
    if (!was_never_begun(*attempt, *folder)) return recover(key, std::move(*folder));
    lock.reset();  // it is the shim's to hold
    attempt->inherited = false;
    unsettled_.erase(key);
    return request(key, name);
  }
  const auto identity = read_identity(folder->get());
  if (!identity) return;  // it has only just begun
  FileDescriptor shim(static_cast<int>(::syscall(SYS_pidfd_open, identity->pid, 0)));
  if (!shim.is_open() || start_time_of(identity->pid) != identity->start_time) {
    // Dead, yet its lock is held: by a child it forked and never let go.
    end_tree(name);
    return;
  }
  follow(key, std::move(shim));
}

void Monitor::follow(const Key& key, FileDescriptor shim) {
  Attempt* attempt = find(key);
  unsettled_.erase(key);
  if (attempt == nullptr || attempt->status.is_over()) return;
  watch_readable(poll_, shim.get());
  by_shim_[shim.get()] = key;
  attempt->shim = std::move(shim);
  // A stop may have been asked for before anyone was there to hear it.
  if (attempt->may_have_stop)
    ::syscall(SYS_pidfd_send_signal, attempt->shim.get(), SIGUSR1, nullptr, 0);
}

// The shim is dead and we hold its lock. Ends what it left and says so.
void Monitor::recover(const Key& key, FileDescriptor folder) {
  const AttemptName name = find(key)->name;
  AttemptStatus status = read_status(folder.get()).value_or(AttemptStatus{});
  if (!status.is_over()) {
    if (!read_identity(folder.get())) {
      status.phase = Phase::kLaunchFailed;  // it never began, so nothing has run
      status.message = "the task's shim did not start";
    } else {
      if (!end_tree(name)) return;  // tried again soon
      if (status.phase < Phase::kExited) {
        status.phase = Phase::kExited;
        status.exit = ExitStatus{.lost = true};
        if (!write_status(folder.get(), status)) return;
      }
      status.phase = Phase::kCleaned;
    }
    if (!write_status(folder.get(), status)) return;
  }
  look(key);
}

bool Monitor::end_tree(const AttemptName& name) const {
  TaskCgroup group(cgroups_, name.cgroup());
  group.kill_all();
  // What has left the group still carries the attempt's mark.
  const auto strays = processes_with_environment("GRIDFOLD_REPORT=" + name.report(options_.state));
  for (const pid_t pid : strays) ::kill(pid, SIGKILL);
  return group.remove() && strays.empty();
}

// --- launching ---

// The partition is made first, elsewhere: the driver may take seconds.
void Monitor::prepare(const Key& key, const ShimOrder& order) {
  preparing_.insert(key);
  options_.partitions->provide(
      key, {order.partition->device, order.partition->profile, order.partition->start},
      [this, key, order](Result<std::string> uid) mutable {
        post([this, key, order = std::move(order), uid = std::move(uid)]() mutable {
          preparing_.erase(key);
          if (!uid) return fail(key, uid.error().describe());
          order.partition->uid = *uid;
          order.environment[order.partition->variable] = *uid;
          begin(key, order);
        });
      });
}

void Monitor::release_partition(const Key& key) {
  if (options_.partitions) options_.partitions->release(key);
}

void Monitor::begin(const Key& key, const ShimOrder& order) {
  if (order.partition && order.partition->uid.empty()) {
    if (options_.partitions) return prepare(key, order);
    return fail(key, "this node makes no partitions of its devices");
  }
  const auto fresh = write_order(order);
  if (!fresh && fresh.error().kind == ErrorKind::kConflict)
    return refuse(key, fresh.error().message);
  if (!fresh && fresh.error().kind == ErrorKind::kUnavailable) {
    unbegun_[key] = order;  // the disk is full: no fault of this node's; begun once there is room
    return;
  }
  if (!fresh) return fail(key, fresh.error().message);
  if (!*fresh) {
    // Had its end before and was forgotten: not started again.
    release_partition(key);
    const std::lock_guard lock(mutex_);
    attempts_.erase(key);
    return;
  }
  request(key, order.name);
}

// False when the attempt's folder shows that it was run before.
Result<bool> Monitor::write_order(const ShimOrder& order) {
  const auto job = make_folders_beneath(tasks_.get(), order.name.job_uid, 0700);
  if (!job) return job.error();
  const std::uint32_t latest = latest_attempt(tasks_.get(), order.name);
  if (latest > order.name.attempt) {
    return conflict("attempt " + std::to_string(order.name.attempt) + " is older than attempt " +
                    std::to_string(latest));
  }
  const auto folder = make_folders_beneath(job->get(), order.name.folder(), 0700);
  if (!folder) return folder.error();
  if (latest == order.name.attempt && read_status(folder->get())) return false;
  const auto done = replace_file(folder->get(), kOrderFile, to_json(order), Durability::kOrdered);
  if (!done) return done.error();
  return true;
}

void Monitor::request(const Key& key, const AttemptName& name) {
  const std::string path = name.path();
  watch(key);
  if (!nursery_.is_running()) {
    auto nursery = Nursery::start(options_.program, options_.arguments);
    if (!nursery) return fail(key, nursery.error().message);
    nursery_ = std::move(*nursery);
    watch_readable(poll_, nursery_.socket());
  }
  by_path_[path] = key;
  if (const auto asked = nursery_.request(path); !asked) hear_nursery();
}

// An order of an older attempt has no effect and leaves no trace.
void Monitor::refuse(const Key& key, const std::string& message) {
  release_partition(key);
  {
    const std::lock_guard lock(mutex_);
    attempts_.erase(key);
  }
  sink_(LaunchFailed{key.first, key.second, message, LaunchFault::kNode});
}

void Monitor::fail(const Key& key, const std::string& message) {
  AttemptStatus status;
  status.phase = Phase::kLaunchFailed;
  status.message = message;
  Attempt* attempt = find(key);
  if (attempt == nullptr) return;
  release_partition(key);
  if (const auto folder = folder_of(attempt->name)) (void)write_status(folder->get(), status);
  AttemptStatus before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(attempt->status, status);
  }
  tell(key, before, status);
}

// --- following ---

// Hears of the attempt's steps from now on. Without a watch (the user's limit
// of them is reached) it is looked at again and again instead.
void Monitor::watch(const Key& key) {
  Attempt* attempt = find(key);
  const std::string path = options_.state + "/tasks/" + attempt->name.path();
  attempt->watch = ::inotify_add_watch(folders_.get(), path.c_str(), IN_MOVED_TO);
  if (attempt->watch >= 0) {
    by_watch_[attempt->watch] = key;
  } else {
    unwatched_.insert(key);
  }
}

// Reads how far the attempt has come and reports what is new.
void Monitor::look(const Key& key) {
  Attempt* attempt = find(key);
  if (attempt == nullptr || attempt->status.is_over()) return;
  const auto folder = folder_of(attempt->name);
  if (!folder) return;
  const auto now = read_status(folder->get());
  if (!now || now->phase <= attempt->status.phase) return;
  AttemptStatus before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(attempt->status, *now);
  }
  if (now->is_over()) {
    release_partition(key);
    if (attempt->watch >= 0) {
      ::inotify_rm_watch(folders_.get(), attempt->watch);
      by_watch_.erase(attempt->watch);
      attempt->watch = -1;
    }
    if (attempt->shim.is_open()) by_shim_.erase(attempt->shim.get());
    attempt->shim.reset();
    unsettled_.erase(key);
    unwatched_.erase(key);
  }
  tell(key, before, *now);
  if (now->is_over() && attempt->forget_when_over) drop(key);
}

void Monitor::tell(const Key& key, const AttemptStatus& before, const AttemptStatus& now) {
  const auto& [task, attempt] = key;
  if (now.phase == Phase::kLaunchFailed) {
    sink_(LaunchFailed{task, attempt, now.message, now.fault});
    return;
  }
  const auto reached = [&](Phase phase) { return before.phase < phase && now.phase >= phase; };
  if (reached(Phase::kStarted) && !now.exit.lost) sink_(TaskStarted{task, attempt});
  if (reached(Phase::kExited)) sink_(TaskExited{task, attempt, now.exit});
  if (reached(Phase::kCleaned)) sink_(TaskCleaned{task, attempt, now.dirty_devices});
}

void Monitor::ask_to_stop(const Key& key, StopRequest request) {
  Attempt* attempt = find(key);
  if (attempt == nullptr || attempt->status.is_over()) return;
  if (unbegun_.contains(key) || preparing_.contains(key)) {
    unasked_[key] = request;
    return;
  }
  const auto folder = folder_of(attempt->name);
  if (!folder) return;
  if (!attempt->asked_to_stop) {
    // Only a save that is reported from now on is the one it is asked for.
    TaskReport before = attempt->reports.read(state_.get(), attempt->name.report("").substr(1));
    before.saved.reset();
    if (!before.empty()) sink_(TaskReported{key.first, key.second, before});
    attempt->asked_to_stop = true;
    reports_due_ns_ = 0;
  }
  if (const auto earlier = read_stop(folder->get())) {
    request.deadline_ns = std::min(request.deadline_ns, earlier->deadline_ns);
  }
  attempt->may_have_stop = true;
  if (!replace_file(folder->get(), kStopFile, to_json(request), Durability::kOrdered)) {
    unasked_[key] = request;  // the disk is full; asked again soon
    return;
  }
  if (attempt->shim.is_open()) {
    ::syscall(SYS_pidfd_send_signal, attempt->shim.get(), SIGUSR1, nullptr, 0);
  }
}

// Lets the records go. The status stays: it says that the logs have ended.
void Monitor::drop(const Key& key) {
  Attempt* attempt = find(key);
  if (const auto folder = folder_of(attempt->name)) {
    for (const char* name : {kOrderFile, kShimFile, kStopFile, kLockFile}) {
      ::unlinkat(folder->get(), name, 0);
    }
  }
  const std::lock_guard lock(mutex_);
  attempts_.erase(key);
}

Result<FileDescriptor> Monitor::folder_of(const AttemptName& name) const {
  return open_beneath(tasks_.get(), name.path(), O_RDONLY | O_DIRECTORY);
}

Monitor::Attempt* Monitor::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = attempts_.find(key);
  return found == attempts_.end() ? nullptr : &found->second;
}

}  // namespace gridfold::local
