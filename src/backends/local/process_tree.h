// Processes as /proc shows them: for what a cgroup cannot tell, and for
// machines where there is none to be had.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gridfold::local {

// Clock ticks since boot at which the process started; 0 when there is none.
// With it a pid names one process and not the next one of that number.
std::uint64_t start_time_of(pid_t pid);

// All living processes below `ancestor`, not itself. An orphan counts when
// `ancestor` is the subreaper it fell to.
std::vector<pid_t> descendants_of(pid_t ancestor);

// Sends the signal once to every process that `members` names, and asks again
// until no new one turns up: a member may fork between reading and signal. One
// that forks without end is not this function's to stop.
void signal_each(const std::function<std::vector<pid_t>()>& members, int signal);

// All processes whose environment at exec had this line ("NAME=value"), as far
// as we may read it: the last trace of a task whose shim and cgroup are gone.
std::vector<pid_t> processes_with_environment(std::string_view line);

}  // namespace gridfold::local
