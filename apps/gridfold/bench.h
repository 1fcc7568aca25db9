// gridfold bench: the engine's parts measured on made-up clusters, one file a
// benchmark. Each has flags of its own.
#pragma once

namespace gridfold {

int bench_gang_main(int argc, char** argv);

}  // namespace gridfold
