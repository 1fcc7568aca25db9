// Nodes: the list, one, :drain and :undrain.
#include <bit>
#include <map>

#include "api/api.h"
#include "api/documents.h"
#include "api/job_lookup.h"
#include "base/quote.h"

namespace gridfold {
namespace {

struct Holding {
  const JobRecord* job;
  std::uint32_t task;
};
using Holdings = std::multimap<NodeId, Holding>;

// Who holds what, by node, in order of job and task.
Holdings holdings_by_node(const Engine& engine) {
  Holdings holdings;
  for (const auto* job : engine.jobs())
    for (std::uint32_t i = 0; i < job->tasks.size(); ++i)
      if (holds_allocation(job->tasks[i].phase))
        holdings.emplace(job->tasks[i].allocation.node, Holding{job, i});
  return holdings;
}

void write_slots(JsonWriter& json, SlotMask slots) {
  json.begin_array();
  for (; slots != 0; slots &= slots - 1) json.number(std::countr_zero(slots));
  json.end_array();
}

void write_devices(JsonWriter& json, const NodeRecord& node, const NodeRoom& room) {
  json.begin_array();
  for (std::size_t i = 0; i < node.spec.devices.size(); ++i) {
    const auto& device = node.spec.devices[i];
    json.begin_object();
    write_device_identity(json, i, device);
    if (!device.uid.empty()) json.key("uid").string(device.uid);
    if (device.memory.is_known()) json.key("memory_bytes").number(device.memory.value().value);
    if (device.numa >= 0) json.key("numa").number(device.numa);
    if (device.pcie_switch >= 0) json.key("switch").number(device.pcie_switch);
    if (device.island >= 0) json.key("island").number(device.island);
    if (!device.partitions.empty()) {
      json.key("partitions").begin_array();
      for (const auto& profile : device.partitions) json.string(profile.name);
      json.end_array();
    }
    if (i < room.devices.size()) {
      if (!device.partitions.empty())
        write_slots(json.key("free_slots"), room.devices[i].free_slots);
      json.key("free_share_thousandths").number(room.devices[i].free_share);
      json.key("holders").number(room.devices[i].holders);
      if (room.devices[i].free_memory >= 0)
        json.key("free_memory_bytes").number(room.devices[i].free_memory);
    }
    json.key("quarantined").boolean((node.dirty_devices >> i & 1) != 0);
    if (!device.fault.empty()) json.key("fault").string(device.fault);
    json.end_object();
  }
  json.end_array();
}

void write_holders(JsonWriter& json, NodeId node, const Holdings& holdings) {
  json.begin_array();
  const auto [first, last] = holdings.equal_range(node);
  for (auto it = first; it != last; ++it) {
    const auto& [job, index] = it->second;
    json.begin_object();
    json.key("job").string(job->uid);
    json.key("name").string(job->spec->name);
    json.key("class").string(to_string(job->spec->workload_class));
    json.key("task").number(index);
    json.key("phase").string(to_string(job->tasks[index].phase));
    json.key("devices").begin_array();
    for (int i = 0; i < 64; ++i)
      if ((job->tasks[index].allocation.devices >> i & 1) != 0) json.number(i);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_node(JsonWriter& json, const NodeRecord& node, const Engine& engine,
                const Holdings& holdings) {
  const auto room = engine.room(node.id);
  json.begin_object();
  json.key("name").string(node.spec.name);
  json.key("up").boolean(node.up);
  json.key("drained").boolean(node.drained);
  if (node.reason) {
    json.key("reason");
    write_reason(json, *node.reason);
  }
  json.key("cpu_millicores").number(node.spec.cpu.value);
  json.key("free_cpu_millicores").number(room.cpu);
  json.key("memory_bytes").number(node.spec.memory.value);
  json.key("free_memory_bytes").number(room.memory);
  json.key("devices");
  write_devices(json, node, room);
  json.key("domains").begin_array();
  for (const auto& domain : node.spec.domains) {
    json.begin_object();
    if (!domain.level.empty()) json.key("level").string(domain.level);
    json.key("name").string(domain.name).end_object();
  }
  json.end_array();
  json.key("labels").begin_object();
  for (const auto& [name, value] : node.spec.labels) json.key(name).string(value);
  json.end_object();
  json.key("tasks");
  write_holders(json, node.id, holdings);
  json.end_object();
}

const NodeRecord* find_node(const Engine& engine, std::string_view name) {
  for (const auto& node : engine.nodes())
    if (node.spec.name == name) return &node;
  return nullptr;
}

// Whether limits are kept by force or only in our books: users must not take
// the one for the other.
void write_enforcement(JsonWriter& json, const Capabilities& capabilities) {
  const auto add = [&](const char* key, Enforcement enforcement) {
    json.key(key).string(enforcement == Enforcement::kEnforced ? "enforced" : "accounted");
  };
  json.key("enforcement").begin_object();
  add("cpu", capabilities.cpu);
  add("memory", capabilities.memory);
  add("device_share", capabilities.device_share);
  add("device_access", capabilities.device_access);
  json.end_object();
}

HttpResponse list_nodes(ControlLoop& loop) {
  HttpResponse response;
  JsonWriter json(response.body);
  const auto holdings = holdings_by_node(loop.engine());
  json.begin_object().key("nodes").begin_array();
  for (const auto& node : loop.engine().nodes()) write_node(json, node, loop.engine(), holdings);
  json.end_array();
  write_enforcement(json, loop.backend().capabilities());
  json.end_object();
  return response;
}

HttpResponse node_response(const ControlLoop& loop, std::string_view name,
                           std::string_view request_id) {
  const auto* node = find_node(loop.engine(), name);
  if (!node) {
    Error error = not_found("there is no node " + quote(name));
    error.hint = "gridfold node list shows those there are";
    return to_response(to_problem(error), request_id);
  }
  HttpResponse response;
  JsonWriter json(response.body);
  write_node(json, *node, loop.engine(), holdings_by_node(loop.engine()));
  return response;
}

struct DrainRequest {
  std::string name, request_id, by;
  bool drained = true;
  Respond respond;
};

void drain(const DrainRequest& drain, ControlLoop& loop) {
  if (!find_node(loop.engine(), drain.name))
    return drain.respond(node_response(loop, drain.name, drain.request_id));
  if (loop.read_only())
    return drain.respond(to_response(store_read_only(*loop.read_only()), drain.request_id));
  loop.request(
      NodeDrainRequested{drain.name, drain.drained, drain.by}, [&loop, drain](Result<void> done) {
        drain.respond(done ? node_response(loop, drain.name, drain.request_id)
                           : to_response(loop_problem(loop, done.error()), drain.request_id));
      });
}

void add_drain(Router& router, const ApiContext& api, const std::string& verb, bool drained) {
  router.add(
      "POST", "/v1/nodes/{node}:" + verb, {},
      [&api, drained](const ApiRequest& request, Respond respond) {
        if (!request.http.body.empty())
          return respond(to_response(to_problem(invalid("this request takes no body")),
                                     request.http.request_id));
        api.loop.post([wish = DrainRequest{request.path_value("node"), request.http.request_id,
                                           request.http.peer, drained, std::move(respond)}](
                          ControlLoop& loop) { drain(wish, loop); });
      });
}

}  // namespace

void add_node_routes(Router& router, const ApiContext& api) {
  router.add("GET", "/v1/nodes", {}, [&api](const ApiRequest&, Respond respond) {
    api.loop.post([respond = std::move(respond)](ControlLoop& loop) { respond(list_nodes(loop)); });
  });
  router.add("GET", "/v1/nodes/{node}", {}, [&api](const ApiRequest& request, Respond respond) {
    api.loop.post([name = request.path_value("node"), id = request.http.request_id,
                   respond = std::move(respond)](ControlLoop& loop) {
      respond(node_response(loop, name, id));
    });
  });
  add_drain(router, api, "drain", true);
  add_drain(router, api, "undrain", false);
}

}  // namespace gridfold
