// Finding a job that a request names, live or ended. On the loop's thread.
#pragma once

#include <string>
#include <string_view>

#include "api/http_message.h"
#include "api/problem.h"
#include "control/control_loop.h"

namespace gridfold {

// By public id, a unique prefix of it, number or name; a live job is preferred
// to an ended one. kNotFound for another tenant's job too: it looks the same
// as none.
Result<JobRecord> find_job(const ControlLoop& loop, std::string_view tenant,
                           std::string_view reference);

// The job's full document, or the problem.
HttpResponse job_response(const ControlLoop& loop, std::string_view tenant,
                          std::string_view reference, Instant now, std::string_view request_id);

// What a refusal of the loop means to the caller: StoreReadOnly when that is
// the cause.
Problem loop_problem(const ControlLoop& loop, const Error& error);

}  // namespace gridfold
