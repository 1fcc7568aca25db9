// `gridfold sim bound`: how full any policy could get a cluster at best.
#pragma once

namespace gridfold {

// argv[0] is the command's name ("gridfold sim bound"); returns the exit code.
int sim_bound_main(int argc, char** argv);

}  // namespace gridfold
