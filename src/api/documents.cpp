#include "api/documents.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "model/job_class.h"
#include "wire/job_json.h"

namespace gridfold {
namespace {

// Where the task runs, or ran last in this run of its job.
const NodeRecord* node_of(const TaskRecord& task, std::span<const NodeRecord> nodes) {
  if (task.allocation.node.value >= nodes.size()) return nullptr;
  return &nodes[task.allocation.node.value];
}

void write_exit(JsonWriter& json, const ExitStatus& exit) {
  json.begin_object();
  json.key("code").number(exit.code);
  json.key("signal").number(exit.signal);
  json.key("out_of_memory").boolean(exit.out_of_memory);
  json.key("lost").boolean(exit.lost);
  json.end_object();
}

void write_task_devices(JsonWriter& json, const TaskRecord& task, const NodeRecord& node) {
  json.begin_array();
  for (std::size_t i = 0; i < node.spec.devices.size(); ++i) {
    if ((task.allocation.devices >> i & 1) == 0) continue;
    json.begin_object();
    write_device_identity(json, i, node.spec.devices[i]);
    json.end_object();
  }
  json.end_array();
}

void write_partition(JsonWriter& json, const JobRecord& job, std::uint32_t index) {
  json.key("partition").begin_object();
  for (const auto& request : job.spec->role_of(index).each.devices)
    if (!request.partition.empty()) json.key("profile").string(request.partition);
  json.key("start").number(job.tasks[index].allocation.start).end_object();
}

void write_task(JsonWriter& json, const JobRecord& job, std::uint32_t index,
                std::span<const NodeRecord> nodes) {
  const auto& task = job.tasks[index];
  json.begin_object();
  json.key("index").number(index);
  json.key("role").string(job.spec->role_of(index).name);
  json.key("phase").string(to_string(task.phase));
  json.key("attempt").number(task.attempt);
  json.key("retries").number(task.retries);
  if (const auto* node = node_of(task, nodes)) {
    json.key("node").string(node->spec.name);
    json.key("devices");
    write_task_devices(json, task, *node);
    if (task.allocation.start != kNoPartition) write_partition(json, job, index);
  }
  if (task.exit) {
    json.key("exit");
    write_exit(json, *task.exit);
  }
  write_optional_time(json, "started_at", task.started_at);
  if (task.phase == TaskPhase::kBackoff) write_optional_time(json, "restarts_at", task.not_before);
  json.end_object();
}

// Distinct nodes, and the devices held of each kind.
void write_placement(JsonWriter& json, const JobRecord& job, std::span<const NodeRecord> nodes) {
  std::vector<std::string_view> names;
  std::map<std::tuple<std::string, std::string, bool>, std::int64_t> devices;
  std::int64_t running = 0;
  for (const auto& task : job.tasks) {
    running += task.phase == TaskPhase::kRunning || task.phase == TaskPhase::kStopping;
    const auto* node = node_of(task, nodes);
    if (!node) continue;
    names.push_back(node->spec.name);
    for (std::size_t i = 0; i < node->spec.devices.size(); ++i) {
      if ((task.allocation.devices >> i & 1) == 0) continue;
      const auto& device = node->spec.devices[i];
      ++devices[{device.device_class, device.model, device.origin == DeviceOrigin::kEmulated}];
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  json.key("tasks_total").number(job.tasks.size());
  json.key("tasks_running").number(running);
  json.key("nodes").begin_array();
  for (const auto name : names) json.string(name);
  json.end_array();
  json.key("devices").begin_array();
  for (const auto& [kind, count] : devices) {
    const auto& [device_class, model, emulated] = kind;
    json.begin_object();
    json.key("class").string(device_class).key("model").string(model);
    json.key("emulated").boolean(emulated).key("count").number(count);
    json.end_object();
  }
  json.end_array();
}

Duration waited(const JobRecord& job, Instant now) {
  if (job.state != JobState::kPending || now < job.pending_since) return job.waited;
  return job.waited + (now - job.pending_since);
}

std::optional<Reason> reason_of(const JobRecord& job, const Engine& engine) {
  if (job.state == JobState::kPending)
    if (auto reason = engine.main_reason(job.id)) return reason;
  return job.reason;
}

}  // namespace

void write_optional_time(JsonWriter& json, std::string_view key, Instant time) {
  if (!time.is_never()) json.key(key).string(to_rfc3339(time));
}

void write_unknown_devices(JsonWriter& json, const std::vector<UnknownDevice>& unknown) {
  if (unknown.empty()) return;
  json.key("unknown_devices").begin_array();
  for (const UnknownDevice& device : unknown) {
    json.begin_object().key("queue").string(device.queue).key("device").string(device.device);
    if (!device.nearest.empty()) json.key("nearest").string(device.nearest);
    json.end_object();
  }
  json.end_array();
}

void write_reason(JsonWriter& json, const Reason& reason) { json.raw(to_json(reason)); }

void write_device_identity(JsonWriter& json, std::size_t index, const DeviceSpec& device) {
  json.key("index").number(index);
  json.key("class").string(device.device_class);
  json.key("model").string(device.model);
  json.key("emulated").boolean(device.origin == DeviceOrigin::kEmulated);
}

namespace {

void write_class_features(JsonWriter& json, const JobSpec& spec) {
  const ClassFeatures features = class_features(spec);
  json.key("class_from").begin_object().key("rule").string(to_string(features.rule));
  json.key("tasks").number(features.tasks).key("devices").number(features.devices);
  json.key("ports").number(features.ports).key("elastic").boolean(features.is_elastic);
  json.end_object();
}

void write_array(JsonWriter& json, const JobRecord& job) {
  json.key("array").begin_object().key("index").number(*job.spec->array_index);
  if (job.array_limit != 0) json.key("limit").number(job.array_limit);
  json.end_object();
}

}  // namespace

void write_job(JsonWriter& json, const JobRecord& job, const Engine& engine, Instant now,
               JobDetail detail) {
  const auto nodes = engine.nodes();
  json.begin_object();
  json.key("id").string(job.uid);
  json.key("number").number(job.id.value);
  json.key("name").string(job.spec->name);
  json.key("tenant").string(job.spec->tenant);
  json.key("queue").string(job.spec->queue);
  json.key("class").string(to_string(job.spec->workload_class));
  if (job.spec->class_source == ClassSource::kFeatures) write_class_features(json, *job.spec);
  if (job.spec->array_index) write_array(json, job);
  json.key("priority").number(job.spec->priority);
  json.key("state").string(to_string(job.state));
  json.key("held").boolean(job.held);
  if (const auto reason = reason_of(job, engine)) {
    json.key("reason");
    write_reason(json, *reason);
  }
  write_optional_time(json, "submitted_at", job.submitted_at);
  write_optional_time(json, "started_at", job.started_at);
  write_optional_time(json, "ended_at", job.ended_at);
  json.key("waited_seconds").real(waited(job, now).in_seconds());
  json.key("evictions").number(job.evictions);
  json.key("runs").number(job.runs);
  write_placement(json, job, nodes);
  if (detail == JobDetail::kFull) {
    json.key("spec").raw(to_json(*job.spec));
    json.key("tasks").begin_array();
    for (std::uint32_t i = 0; i < job.tasks.size(); ++i) write_task(json, job, i, nodes);
    json.end_array();
  }
  json.end_object();
}

}  // namespace gridfold
