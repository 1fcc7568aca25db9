// Reports over time: where the device-time went since the daemon started.
#include <algorithm>

#include "accounting/effective_json.h"
#include "api/api.h"
#include "base/json_writer.h"

namespace gridfold {
namespace {

bool has_emulated(const Engine& engine, const std::string& device_class) {
  for (const NodeRecord& node : engine.nodes()) {
    const auto& devices = node.spec.devices;
    const bool any = std::any_of(devices.begin(), devices.end(), [&](const DeviceSpec& device) {
      return device.origin == DeviceOrigin::kEmulated && device.device_class == device_class;
    });
    if (any) return true;
  }
  return false;
}

HttpResponse effective_report(const Engine& engine, const EffectiveReport& report) {
  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("since").string(to_rfc3339(report.from));
  json.key("until").string(to_rfc3339(report.to));
  json.key("all");
  write_effective(json, report.all());
  json.key("classes").begin_array();
  for (const auto& one : report.classes) {
    json.begin_object();
    json.key("class").string(one.device_class);
    json.key("emulated").boolean(has_emulated(engine, one.device_class));
    json.key("effective");
    write_effective(json, one.totals);
    json.end_object();
  }
  json.end_array().end_object();
  return response;
}

}  // namespace

void add_report_routes(Router& router, const ApiContext& api) {
  router.add("GET", "/v1/report/effective", {}, [&api](const ApiRequest&, Respond respond) {
    api.loop.post([&api, respond = std::move(respond)](ControlLoop& loop) {
      respond(effective_report(loop.engine(), api.account.report(api.clock.now())));
    });
  });
}

}  // namespace gridfold
