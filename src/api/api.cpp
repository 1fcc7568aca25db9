#include "api/api.h"

namespace gridfold {

Router make_router(const ApiContext& api) {
  Router router;
  add_job_submit_route(router, api);
  add_config_route(router, api);
  add_job_routes(router, api);
  add_job_action_routes(router, api);
  add_job_change_route(router, api);
  add_log_route(router, api);
  add_node_routes(router, api);
  add_queue_routes(router, api);
  add_doctor_route(router, api);
  add_report_routes(router, api);
  add_system_routes(router, api);
  add_what_if_route(router, api);
  return router;
}

}  // namespace gridfold
