// A process that owns a backend and is killed by a test:
//
//   local_owner_program STATE INSTANCE SHIM_PROGRAM COMMAND…
//
// launches one task and says "started" when it runs.
#include <unistd.h>

#include <cstdio>

#include "backends/local/local_backend.h"

int main(int argc, char** argv) {
  using namespace gridfold;
  if (argc < 5) return 2;
  local::LocalOptions options;
  options.node.name = "here";
  options.state = argv[1];
  options.instance = argv[2];
  options.program = argv[3];
  options.host = local::host_environment(environ);
  local::LocalBackend backend(options);
  const auto opened = backend.open([](Event event) {
    if (std::holds_alternative<TaskStarted>(event)) {
      std::puts("started");
      std::fflush(stdout);
    }
  });
  if (!opened) return 1;
  auto spec = std::make_shared<JobSpec>();
  spec->roles = {Role{.command = {argv + 4, argv + argc}}};
  backend.launch({.task = {JobId(7), 0},
                  .attempt = 1,
                  .job_uid = "job-7",
                  .spec = spec,
                  .node = "here",
                  .peers = {"here"}});
  for (;;) ::pause();
}
