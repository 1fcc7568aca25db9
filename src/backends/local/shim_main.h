// `gridfold shim …`: the processes that own tasks on this machine. Not for
// people; the local backend starts it.
//
//   shim --state DIR --instance NAME --socket FD [--no-cgroups] [--fail-at NAME]
//     the nursery: forks one shim for each request on the socket. A fork of
//     this small process costs a fraction of starting the whole binary anew.
//     It ends with the backend; its shims do not.
//   shim --state DIR --instance NAME --attempt JOB_UID/INDEX.ATTEMPT
//     is itself the shim of one attempt whose order is written.
#pragma once

namespace gridfold::local {

// argv[0] is the program, argv[1] "shim". Returns the exit code; 2 on usage.
int shim_main(int argc, char** argv);

}  // namespace gridfold::local
