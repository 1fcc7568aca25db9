#include "backends/local/records.h"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include <charconv>
#include <nlohmann/json.hpp>

#include "backends/local/files.h"
#include "base/base64.h"
#include "base/json_writer.h"

namespace gridfold::local {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxOrderBytes = 256u << 20;
constexpr std::size_t kMaxRecordBytes = 64u << 10;

constexpr const char* kPhaseNames[] = {"starting", "started", "exited", "cleaned", "launch_failed"};

// Runs `read` on the parsed text; whatever does not fit becomes kCorrupt.
template <class Record, class Read>
Result<Record> parse(std::string_view what, std::string_view text, Read read) {
  try {
    Record record;
    read(Json::parse(text), record);
    return record;
  } catch (const std::exception& trouble) {
    return corrupt("the " + std::string(what) + " record does not read: " + trouble.what());
  }
}

void read_exit(const Json& json, ExitStatus& exit) {
  exit.code = json.value("code", 0);
  exit.signal = json.value("signal", 0);
  exit.out_of_memory = json.value("out_of_memory", false);
  exit.lost = json.value("lost", false);
}

void read_files(const Json& json, std::vector<StagedContent>& files) {
  for (const auto& entry : json) {
    auto content = from_base64(entry.at("base64").get_ref<const std::string&>());
    if (!content) throw std::invalid_argument("files: not base64");
    files.push_back({entry.at("path").get<std::string>(), std::move(*content),
                     entry.value("executable", false)});
  }
}

void read_order_fields(const Json& json, ShimOrder& order) {
  order.task.job = JobId(json.at("job").get<std::uint64_t>());
  order.task.index = json.at("index").get<std::uint32_t>();
  order.name = {json.at("job_uid").get<std::string>(), order.task.index,
                json.at("attempt").get<std::uint32_t>()};
  order.command = json.at("command").get<std::vector<std::string>>();
  order.environment = json.at("environment").get<std::map<std::string, std::string>>();
  order.workdir = json.at("workdir").get<std::string>();
  read_files(json.at("files"), order.files);
  if (json.contains("run_as")) {
    const auto& as = json.at("run_as");
    order.run_as = RunAs{as.at("user").get<uid_t>(), as.at("group").get<gid_t>()};
  }
  const auto& limits = json.at("limits");
  order.limits = {limits.at("cpu_thousandths").get<std::int64_t>(),
                  limits.at("memory_bytes").get<std::int64_t>(),
                  limits.at("processes").get<std::int64_t>()};
  order.log_limit_bytes = json.at("log_limit_bytes").get<std::int64_t>();
  order.stop_signal = json.at("stop_signal").get<std::string>();
  order.stop_grace_ns = json.at("stop_grace_ns").get<std::int64_t>();
  order.devices = json.at("devices").get<std::uint64_t>();
  if (json.contains("partition")) {
    const auto& part = json.at("partition");
    order.partition =
        TaskPartition{part.at("device").get<std::string>(), part.at("profile").get<std::string>(),
                      part.at("start").get<std::int32_t>(), part.at("uid").get<std::string>(),
                      part.at("variable").get<std::string>()};
  }
}

template <class Parse>
auto read_record(int folder, const char* name, std::size_t limit, Parse parse_record)
    -> decltype(parse_record(std::string_view())) {
  auto text = read_file(folder, name, limit);
  if (!text) return text.error();
  return parse_record(*text);
}

void write_files(JsonWriter& json, const std::vector<StagedContent>& files) {
  json.key("files").begin_array();
  for (const auto& file : files) {
    json.begin_object().key("path").string(file.path);
    json.key("base64").string(to_base64(file.content));
    json.key("executable").boolean(file.executable).end_object();
  }
  json.end_array();
}

}  // namespace

std::string AttemptName::folder() const {
  return std::to_string(index) + '.' + std::to_string(attempt);
}
std::string AttemptName::path() const { return job_uid + '/' + folder(); }
std::string AttemptName::cgroup() const { return job_uid + '.' + folder(); }

std::string AttemptName::report(const std::string& state) const {
  return state + "/work/" + job_uid + "/.gridfold-report-" + folder() + ".jsonl";
}

bool is_safe_name(std::string_view text) {
  if (text.empty() || text.size() > 64 || text.front() == '.') return false;
  for (const char c : text) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
    if (!fits) return false;
  }
  return true;
}

std::optional<AttemptName> parse_attempt(std::string_view job_uid, std::string_view folder) {
  AttemptName name{std::string(job_uid)};
  const char* end = folder.data() + folder.size();
  const auto index = std::from_chars(folder.data(), end, name.index);
  if (index.ec != std::errc() || index.ptr == end || *index.ptr != '.') return std::nullopt;
  const auto attempt = std::from_chars(index.ptr + 1, end, name.attempt);
  if (attempt.ec != std::errc() || attempt.ptr != end) return std::nullopt;
  if (name.folder() != folder || !is_safe_name(job_uid)) return std::nullopt;
  return name;
}

std::uint32_t latest_attempt(int tasks, const AttemptName& name) {
  std::uint32_t latest = 0;
  const auto job = open_beneath(tasks, name.job_uid, O_RDONLY | O_DIRECTORY);
  if (!job) return latest;
  for (const auto& entry : list_folder(job->get())) {
    const auto other = parse_attempt(name.job_uid, entry);
    if (other && other->index == name.index) latest = std::max(latest, other->attempt);
  }
  return latest;
}

std::string to_json(const ShimOrder& order) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("job").number(order.task.job.value);
  json.key("index").number(order.task.index).key("attempt").number(order.name.attempt);
  json.key("job_uid").string(order.name.job_uid).key("command").begin_array();
  for (const auto& argument : order.command) json.string(argument);
  json.end_array().key("environment").begin_object();
  for (const auto& [name, value] : order.environment) json.key(name).string(value);
  json.end_object().key("workdir").string(order.workdir);
  write_files(json, order.files);
  if (order.run_as) {
    json.key("run_as").begin_object().key("user").number(order.run_as->user);
    json.key("group").number(order.run_as->group).end_object();
  }
  json.key("limits").begin_object().key("cpu_thousandths").number(order.limits.cpu_thousandths);
  json.key("memory_bytes").number(order.limits.memory_bytes);
  json.key("processes").number(order.limits.processes).end_object();
  json.key("log_limit_bytes").number(order.log_limit_bytes);
  json.key("stop_signal").string(order.stop_signal);
  json.key("stop_grace_ns").number(order.stop_grace_ns);
  json.key("devices").number(order.devices);
  if (order.partition) {
    json.key("partition").begin_object().key("device").string(order.partition->device);
    json.key("profile")
        .string(order.partition->profile)
        .key("start")
        .number(order.partition->start);
    json.key("uid").string(order.partition->uid);
    json.key("variable").string(order.partition->variable).end_object();
  }
  json.end_object();
  return out;
}

std::string to_json(const ShimIdentity& identity) {
  std::string out;
  JsonWriter(out)
      .begin_object()
      .key("pid")
      .number(identity.pid)
      .key("start_time")
      .number(identity.start_time)
      .end_object();
  return out;
}

std::string to_json(const StopRequest& request) {
  std::string out;
  JsonWriter(out)
      .begin_object()
      .key("signal")
      .string(request.signal)
      .key("deadline_ns")
      .number(request.deadline_ns)
      .end_object();
  return out;
}

std::string to_json(const AttemptStatus& status) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("phase").string(kPhaseNames[static_cast<int>(status.phase)]);
  if (status.phase == AttemptStatus::Phase::kExited ||
      status.phase == AttemptStatus::Phase::kCleaned) {
    json.key("exit").begin_object().key("code").number(status.exit.code);
    json.key("signal").number(status.exit.signal);
    json.key("out_of_memory").boolean(status.exit.out_of_memory);
    json.key("lost").boolean(status.exit.lost).end_object();
    json.key("dirty_devices").number(status.dirty_devices);
  }
  if (status.phase == AttemptStatus::Phase::kLaunchFailed) {
    json.key("message").string(status.message);
    json.key("fault").string(status.fault == LaunchFault::kJob ? "job" : "node");
  }
  json.end_object();
  return out;
}

Result<ShimOrder> parse_order(std::string_view text) {
  return parse<ShimOrder>("order", text, read_order_fields);
}

Result<ShimIdentity> parse_identity(std::string_view text) {
  return parse<ShimIdentity>("shim", text, [](const Json& json, ShimIdentity& identity) {
    identity.pid = json.at("pid").get<pid_t>();
    identity.start_time = json.at("start_time").get<std::uint64_t>();
  });
}

Result<StopRequest> parse_stop(std::string_view text) {
  return parse<StopRequest>("stop", text, [](const Json& json, StopRequest& request) {
    request.signal = json.at("signal").get<std::string>();
    request.deadline_ns = json.at("deadline_ns").get<std::int64_t>();
  });
}

Result<AttemptStatus> parse_status(std::string_view text) {
  return parse<AttemptStatus>("status", text, [](const Json& json, AttemptStatus& status) {
    const auto& phase = json.at("phase").get_ref<const std::string&>();
    std::size_t i = 0;
    while (i < std::size(kPhaseNames) && phase != kPhaseNames[i]) ++i;
    if (i == std::size(kPhaseNames)) throw std::invalid_argument("unknown phase " + phase);
    status.phase = static_cast<AttemptStatus::Phase>(i);
    if (json.contains("exit")) read_exit(json.at("exit"), status.exit);
    status.dirty_devices = json.value("dirty_devices", std::uint64_t{0});
    status.message = json.value("message", std::string());
    status.fault =
        json.value("fault", std::string()) == "job" ? LaunchFault::kJob : LaunchFault::kNode;
  });
}

Result<ShimOrder> read_order(int folder) {
  return read_record(folder, kOrderFile, kMaxOrderBytes, parse_order);
}
Result<ShimIdentity> read_identity(int folder) {
  return read_record(folder, kShimFile, kMaxRecordBytes, parse_identity);
}
Result<StopRequest> read_stop(int folder) {
  return read_record(folder, kStopFile, kMaxRecordBytes, parse_stop);
}
Result<AttemptStatus> read_status(int folder) {
  return read_record(folder, kStatusFile, kMaxRecordBytes, parse_status);
}

Result<void> write_status(int folder, const AttemptStatus& status) {
  const bool durable = status.phase == AttemptStatus::Phase::kExited;
  return replace_file(folder, kStatusFile, to_json(status),
                      durable ? Durability::kDurable : Durability::kOrdered);
}

std::optional<int> signal_number(std::string_view name) {
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (int number = 1; number < 32; ++number) {
    const char* known = ::sigabbrev_np(number);
    if (known != nullptr && name == known) return number;
  }
  return std::nullopt;
}

}  // namespace gridfold::local
