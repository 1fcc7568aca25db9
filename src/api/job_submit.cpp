// POST of jobs: one batch, all or none, answered when it is durable.
#include "api/api.h"
#include "api/body_format.h"
#include "api/job_lookup.h"
#include "base/json_writer.h"
#include "base/sha256.h"
#include "wire/job_file.h"
#include "wire/job_json.h"

namespace gridfold {
namespace {

constexpr std::size_t kMaxKeyBytes = 255;

HttpResponse validated(const std::vector<SubmittedSpec>& jobs) {
  HttpResponse response;
  JsonWriter json(response.body);
  json.begin_object().key("jobs").begin_array();
  for (const auto& job : jobs) json.begin_object().key("spec").raw(to_json(*job)).end_object();
  json.end_array().end_object();
  return response;
}

HttpResponse submitted(const SubmitAnswer& answer) {
  HttpResponse response;
  response.status = answer.repeated ? 200 : 201;
  JsonWriter json(response.body);
  json.begin_object().key("jobs").begin_array();
  for (const auto& job : answer.jobs) {
    json.begin_object().key("id").string(job.uid);
    json.key("number").number(job.id.value).key("name").string(job.name).end_object();
  }
  json.end_array().key("repeated").boolean(answer.repeated).end_object();
  return response;
}

// The same key with another body is the caller's mistake, not a race.
Problem submit_problem(const ControlLoop& loop, const Error& error, bool has_key) {
  if (has_key && error.kind == ErrorKind::kConflict) {
    Problem problem{422, "IdempotencyKeyReused", "The idempotency key was used for another request",
                    error.message};
    problem.hint = "draw a new key for each new request";
    return problem;
  }
  return loop_problem(loop, error);
}

Result<SubmitRequest> parse_submit(const ApiRequest& request, JobFileFormat format, bool hold) {
  SubmitRequest submit;
  submit.tenant = request.path_value("tenant");
  submit.held = hold;
  submit.idempotency_key = request.http.header("idempotency-key");
  if (submit.idempotency_key.size() > kMaxKeyBytes) {
    Error error = invalid("the idempotency key is longer than 255 bytes");
    error.field = "Idempotency-Key";
    return error;
  }
  submit.body_digest = sha256_hex((hold ? "hold\n" : "run\n") + request.http.body);
  auto jobs = parse_job_file(request.http.body, format);
  if (!jobs) return jobs.error();
  for (auto& job : *jobs) {
    job.tenant = submit.tenant;
    submit.jobs.emplace_back(std::move(job));
  }
  return submit;
}

void submit_jobs(const ApiContext& api, const ApiRequest& request, const Respond& respond) {
  const auto refuse = [&](const Problem& problem) {
    respond(to_response(problem, request.http.request_id));
  };
  const auto validate_only = request.query.flag("validate_only");
  if (!validate_only) return refuse(to_problem(validate_only.error()));
  const auto hold = request.query.flag("hold");
  if (!hold) return refuse(to_problem(hold.error()));
  const auto content_type = request.http.header("content-type");
  const auto format = body_format(content_type);
  if (!format) return refuse(unsupported_media_type(content_type));
  auto submit = parse_submit(request, *format, *hold);
  if (!submit) return refuse(to_problem(submit.error()));
  if (*validate_only) return respond(validated(submit->jobs));
  api.loop.post([submit = std::move(*submit), id = request.http.request_id,
                 respond](ControlLoop& loop) mutable {
    const bool has_key = !submit.idempotency_key.empty();
    loop.submit(std::move(submit), [&loop, id, respond, has_key](Result<SubmitAnswer> answer) {
      respond(answer ? submitted(*answer)
                     : to_response(submit_problem(loop, answer.error(), has_key), id));
    });
  });
}

}  // namespace

void add_job_submit_route(Router& router, const ApiContext& api) {
  router.add(
      "POST", "/v1/tenants/{tenant}/jobs", {"validate_only", "hold"},
      [&api](const ApiRequest& request, Respond respond) { submit_jobs(api, request, respond); });
}

}  // namespace gridfold
