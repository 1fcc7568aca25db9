// `gridfold sim verify`: random worlds with faults, checked after every event.
// `gridfold sim replay`: one of them again, up to the event where it failed.
#pragma once

namespace gridfold {

// argv[0] is the command's name; they return the exit code: 0 nothing broke,
// 1 an invariant broke, 2 the command line is wrong.
int sim_verify_main(int argc, char** argv);
int sim_replay_main(int argc, char** argv);

}  // namespace gridfold
