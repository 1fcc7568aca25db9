// The queues, with their limits and what is used of them. An absent limit is
// "unlimited".
#include <set>

#include "api/api.h"
#include "base/json_writer.h"

namespace gridfold {
namespace {

template <class T>
void write_limit(JsonWriter& json, std::string_view key, const Limit<T>& limit) {
  json.key(key);
  limit.is_unlimited() ? json.string("unlimited") : json.number(limit.bound().value);
}

void write_queue(JsonWriter& json, const QueueSpec& queue, const QueueUsage& usage) {
  json.begin_object();
  json.key("name").string(queue.name);
  json.key("priority").number(queue.priority);
  json.key("open").boolean(queue.open);
  json.key("preempts").boolean(queue.preempts);
  json.key("running_jobs").number(usage.running_jobs);
  json.key("pending_jobs").number(usage.pending_jobs);
  write_limit(json, "limit_cpu_millicores", queue.cpu);
  json.key("used_cpu_millicores").number(usage.cpu);
  write_limit(json, "limit_memory_bytes", queue.memory);
  json.key("used_memory_bytes").number(usage.memory);
  std::set<std::string> classes;
  for (const auto& [device_class, limit] : queue.devices) classes.insert(device_class);
  for (const auto& [device_class, used] : usage.devices) classes.insert(device_class);
  json.key("devices").begin_array();
  for (const auto& device_class : classes) {
    const auto limit = queue.devices.find(device_class);
    const auto used = usage.devices.find(device_class);
    json.begin_object();
    json.key("class").string(device_class);
    json.key("limit_thousandths");
    limit == queue.devices.end() ? json.string("unlimited") : json.number(limit->second);
    json.key("used_thousandths").number(used == usage.devices.end() ? 0 : used->second);
    json.end_object();
  }
  json.end_array().end_object();
}

HttpResponse list_queues(const Engine& engine) {
  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object().key("queues").begin_array();
  for (const auto& queue : engine.queues()) write_queue(json, queue, engine.usage(queue.name));
  json.end_array().end_object();
  return response;
}

}  // namespace

void add_queue_routes(Router& router, const ApiContext& api) {
  router.add("GET", "/v1/queues", {}, [&api](const ApiRequest&, Respond respond) {
    api.loop.post(
        [respond = std::move(respond)](ControlLoop& loop) { respond(list_queues(loop.engine())); });
  });
}

}  // namespace gridfold
