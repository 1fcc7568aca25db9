// POST {job}:cancel, :hold, :release, :requeue. Answered once the change is
// committed, with the job as it is then.
#include "api/api.h"
#include "api/job_lookup.h"
#include "base/quote.h"

namespace gridfold {
namespace {

using MakeEvent = Event (*)(JobId, std::string by);

struct JobAction {
  std::string tenant, reference, request_id, by;
  MakeEvent make_event;
  Respond respond;
};

Problem job_has_ended(const JobRecord& job) {
  Problem problem{409, "JobEnded", "The job has ended",
                  "job " + job.spec->name + " (" + job.uid + ") is " +
                      std::string(to_string(job.state)) + " since " + to_rfc3339(job.ended_at)};
  problem.params = {{"job", job.uid}, {"state", std::string(to_string(job.state))}};
  return problem;
}

void act(const ApiContext& api, const JobAction& action, ControlLoop& loop) {
  const auto refuse = [&](const Problem& problem) {
    action.respond(to_response(problem, action.request_id));
  };
  const auto job = find_job(loop, action.tenant, action.reference);
  if (!job) return refuse(to_problem(job.error()));
  if (is_terminal(job->state)) return refuse(job_has_ended(*job));
  if (loop.read_only()) return refuse(store_read_only(*loop.read_only()));
  loop.request(action.make_event(job->id, action.by), [&api, &loop, action,
                                                       uid = job->uid](Result<void> done) {
    if (!done)
      return action.respond(to_response(loop_problem(loop, done.error()), action.request_id));
    action.respond(job_response(loop, action.tenant, uid, api.clock.now(), action.request_id));
  });
}

void add_action(Router& router, const ApiContext& api, const std::string& verb,
                MakeEvent make_event) {
  router.add(
      "POST", "/v1/tenants/{tenant}/jobs/{job}:" + verb, {},
      [&api, make_event](const ApiRequest& request, Respond respond) {
        if (!request.http.body.empty())
          return respond(to_response(to_problem(invalid("this request takes no body")),
                                     request.http.request_id));
        api.loop.post([&api, action = JobAction{request.path_value("tenant"),
                                                request.path_value("job"), request.http.request_id,
                                                request.http.peer, make_event, std::move(respond)}](
                          ControlLoop& loop) { act(api, action, loop); });
      });
}

}  // namespace

void add_job_action_routes(Router& router, const ApiContext& api) {
  add_action(router, api, "cancel", [](JobId job, std::string by) -> Event {
    return JobCancelRequested{job, by};
  });
  add_action(router, api, "hold", [](JobId job, std::string by) -> Event {
    return JobHoldRequested{job, by};
  });
  add_action(router, api, "release", [](JobId job, std::string by) -> Event {
    return JobReleaseRequested{job, by};
  });
  add_action(router, api, "requeue", [](JobId job, std::string by) -> Event {
    return JobRequeueRequested{job, by};
  });
}

}  // namespace gridfold
