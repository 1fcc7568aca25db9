// The queues, with their limits and what is used of them. An absent limit is
// "unlimited".
#include <set>
#include <type_traits>

#include "api/api.h"
#include "api/documents.h"
#include "base/json_writer.h"

namespace gridfold {
namespace {

template <class T>
void write_limit(JsonWriter& json, std::string_view key, const Limit<T>& limit) {
  json.key(key);
  if (limit.is_unlimited())
    json.string("unlimited");
  else if constexpr (std::is_same_v<T, std::int64_t>)
    json.number(limit.bound());
  else if constexpr (std::is_same_v<T, Duration>)
    json.number(limit.bound().ns);
  else
    json.number(limit.bound().value);
}

void write_queue(JsonWriter& json, const QueueSpec& queue, const QueueUsage& usage,
                 const std::set<std::string>& models) {
  json.begin_object();
  json.key("name").string(queue.name);
  json.key("priority").number(queue.priority);
  json.key("open").boolean(queue.open);
  if (queue.weight > 0) json.key("weight").number(queue.weight);
  if (usage.share) json.key("share_millionths").number(*usage.share);
  json.key("preempts").boolean(queue.preempts);
  json.key("running_jobs").number(usage.running_jobs);
  write_limit(json, "limit_running_jobs", queue.limit.running_jobs);
  write_limit(json, "longest_run_ns", queue.longest_run);
  json.key("pending_jobs").number(usage.pending_jobs);
  write_limit(json, "limit_cpu_millicores", queue.limit.cpu);
  json.key("used_cpu_millicores").number(usage.cpu);
  json.key("guaranteed_cpu_millicores").number(queue.guaranteed.cpu.value);
  write_limit(json, "limit_memory_bytes", queue.limit.memory);
  json.key("guaranteed_memory_bytes").number(queue.guaranteed.memory.value);
  json.key("used_memory_bytes").number(usage.memory);
  std::set<std::string> classes;
  for (const auto& [device_class, limit] : queue.limit.devices) classes.insert(device_class);
  for (const auto& [device_class, used] : usage.devices) classes.insert(device_class);
  for (const auto& [device_class, right] : queue.guaranteed.devices) classes.insert(device_class);
  json.key("devices").begin_array();
  for (const auto& device_class : classes) {
    const auto limit = queue.limit.devices.find(device_class);
    const auto used = usage.devices.find(device_class);
    json.begin_object();
    json.key("class").string(device_class);
    json.key("limit_thousandths");
    limit == queue.limit.devices.end() ? json.string("unlimited") : json.number(limit->second);
    json.key("used_thousandths").number(used == usage.devices.end() ? 0 : used->second);
    const auto right = queue.guaranteed.devices.find(device_class);
    json.key("guaranteed_thousandths")
        .number(right == queue.guaranteed.devices.end() ? 0 : right->second);
    if (const auto worth = usage.work_units.find(device_class); worth != usage.work_units.end())
      json.key("used_work_units_thousandths").number(worth->second);
    json.end_object();
  }
  json.end_array();
  write_unknown_devices(json, unknown_devices({&queue, 1}, models));
  json.end_object();
}

HttpResponse list_queues(const Engine& engine) {
  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object().key("queues").begin_array();
  const std::set<std::string> models = models_of(engine.nodes());
  for (const auto& queue : engine.queues())
    write_queue(json, queue, engine.usage(queue.name), models);
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
