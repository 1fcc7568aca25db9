// The daemon itself: version, health, the summary that `gridfold top` shows,
// and the description of the API.
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <tuple>

#include "api/api.h"
#include "api/problem.h"
#include "base/json_writer.h"

namespace gridfold {
namespace {

// A loop that gives no answer within this time is not alive.
constexpr Duration kLoopDeadline = Duration::seconds(5);

HttpResponse plain(int status, std::string text) {
  HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

// Answers once: with what `probe` makes of the loop, or, when the loop does
// not answer in time, with `late`.
void ask_loop(const ApiContext& api, std::function<HttpResponse(ControlLoop&)> probe,
              HttpResponse late, Respond respond) {
  const auto answered = std::make_shared<std::atomic<bool>>(false);
  api.later(kLoopDeadline, [answered, respond, late = std::move(late)] {
    if (!answered->exchange(true)) respond(late);
  });
  api.loop.post([answered, respond, probe = std::move(probe)](ControlLoop& loop) {
    if (!answered->exchange(true)) respond(probe(loop));
  });
}

HttpResponse readiness(const ControlLoop& loop, bool verbose) {
  const auto& read_only = loop.read_only();
  std::string text = read_only ? "not ready\n" : "ok\n";
  if (verbose) {
    text = "loop: ok\nstore: " + (read_only ? "read-only: " + read_only->message : "ok");
    text += "\nrevision: " + std::to_string(loop.revision()) + "\n";
  }
  return plain(read_only ? 503 : 200, std::move(text));
}

struct DeviceSum {
  std::int64_t total = 0;
  std::int64_t unusable = 0;  // quarantined, or of a node that is down or drained
  std::int64_t allocated_thousandths = 0;
};
using DeviceKind = std::tuple<std::string, std::string, bool>;  // class, model, emulated

struct Totals {
  std::int64_t nodes = 0, up = 0, drained = 0;
  std::int64_t cpu = 0, free_cpu = 0, memory = 0, free_memory = 0;
  std::map<DeviceKind, DeviceSum> devices;
};

void add_node(Totals& totals, const NodeRecord& node, const NodeRoom& room) {
  ++totals.nodes;
  totals.up += node.up;
  totals.drained += node.drained;
  totals.cpu += node.spec.cpu.value;
  totals.free_cpu += room.cpu;
  totals.memory += node.spec.memory.value;
  totals.free_memory += room.memory;
  for (std::size_t i = 0; i < node.spec.devices.size(); ++i) {
    const auto& device = node.spec.devices[i];
    auto& sum =
        totals
            .devices[{device.device_class, device.model, device.origin == DeviceOrigin::kEmulated}];
    ++sum.total;
    const bool dirty = (node.dirty_devices >> i & 1) != 0;
    sum.unusable += !node.up || node.drained || dirty || !device.fault.empty();
    if (i < room.devices.size() && !dirty)
      sum.allocated_thousandths += kWholeDevice.value - room.devices[i].free_share;
  }
}

void write_counts(JsonWriter& json, const std::map<std::string, std::int64_t>& counts) {
  json.begin_object();
  for (const auto& [name, count] : counts) json.key(name).number(count);
  json.end_object();
}

void write_job_counts(JsonWriter& json, const Engine& engine) {
  std::map<std::string, std::int64_t> by_state, by_class;
  for (const auto* job : engine.jobs()) {
    ++by_state[std::string(to_string(job->state))];
    ++by_class[std::string(to_string(job->spec->workload_class))];
  }
  json.key("jobs_by_state");
  write_counts(json, by_state);
  json.key("jobs_by_class");
  write_counts(json, by_class);
}

void write_device_sums(JsonWriter& json, const std::map<DeviceKind, DeviceSum>& devices) {
  json.key("devices").begin_array();
  for (const auto& [kind, sum] : devices) {
    const auto& [device_class, model, emulated] = kind;
    json.begin_object();
    json.key("class").string(device_class).key("model").string(model);
    json.key("emulated").boolean(emulated);
    json.key("total").number(sum.total).key("unusable").number(sum.unusable);
    json.key("allocated_thousandths").number(sum.allocated_thousandths);
    json.key("utilisation_ratio")
        .real(static_cast<double>(sum.allocated_thousandths) /
              static_cast<double>(sum.total * kWholeDevice.value));
    json.end_object();
  }
  json.end_array();
}

HttpResponse summary(const ControlLoop& loop, Instant now) {
  const auto& engine = loop.engine();
  Totals totals;
  for (const auto& node : engine.nodes()) add_node(totals, node, engine.room(node.id));
  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("time").string(to_rfc3339(now));
  json.key("revision").number(loop.revision());
  json.key("read_only").boolean(loop.read_only().has_value());
  json.key("nodes").begin_object();
  json.key("total").number(totals.nodes).key("up").number(totals.up);
  json.key("drained").number(totals.drained).end_object();
  json.key("cpu_millicores").number(totals.cpu);
  json.key("free_cpu_millicores").number(totals.free_cpu);
  json.key("memory_bytes").number(totals.memory);
  json.key("free_memory_bytes").number(totals.free_memory);
  write_device_sums(json, totals.devices);
  write_job_counts(json, engine);
  json.end_object();
  return response;
}

}  // namespace

void add_system_routes(Router& router, const ApiContext& api) {
  router.add("GET", "/v1/version", {}, [&api](const ApiRequest&, Respond respond) {
    HttpResponse response;
    JsonWriter(response.body)
        .begin_object()
        .key("version")
        .string(api.version)
        .key("api")
        .string("v1")
        .end_object();
    respond(std::move(response));
  });
  router.add("GET", "/v1/summary", {}, [&api](const ApiRequest&, Respond respond) {
    api.loop.post([&api, respond = std::move(respond)](ControlLoop& loop) {
      respond(summary(loop, api.clock.now()));
    });
  });
  router.add("GET", "/livez", {}, [&api](const ApiRequest&, Respond respond) {
    ask_loop(
        api, [](ControlLoop&) { return plain(200, "ok\n"); },
        plain(503, "the control loop does not answer\n"), std::move(respond));
  });
  router.add("GET", "/readyz", {"verbose"}, [&api](const ApiRequest& request, Respond respond) {
    const auto verbose = request.query.flag("verbose");
    if (!verbose) return respond(to_response(to_problem(verbose.error()), request.http.request_id));
    ask_loop(
        api, [verbose = *verbose](ControlLoop& loop) { return readiness(loop, verbose); },
        plain(503, "loop: does not answer\n"), std::move(respond));
  });
  router.add("GET", "/openapi.json", {}, [](const ApiRequest&, Respond respond) {
    HttpResponse response;
    response.body = openapi_document();
    respond(std::move(response));
  });
}

}  // namespace gridfold
