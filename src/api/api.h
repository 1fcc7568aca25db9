// The /v1 API over a control loop: routes, one file a noun.
//
//   JobWaiters waiters;                       // told of every committed turn
//   ApiContext context{loop, clock, server->later(), waiters, account, day_log, examiner,
//                      GRIDFOLD_VERSION, reload};
//   Router router = make_router(context);
//   server->start([&](HttpRequest r, Respond a) { router.handle(std::move(r), std::move(a)); });
//
// Handlers run on the server's thread, never wait, and read the loop only on
// its own thread. docs/openapi.json describes what they take and give.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "accounting/effective_account.h"
#include "api/job_waiters.h"
#include "api/router.h"
#include "control/executor.h"
#include "control/loop_thread.h"
#include "doctor/day_log.h"

namespace gridfold {

// Outlives the router and every request.
struct ApiContext {
  LoopThread& loop;
  const Clock& clock;
  Later later;
  JobWaiters& waiters;              // used on the loop's thread only
  const EffectiveAccount& account;  // likewise
  const DayLog& day_log;            // likewise
  Executor& examiner;               // where days are replayed
  std::string version;
  // Reads the configuration again and takes it over, and gives the names of what
  // has changed; from any thread.
  std::function<void(Completion<std::vector<std::string>>)> reload_configuration;
};

Router make_router(const ApiContext& api);

// The documents that describe the API, as embedded at build time.
std::string_view openapi_document();

// Of make_router, one a file.
void add_config_route(Router& router, const ApiContext& api);
void add_job_routes(Router& router, const ApiContext& api);
void add_job_submit_route(Router& router, const ApiContext& api);
void add_job_action_routes(Router& router, const ApiContext& api);
void add_job_change_route(Router& router, const ApiContext& api);
void add_log_route(Router& router, const ApiContext& api);
void add_node_routes(Router& router, const ApiContext& api);
void add_queue_routes(Router& router, const ApiContext& api);
void add_doctor_route(Router& router, const ApiContext& api);
void add_report_routes(Router& router, const ApiContext& api);
void add_system_routes(Router& router, const ApiContext& api);
void add_what_if_route(Router& router, const ApiContext& api);

}  // namespace gridfold
