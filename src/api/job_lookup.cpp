#include "api/job_lookup.h"

#include "api/documents.h"
#include "base/quote.h"

namespace gridfold {

Result<JobRecord> find_job(const ControlLoop& loop, std::string_view tenant,
                           std::string_view reference) {
  if (const auto* job = loop.find(tenant, reference)) return *job;
  auto ended = loop.find_ended(tenant, reference);
  if (ended) return std::move(ended->record);
  if (ended.error().kind != ErrorKind::kNotFound) return ended.error();
  Error error = not_found("there is no job " + quote(reference) + " in tenant " + quote(tenant));
  error.hint = "gridfold job list --all shows those there are";
  return error;
}

HttpResponse job_response(const ControlLoop& loop, std::string_view tenant,
                          std::string_view reference, Instant now, std::string_view request_id) {
  const auto job = find_job(loop, tenant, reference);
  if (!job) return to_response(to_problem(job.error()), request_id);
  HttpResponse response;
  JsonWriter json(response.body);
  write_job(json, *job, loop.engine(), now, JobDetail::kFull);
  return response;
}

Problem loop_problem(const ControlLoop& loop, const Error& error) {
  if (error.kind == ErrorKind::kUnavailable && loop.read_only())
    return store_read_only(*loop.read_only());
  return to_problem(error);
}

}  // namespace gridfold
