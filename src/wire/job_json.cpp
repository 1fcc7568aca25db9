#include "wire/job_json.h"

#include "base/base64.h"
#include "base/json_writer.h"
#include "base/utf8.h"

namespace gridfold {
namespace {

void write(JsonWriter& json, const std::vector<std::string>& list) {
  json.begin_array();
  for (const auto& text : list) json.string(text);
  json.end_array();
}

void write(JsonWriter& json, const std::map<std::string, std::string>& map) {
  json.begin_object();
  for (const auto& [key, value] : map) json.key(key).string(value);
  json.end_object();
}

// Always as a list: the keys by class could not keep the order.
void write(JsonWriter& json, const std::vector<DeviceRequest>& devices) {
  json.begin_array();
  for (const auto& request : devices) {
    json.begin_object().key("class").string(request.device_class);
    if (request.is_whole()) {
      json.key("amount").number(request.count);
    } else if (request.share != DeviceShare(0)) {
      json.key("amount").raw(to_text(request.share));
    }
    if (request.memory != Bytes(0)) json.key("memory").string(to_text(request.memory));
    if (!request.models.empty()) write(json.key("model"), request.models);
    if (request.place != DevicePlace::kAny) json.key("place").string(to_string(request.place));
    if (!request.partition.empty()) json.key("partition").string(request.partition);
    json.end_object();
  }
  json.end_array();
}

void write(JsonWriter& json, const Role& role) {
  json.begin_object().key("name").string(role.name).key("count");
  if (role.min == role.count && role.multiple_of == 1 && role.preferred == 0) {
    json.number(role.count);
  } else {
    json.begin_object().key("min").number(role.min).key("max").number(role.count);
    if (role.multiple_of != 1) json.key("multiple_of").number(role.multiple_of);
    if (role.preferred != 0) json.key("preferred").number(role.preferred);
    json.end_object();
  }
  json.key("each").begin_object();
  json.key("cpu").string(to_text(role.each.cpu)).key("memory").string(to_text(role.each.memory));
  if (!role.each.devices.empty()) write(json.key("devices"), role.each.devices);
  json.end_object();
  write(json.key("run"), role.command);
  if (!role.env.empty()) write(json.key("env"), role.env);
  if (!role.start_after.empty()) write(json.key("start_after"), role.start_after);
  json.end_object();
}

void write(JsonWriter& json, const TopologyWish& wish) {
  json.begin_object();
  if (!wish.prefer.empty()) json.key("prefer").string(wish.prefer);
  if (!wish.require.empty()) json.key("require").string(wish.require);
  if (!wish.spread.empty()) json.key("spread").string(wish.spread);
  if (wish.segments) {
    json.key("segments").begin_object().key("size").number(wish.segments->size);
    json.key("within").string(wish.segments->within).end_object();
  }
  json.end_object();
}

// The data groups follow from the tasks.
void write(JsonWriter& json, const JobTraffic& traffic) {
  json.begin_object().key("compute").string(to_text(traffic.compute));
  if (traffic.tensor != 1) json.key("tensor").number(traffic.tensor);
  if (traffic.pipeline != 1) json.key("pipeline").number(traffic.pipeline);
  if (traffic.expert != 1) json.key("expert").number(traffic.expert);
  json.key("exchanges").begin_array();
  for (const Exchange& exchange : traffic.exchanges) {
    json.begin_object().key("collective").string(to_string(exchange.collective));
    json.key("among").string(to_string(exchange.axis));
    json.key("bytes").string(to_text(exchange.bytes));
    if (exchange.times != 1) json.key("times").number(exchange.times);
    if (exchange.hidden != Duration{}) json.key("hidden").string(to_text(exchange.hidden));
    json.end_object();
  }
  json.end_array().end_object();
}

void write(JsonWriter& json, const StagedFile& file) {
  json.begin_object().key("path").string(file.path);
  if (is_valid_utf8(file.content)) {
    json.key("content").string(file.content);
  } else {
    json.key("content_base64").string(to_base64(file.content));
  }
  if (file.executable) json.key("executable").boolean(true);
  json.end_object();
}

void write(JsonWriter& json, const Retry& retry) {
  json.begin_object().key("max").number(retry.max);
  json.key("backoff").string(to_text(retry.backoff)).key("on").begin_array();
  for (const auto cause : retry.on) json.string(to_string(cause));
  json.end_array().end_object();
}

void write(JsonWriter& json, const Checkpoint& checkpoint) {
  json.begin_object().key("signal").string(checkpoint.signal);
  json.key("grace").string(to_text(checkpoint.grace));
  if (checkpoint.interval.is_known())
    json.key("interval").string(to_text(checkpoint.interval.value()));
  if (checkpoint.cost.is_known()) json.key("cost").string(to_text(checkpoint.cost.value()));
  json.end_object();
}

void write(JsonWriter& json, const TrainingDeclaration& training) {
  json.begin_object();
  if (!training.program.empty()) json.key("program").string(training.program);
  if (training.initial_batch != 0) json.key("initial_batch").number(training.initial_batch);
  if (training.batch != 0) json.key("batch").number(training.batch);
  if (training.max_batch != 0) json.key("max_batch").number(training.max_batch);
  if (training.min_local_batch != 1) json.key("min_local_batch").number(training.min_local_batch);
  if (training.max_local_batch != 0) json.key("max_local_batch").number(training.max_local_batch);
  if (training.epochs.is_known()) json.key("epochs").number(training.epochs.value());
  if (training.deadline.is_known()) json.key("deadline").string(to_text(training.deadline.value()));
  if (training.steps.is_known()) json.key("steps").number(training.steps.value());
  if (!training.rates.empty()) {
    json.key("rates").begin_array();
    for (const DeclaredRate& rate : training.rates) {
      json.begin_object().key("model").string(rate.device_model).key("nodes").number(rate.nodes);
      json.key("tasks").number(rate.tasks).key("steps_per_second").real(rate.steps_per_second);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

}  // namespace

std::string to_json(const JobSpec& spec) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("name").string(spec.name).key("tenant").string(spec.tenant);
  json.key("queue").string(spec.queue).key("class").string(to_string(spec.workload_class));
  if (spec.class_source == ClassSource::kFeatures) json.key("class_source").string("features");
  json.key("priority").number(spec.priority);
  json.key("roles").begin_array();
  for (const auto& role : spec.roles) write(json, role);
  json.end_array();
  if (!spec.topology.empty()) write(json.key("topology"), spec.topology);
  if (spec.communication) write(json.key("communication"), *spec.communication);
  if (!spec.env.empty()) write(json.key("env"), spec.env);
  if (!spec.workdir.empty()) json.key("workdir").string(spec.workdir);
  if (!spec.files.empty()) {
    json.key("files").begin_array();
    for (const auto& file : spec.files) write(json, file);
    json.end_array();
  }
  if (!spec.ports.empty()) {
    json.key("ports").begin_array();
    for (const std::int32_t port : spec.ports) json.number(port);
    json.end_array();
  }
  write(json.key("retry"), spec.retry);
  if (!spec.after.empty()) {
    json.key("after").begin_array();
    for (const auto& edge : spec.after)
      json.begin_object()
          .key("job")
          .string(edge.job)
          .key("on")
          .string(to_string(edge.condition))
          .end_object();
    json.end_array();
  }
  if (spec.array_index) {
    json.key("array_index").number(*spec.array_index);
    json.key("array_position").number(spec.array_position);
    if (spec.array_limit != 0) json.key("array_limit").number(spec.array_limit);
  }
  json.key("stop").begin_object().key("signal").string(spec.stop.signal);
  json.key("grace").string(to_text(spec.stop.grace)).end_object();
  if (spec.checkpoint) write(json.key("checkpoint"), *spec.checkpoint);
  if (spec.training) write(json.key("training"), *spec.training);
  if (!spec.time_limit.is_unlimited())
    json.key("time_limit").string(to_text(spec.time_limit.bound()));
  json.end_object();
  return out;
}

}  // namespace gridfold
