// POST config:reload: the daemon reads its configuration again.
#include "api/api.h"
#include "api/documents.h"
#include "api/problem.h"
#include "base/json_writer.h"

namespace gridfold {
namespace {

HttpResponse reloaded(const std::vector<std::string>& changes, const Engine& engine) {
  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object().key("changed").begin_array();
  for (const std::string& change : changes) json.string(change);
  json.end_array();
  write_unknown_devices(json, unknown_devices(engine.queues(), models_of(engine.nodes())));
  json.end_object();
  return response;
}

}  // namespace

void add_config_route(Router& router, const ApiContext& api) {
  router.add("POST", "/v1/config:reload", {}, [&api](const ApiRequest& request, Respond respond) {
    const std::string& id = request.http.request_id;
    if (!request.http.body.empty())
      return respond(to_response(to_problem(invalid("this request takes no body")), id));
    api.reload_configuration(
        [&api, id, respond = std::move(respond)](Result<std::vector<std::string>> changes) {
          if (!changes) return respond(to_response(to_problem(changes.error()), id));
          api.loop.post([changes = std::move(*changes), respond](ControlLoop& loop) {
            respond(reloaded(changes, loop.engine()));
          });
        });
  });
}

}  // namespace gridfold
