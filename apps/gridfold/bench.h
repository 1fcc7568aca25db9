// gridfold bench: the engine's parts measured on made-up clusters, one file a
// benchmark. Each has flags of its own.
#pragma once

namespace gridfold {

// argv[0] is the command's name; each returns the exit code.
int bench_cycle_main(int argc, char** argv);
int bench_gang_main(int argc, char** argv);
int bench_place_main(int argc, char** argv);

}  // namespace gridfold
