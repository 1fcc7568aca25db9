// gridfold bench: here for the help and the completion; gridfold_main.cpp calls
// the benchmarks before this command line is read.
#include "apps/gridfold/bench.h"

#include <CLI/CLI.hpp>

#include "apps/gridfold/cli.h"

namespace gridfold {

void add_bench_commands(Cli& cli) {
  auto* bench = cli.root.add_subcommand("bench", "measure the placement engine on this machine");
  bench->require_subcommand(1);
  bench->add_subcommand("place", "one task a decision; see --help");
  bench->add_subcommand("gang", "gangs in racks, spines and over them; see --help");
  bench->add_subcommand("cycle", "a planned start for every waiting job; see --help");
}

}  // namespace gridfold
