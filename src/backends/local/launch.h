// The task's first process between fork and exec.
//
// It is forked waiting, so that the shim can attach it to its cgroups before a
// single instruction of the job runs. Let go, it gives up its rights, bars
// itself from new ones (no_new_privs), lays out the job's files, and becomes
// the program. The program is run directly: no shell sees any field of a job
// unless the job's own command names one.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "backends/local/files.h"
#include "backends/local/records.h"
#include "base/result.h"

namespace gridfold::local {

// Why the program could not be started.
struct StartFailure {
  LaunchFault fault = LaunchFault::kJob;
  std::string message;
};

struct WaitingProcess {
  pid_t pid = 0;
  FileDescriptor go;       // write() lets it run; closing it ends it
  FileDescriptor failure;  // ends empty when the program runs, else says why not
};

// `workdir` is the folder to start in; `output` and `errors` become its
// descriptors 1 and 2. `out_of_memory_score` is what it had before the shim
// raised its own.
Result<WaitingProcess> fork_waiting(const ShimOrder& order, const std::string& workdir, int output,
                                    int errors, const std::string& out_of_memory_score);
void let_go(WaitingProcess& process);
// Reads the failure pipe, which must be readable. Empty: the program runs, or
// the process was ended before it could become the program.
std::optional<StartFailure> read_failure(const FileDescriptor& failure);

}  // namespace gridfold::local
