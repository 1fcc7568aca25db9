// The shim: one process a task, which starts it, keeps its output, sees it
// end, ends what is left of its tree, and writes down each step. It outlives
// the backend that asked for it, and it alone knows the exit status.
//
// One thread, one loop. Its life:
//
//   lock the folder -> logs, cgroups, waiting child -> attach -> let go
//   -> started -> (asked to stop) -> first process ends -> exited
//   -> the rest of the tree is asked, then killed -> cgroups gone -> cleaned
#pragma once

#include <string>

#include "backends/local/cgroup.h"
#include "backends/local/records.h"

namespace gridfold::local {

struct ShimContext {
  std::string state;  // the state directory
  CgroupParent cgroups;
  std::string out_of_memory_score;  // that tasks get; empty: as it is
};

// Signals that a shim waits for; blocked from before it is forked, so that
// none is lost.
void block_shim_signals();

// Runs the attempt whose order lies in its folder, to the end. Does nothing
// when another shim has it or had it. Returns the process's exit code.
int run_shim(const ShimContext& context, const AttemptName& name);

}  // namespace gridfold::local
