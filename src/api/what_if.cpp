// What would be otherwise if something were changed: nothing is, two copies of
// the engine are run forward.
#include <unordered_map>

#include "api/api.h"
#include "api/body_format.h"
#include "api/documents.h"
#include "api/job_lookup.h"
#include "api/what_if_request.h"
#include "control/start_estimates.h"

namespace gridfold {
namespace {

struct Named {
  std::string id, name;
};
// Of all jobs that the sides may name.
using Names = std::unordered_map<JobId, Named>;

Names names_of(const WhatIfAnswer& answer) {
  Names names;
  for (const WhatIfSide* side : {&answer.now, &answer.changed})
    for (const JobId job : side->evicted) names[job] = {};
  for (const JobRecord& job : answer.snapshot->jobs) {
    if (const auto it = names.find(job.id); it != names.end())
      it->second = {job.uid, job.spec->name};
  }
  for (const WhatIfStart& job : answer.submitted) {
    if (const auto it = names.find(job.job); it != names.end()) it->second.name = job.name;
  }
  return names;
}

void write_side(JsonWriter& json, const WhatIfSide& side, const Names& names) {
  json.begin_object();
  json.key("complete").boolean(side.complete);
  json.key("starting_jobs").number(side.starting);
  json.key("mean_wait_seconds").real(side.mean_wait.in_seconds());
  json.key("p95_wait_seconds").real(side.p95_wait.in_seconds());
  json.key("devices_thousandths").number(side.devices);
  if (side.utilisation)
    json.key("utilisation_ratio").real(static_cast<double>(*side.utilisation) / 1e6);
  json.key("evictions").begin_array();
  for (const JobId job : side.evicted) {
    const Named& named = names.at(job);
    json.begin_object();
    if (!named.id.empty()) json.key("job").string(named.id);  // a submitted one has none
    json.key("name").string(named.name).end_object();
  }
  json.end_array().end_object();
}

HttpResponse answered(const WhatIfAnswer& answer, Instant now) {
  HttpResponse response;
  JsonWriter json(response.body);
  const Instant from = answer.snapshot->at;
  const Names names = names_of(answer);
  json.begin_object();
  json.key("as_of").string(to_rfc3339(from));
  json.key("age_seconds").real(std::max(now - from, Duration{}).in_seconds());
  json.key("horizon_seconds").real(answer.horizon.in_seconds());
  json.key("waiting_jobs").number(answer.waiting);
  json.key("now");
  write_side(json, answer.now, names);
  json.key("changed");
  write_side(json, answer.changed, names);
  json.key("submitted").begin_array();
  for (const WhatIfStart& job : answer.submitted) {
    json.begin_object().key("name").string(job.name);
    json.key("within_horizon").boolean(!job.at.is_never());
    write_optional_time(json, "start", job.at);
    if (!job.at.is_never()) json.key("wait_seconds").real((job.at - from).in_seconds());
    json.end_object();
  }
  json.end_array().end_object();
  return response;
}

void ask(const ApiContext& api, const ApiRequest& request, const Respond& respond) {
  const std::string id = request.http.request_id;
  const auto content_type = request.http.header("content-type");
  const auto format = body_format(content_type);
  if (!format) return respond(to_response(unsupported_media_type(content_type), id));
  auto question = parse_what_if(request.http.body, *format);
  if (!question) return respond(to_response(to_problem(question.error()), id));
  api.loop.post(
      [&clock = api.clock, question = std::move(*question), id, respond](ControlLoop& loop) {
        StartEstimates* estimates = loop.estimates();
        if (estimates == nullptr) {
          const Error error = unavailable("this daemon does not look ahead");
          return respond(to_response(to_problem(error), id));
        }
        const Instant now = clock.now();
        estimates->what_if(
            loop.engine(), now, loop.revision(), question,
            [id, respond, now](const Result<std::shared_ptr<const WhatIfAnswer>>& made) {
              respond(made ? answered(**made, now) : to_response(to_problem(made.error()), id));
            });
      });
}

}  // namespace

void add_what_if_route(Router& router, const ApiContext& api) {
  router.add("POST", "/v1/what-if", {},
             [&api](const ApiRequest& request, Respond respond) { ask(api, request, respond); });
}

}  // namespace gridfold
