#include "backends/local/local_backend.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "backends/local/log_reader.h"
#include "backends/local/monitor.h"
#include "base/file_lock.h"

namespace gridfold::local {
namespace {

// The state directory may be entered by the tasks' user, but only STATE/work
// holds anything for it.
constexpr mode_t kStateMode = 0711;
constexpr mode_t kTasksMode = 0700;
constexpr mode_t kWorkMode = 0711;

Result<void> make_state_folder(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return from_errno(errno, "make folder " + path);
  }
  return {};
}

Error wrong(std::string field, std::string message) {
  Error error = invalid(std::move(message));
  error.field = std::move(field);
  return error;
}

// Bytes that no argument, variable or record can carry.
Result<void> check_text(const std::string& field, const std::string& text) {
  if (text.find('\0') != std::string::npos) return wrong(field, "has a zero byte");
  return {};
}

Result<void> check_command(const std::vector<std::string>& command) {
  if (command.empty() || command.front().empty()) return wrong("command", "names no program");
  for (std::size_t i = 0; i < command.size(); ++i) {
    const auto fits = check_text("command[" + std::to_string(i) + "]", command[i]);
    if (!fits) return fits;
  }
  return {};
}

Result<void> check_environment(const Environment& environment) {
  for (const auto& [name, value] : environment) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return wrong("env", "\"" + name + "\" cannot be a variable's name");
    }
    for (const auto& text : {name, value}) {
      if (auto fits = check_text("env." + name, text); !fits) return fits;
    }
  }
  return {};
}

}  // namespace

namespace {

PartitionCalls calls_of(const std::shared_ptr<PluginHost>& plugins) {
  return {.list = [plugins](const std::string& device) { return plugins->partitions(device); },
          .make =
              [plugins](const std::string& device, const std::string& profile, std::int32_t start) {
                return plugins->make_partition(device, profile, start);
              },
          .remove =
              [plugins](const std::string& device, const std::string& partition) {
                return plugins->remove_partition(device, partition);
              }};
}

// Of a task that takes part of a real device; emulated ones are in the books
// alone.
std::optional<TaskPartition> partition_of(const LaunchOrder& order, const NodeSpec& node) {
  const Role& role = order.spec->role_of(order.task.index);
  for (const DeviceRequest& request : role.each.devices) {
    if (request.partition.empty()) continue;
    for (std::size_t i = 0; i < node.devices.size(); ++i) {
      const DeviceSpec& device = node.devices[i];
      if ((order.devices >> i & 1) == 0 || device.device_class != request.device_class) continue;
      if (device.origin != DeviceOrigin::kReal) continue;
      return TaskPartition{device.uid, request.partition, order.start, "",
                           std::string(device_variable(device.device_class))};
    }
  }
  return std::nullopt;
}

}  // namespace

LocalBackend::LocalBackend(LocalOptions options) : options_(std::move(options)) {
  if (options_.cgroups == CgroupUse::kWherePossible && is_safe_name(options_.instance)) {
    cgroups_ = CgroupParent::open(options_.instance);
  }
}

LocalBackend::~LocalBackend() {
  const bool idle = !monitor_ || !monitor_->has_live();
  monitor_.reset();
  // The kernel refuses while a shim is in it: one whose task runs on, or one
  // that has written its last record and takes a moment to be gone.
  for (int tries = 0; !remove_shims_group() && idle && tries < 100; ++tries) ::usleep(5000);
  cgroups_.remove_if_empty();
}

bool LocalBackend::remove_shims_group() const {
  bool gone = true;
  for (const auto& hierarchy : cgroups_.hierarchies()) {
    const std::string group = hierarchy.folder + "/" + kShimsGroup;
    gone = (::rmdir(group.c_str()) == 0 || errno == ENOENT) && gone;
  }
  return gone;
}

Capabilities LocalBackend::capabilities() const {
  const auto kept = [](bool enforced) {
    return enforced ? Enforcement::kEnforced : Enforcement::kAccounted;
  };
  return {.cpu = kept(cgroups_.limits_cpu()),
          .memory = kept(cgroups_.limits_memory()),
          .device_share = kept(!options_.slice_library.empty())};
}

Result<void> LocalBackend::open(EventSink sink) {
  if (!is_safe_name(options_.instance)) {
    return wrong("instance", "may hold letters, digits, '-', '_' and '.'");
  }
  if (options_.state.empty() || options_.state.front() != '/') {
    return wrong("state", "must be an absolute path");
  }
  for (const auto& [path, mode] :
       {std::pair{options_.state, kStateMode}, std::pair{options_.state + "/tasks", kTasksMode},
        std::pair{options_.state + "/work", kWorkMode}}) {
    if (auto made = make_state_folder(path, mode); !made) return made;
  }
  auto state = open_folder(options_.state);
  if (!state) return state.error();
  state_ = std::move(*state);
  lock_ = FileDescriptor(
      ::openat(state_.get(), "backend.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock_.is_open()) return from_errno(errno, "open " + options_.state + "/backend.lock");
  if (!lock_file(lock_.get())) {
    return conflict("another gridfold runs tasks from " + options_.state);
  }
  std::vector<std::string> arguments = {"--state", options_.state, "--instance", options_.instance};
  if (options_.cgroups == CgroupUse::kNever) arguments.push_back("--no-cgroups");
  if (!options_.fail_at.empty()) arguments.insert(arguments.end(), {"--fail-at", options_.fail_at});
  MonitorOptions monitor{options_.state, options_.program, std::move(arguments), options_.node.name,
                         nullptr};
  if (options_.plugins)
    monitor.partitions = std::make_unique<PartitionKeeper>(calls_of(options_.plugins));
  monitor_ = std::make_unique<Monitor>(std::move(monitor), cgroups_);
  return monitor_->open(std::move(sink), {Event(NodeJoined{options_.node})});
}

void LocalBackend::launch(const LaunchOrder& order) {
  auto shim = shim_order(order);
  if (shim) return monitor_->launch(std::move(*shim));
  const bool ours = shim.error().kind != ErrorKind::kInvalid;
  monitor_->report(LaunchFailed{order.task, order.attempt, shim.error().describe(),
                                ours ? LaunchFault::kNode : LaunchFault::kJob});
}

Result<ShimOrder> LocalBackend::shim_order(const LaunchOrder& order) const {
  if (order.node != options_.node.name) return not_found("this node is not " + order.node);
  if (!is_safe_name(order.job_uid)) return internal("the job's uid cannot name a folder");
  const Role& role = order.spec->role_of(order.task.index);
  const Stop stop = order.spec->effective_stop();
  ShimOrder out;
  out.task = order.task;
  out.name = {order.job_uid, order.task.index, order.attempt};
  out.command = role.command;
  out.environment = task_environment(order, options_.node, out.name.report(options_.state),
                                     options_.host, options_.slice_library);
  out.workdir = order.spec->workdir;
  for (const auto& file : order.spec->files) {
    out.files.push_back({file.path, "", file.executable});
  }
  out.run_as = options_.run_as;
  out.limits = {role.each.cpu.value, role.each.memory.value, options_.processes_per_task};
  out.log_limit_bytes = options_.log_limit.value;
  out.stop_signal = stop.signal;
  out.stop_grace_ns = stop.grace.ns;
  out.devices = order.devices;
  out.partition = partition_of(order, options_.node);
  if (auto fits = check_command(out.command); !fits) return fits.error();
  if (auto fits = check_environment(out.environment); !fits) return fits.error();
  if (auto fits = check_text("workdir", out.workdir); !fits) return fits.error();
  if (!signal_number(stop.signal))
    return wrong("stop.signal", "\"" + stop.signal + "\" is unknown");
  // As the shim will read it: text that is not UTF-8 does not survive JSON.
  if (auto readable = parse_order(to_json(out)); !readable) {
    return invalid("the job's command, env or file names are not UTF-8: " +
                   readable.error().message);
  }
  for (std::size_t i = 0; i < out.files.size(); ++i) {
    out.files[i].content = order.spec->files[i].content;
  }
  return out;
}

void LocalBackend::stop(const StopOrder& order) {
  monitor_->stop(order.task, order.attempt, order.signal, order.grace);
}

void LocalBackend::forget(TaskId task, std::uint32_t attempt) { monitor_->forget(task, attempt); }

Result<Observation> LocalBackend::observe() {
  return Observation{.nodes = {options_.node}, .tasks = monitor_->observe()};
}

Result<LogChunk> LocalBackend::read_log(std::string_view job_uid, TaskId task,
                                        std::uint32_t attempt, LogStream stream,
                                        std::uint64_t offset, std::size_t limit) {
  const AttemptName name{std::string(job_uid), task.index, attempt};
  const auto tasks = open_beneath(state_.get(), "tasks", O_RDONLY | O_DIRECTORY);
  if (!tasks) return tasks.error();
  auto chunk = read_log_file(tasks->get(), name, stream, offset, limit);
  const bool unknown = !chunk && chunk.error().kind == ErrorKind::kNotFound;
  if (!unknown || !monitor_->knows(job_uid, task, attempt)) return chunk;
  // Ordered just now: its folder comes soon, or has come since we looked.
  if (!open_beneath(tasks->get(), name.path(), O_PATH)) return LogChunk{.next_offset = offset};
  return read_log_file(tasks->get(), name, stream, offset, limit);
}

Result<void> LocalBackend::remove_job(const std::string& job_uid) {
  if (!is_safe_name(job_uid)) return not_found("there is no job \"" + job_uid + "\"");
  if (monitor_->has_live_of(job_uid)) return conflict("job " + job_uid + " still has a task here");
  for (const char* part : {"tasks", "work"}) {
    const auto folder = open_beneath(state_.get(), part, O_RDONLY | O_DIRECTORY);
    if (!folder) return folder.error();
    if (auto done = remove_tree(folder->get(), job_uid); !done) return done;
  }
  return {};
}

}  // namespace gridfold::local
