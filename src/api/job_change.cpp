// PATCH of a job: other values for what it was submitted with. The keys that are
// given are changed, all or none, and answered once that is committed.
#include <array>

#include "api/api.h"
#include "api/body_format.h"
#include "api/job_lookup.h"
#include "control/job_change.h"
#include "wire/field.h"
#include "wire/job_file.h"

namespace gridfold {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kKeys = {"class"sv, "array_limit"sv};
constexpr std::array kClasses = {"train"sv, "infer"sv, "filler"sv};  // by WorkloadClass

// A number, or "none".
std::int32_t read_limit(const Field& field) {
  if (field.node().is_scalar() && field.node().text == "none") return 0;
  return static_cast<std::int32_t>(
      read_integer(field, 1, static_cast<std::int64_t>(kMaxJobsPerBatch)));
}

Result<JobChangeRequested> parse_change(std::string_view body, DocumentFormat format) {
  const auto documents = read_documents(body, format);
  if (!documents) return documents.error();
  if (documents->size() != 1) return invalid("a change is one document");
  Diagnosis diagnosis;
  const Field root(documents->front(), diagnosis);
  JobChangeRequested change;
  if (check_map(root, kKeys)) {
    if (root.size() == 0) root.fail("nothing is to be changed", "name class or array_limit");
    if (const auto to = root.find("class"))
      change.workload_class = static_cast<WorkloadClass>(read_word(*to, kClasses));
    if (const auto limit = root.find("array_limit")) change.array_limit = read_limit(*limit);
  }
  if (diagnosis.error()) return *diagnosis.error();
  return change;
}

struct Asked {
  std::string tenant, reference, request_id;
  JobChangeRequested change;
  Respond respond;
};

void apply(const ApiContext& api, Asked asked, ControlLoop& loop) {
  const auto refuse = [&](const Problem& problem) {
    asked.respond(to_response(problem, asked.request_id));
  };
  const auto job = find_job(loop, asked.tenant, asked.reference);
  if (!job) return refuse(to_problem(job.error()));
  if (loop.read_only()) return refuse(store_read_only(*loop.read_only()));
  if (const auto allowed = check_job_change(*job, asked.change); !allowed)
    return refuse(to_problem(allowed.error()));
  asked.change.job = job->id;
  loop.request(asked.change, [&api, &loop, asked, uid = job->uid](Result<void> done) {
    if (!done)
      return asked.respond(to_response(loop_problem(loop, done.error()), asked.request_id));
    asked.respond(job_response(loop, asked.tenant, uid, api.clock.now(), asked.request_id));
  });
}

}  // namespace

void add_job_change_route(Router& router, const ApiContext& api) {
  router.add(
      "PATCH", "/v1/tenants/{tenant}/jobs/{job}", {},
      [&api](const ApiRequest& request, Respond respond) {
        const auto refuse = [&](const Problem& problem) {
          respond(to_response(problem, request.http.request_id));
        };
        const auto content_type = request.http.header("content-type");
        const auto format = body_format(content_type);
        if (!format) return refuse(unsupported_media_type(content_type));
        auto change = parse_change(request.http.body, *format);
        if (!change) return refuse(to_problem(change.error()));
        change->by = request.http.peer;
        api.loop.post([&api, asked = Asked{request.path_value("tenant"), request.path_value("job"),
                                           request.http.request_id, std::move(*change),
                                           std::move(respond)}](ControlLoop& loop) {
          apply(api, asked, loop);
        });
      });
}

}  // namespace gridfold
