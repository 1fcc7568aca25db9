// POST config:reload: the daemon reads its configuration again.
#include "api/api.h"
#include "api/problem.h"
#include "base/json_writer.h"

namespace gridfold {
namespace {

HttpResponse reloaded(const std::vector<std::string>& changes) {
  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object().key("changed").begin_array();
  for (const std::string& change : changes) json.string(change);
  json.end_array().end_object();
  return response;
}

}  // namespace

void add_config_route(Router& router, const ApiContext& api) {
  router.add("POST", "/v1/config:reload", {}, [&api](const ApiRequest& request, Respond respond) {
    const std::string& id = request.http.request_id;
    if (!request.http.body.empty())
      return respond(to_response(to_problem(invalid("this request takes no body")), id));
    api.reload_configuration(
        [id, respond = std::move(respond)](Result<std::vector<std::string>> changes) {
          respond(changes ? reloaded(*changes) : to_response(to_problem(changes.error()), id));
        });
  });
}

}  // namespace gridfold
