// gridfold sim: here for the help and the completion. Each has flags of its own
// and is called by gridfold_main.cpp before this command line is read.
#include <CLI/CLI.hpp>

#include "apps/gridfold/cli.h"

namespace gridfold {

void add_sim_commands(Cli& cli) {
  auto* sim = cli.root.add_subcommand("sim", "replay workloads on simulated clusters");
  sim->require_subcommand(1);
  sim->add_subcommand("run", "run a workload; see gridfold sim run --help");
  sim->add_subcommand("bound", "how full any policy could get a cluster at best");
  sim->add_subcommand("verify", "random worlds and faults, every invariant checked");
  sim->add_subcommand("replay", "one seed of sim verify again, event by event");
}

}  // namespace gridfold
