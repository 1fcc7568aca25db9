// What holds a task to its slice of a real NVIDIA GPU: variables that NVIDIA's
// MPS server and HAMi-core's library read. Pure.
//
//   CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, CUDA_MPS_PINNED_DEVICE_MEM_LIMIT
//       for a machine on which the MPS server runs; without it they do nothing
//   CUDA_DEVICE_SM_LIMIT, CUDA_DEVICE_MEMORY_LIMIT_0, and LD_PRELOAD of the
//       library, where it is installed
//
// A share is rounded to whole percents, at least 1; memory down to whole MiB, at
// least 1. Both tools are in the task's own hands: they keep a program that
// takes more than it asked for, not one that means to.
#pragma once

#include <string>

#include "backends/local/environment.h"

namespace gridfold::local {

// Where HAMi-core's library lies, by its own convention, or "": not installed.
std::string find_slice_library();

// Adds the variables, over what the job's env says of the same names; a library
// that the job preloads stays, behind ours. Nothing for whole devices, emulated
// ones, or those of another vendor. `library`: from find_slice_library().
void add_slice_limits(const LaunchOrder& order, const NodeSpec& node, const std::string& library,
                      Environment& env);

}  // namespace gridfold::local
