// The one binary. What must start fast or has flags of its own is told apart by
// its first words, before anything else is set up.
#include <string>
#include <string_view>
#include <vector>

#include "apps/gridfold/bench.h"
#include "apps/gridfold/cli.h"
#include "apps/gridfold/sim_bound.h"
#include "apps/gridfold/sim_run.h"
#include "apps/gridfold/sim_verify.h"
#include "backends/local/shim_main.h"

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  const std::string_view second = argc > 2 ? argv[2] : "";
  if (first == "shim") return gridfold::local::shim_main(argc, argv);
  if (first == "sim" && second == "run") return gridfold::sim_run_main(argc - 2, argv + 2);
  if (first == "sim" && second == "bound") return gridfold::sim_bound_main(argc - 2, argv + 2);
  if (first == "sim" && second == "verify") return gridfold::sim_verify_main(argc - 2, argv + 2);
  if (first == "sim" && second == "replay") return gridfold::sim_replay_main(argc - 2, argv + 2);
  if (first == "bench" && second == "place") return gridfold::bench_place_main(argc - 2, argv + 2);
  if (first == "bench" && second == "gang") return gridfold::bench_gang_main(argc - 2, argv + 2);
  if (first == "bench" && second == "cycle") return gridfold::bench_cycle_main(argc - 2, argv + 2);
  return gridfold::run_command_line(std::vector<std::string>(argv + 1, argv + argc));
}
