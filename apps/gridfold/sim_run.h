// `gridfold sim run`: replays a workload on a simulated cluster.
#pragma once

namespace gridfold {

// argv[0] is the command's name ("gridfold sim run"); returns the exit code.
int sim_run_main(int argc, char** argv);

}  // namespace gridfold
