#include "api/problem.h"

#include "base/json_writer.h"

namespace gridfold {
namespace {

struct KindFacts {
  int status;
  const char* code;
  const char* title;
};

KindFacts facts_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid: return {400, "Invalid", "The request is not valid"};
    case ErrorKind::kNotFound: return {404, "NotFound", "There is no such thing"};
    case ErrorKind::kUnauthorised: return {401, "Unauthorised", "The caller is not known"};
    case ErrorKind::kConflict: return {409, "Conflict", "The state does not allow it"};
    case ErrorKind::kUnavailable: return {503, "Unavailable", "Not available at the moment"};
    case ErrorKind::kInfeasible: return {422, "Infeasible", "This can never be done here"};
    case ErrorKind::kLimit: return {413, "LimitExceeded", "A published limit is exceeded"};
    case ErrorKind::kCorrupt: return {500, "Corrupt", "Stored data does not read back"};
    case ErrorKind::kInternal: break;
  }
  return {500, "Internal", "The daemon failed"};
}

}  // namespace

Problem to_problem(const Error& error) {
  const auto facts = facts_of(error.kind);
  Problem problem{facts.status, facts.code, facts.title, error.message};
  problem.field = error.field;
  problem.hint = error.hint;
  problem.position = error.position;
  if (error.kind == ErrorKind::kUnavailable) problem.retry_after_seconds = 1;
  return problem;
}

Problem store_read_only(const Error& cause) {
  Problem problem{503, "StoreReadOnly", "The store cannot be written", cause.message};
  problem.hint = "running jobs go on; free space or restore write access, the daemon tries again";
  problem.retry_after_seconds = 5;
  return problem;
}

HttpResponse to_response(const Problem& problem, std::string_view request_id) {
  HttpResponse response;
  response.status = problem.status;
  response.content_type = "application/problem+json";
  JsonWriter json(response.body);
  json.begin_object();
  json.key("type").string("urn:gridfold:problem:" + problem.code);
  json.key("title").string(problem.title);
  json.key("status").number(problem.status);
  json.key("code").string(problem.code);
  json.key("params").begin_object();
  for (const auto& [name, value] : problem.params) json.key(name).string(value);
  json.end_object();
  json.key("detail").string(problem.detail);
  json.key("request_id").string(request_id);
  if (!problem.field.empty()) json.key("field").string(problem.field);
  if (!problem.hint.empty()) json.key("hint").string(problem.hint);
  if (problem.position.line > 0) json.key("line").number(problem.position.line);
  if (problem.position.column > 0) json.key("column").number(problem.position.column);
  if (problem.retry_after_seconds > 0) {
    json.key("retry_after").number(problem.retry_after_seconds);
    response.headers.emplace_back("Retry-After", std::to_string(problem.retry_after_seconds));
  }
  json.end_object();
  if (problem.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace gridfold
