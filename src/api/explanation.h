// The document of :explain: why a job is where it is. For one that waits the
// reasons and what each node lacks, as of now, when it is expected to start and
// what would let it start now; for one that was started why its tasks lie where
// they do, as of their launch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control/control_loop.h"
#include "model/record.h"

namespace gridfold {

// On the loop's thread. `done` gets the document there, or later on another
// thread where something had to be tried out first.
void explain_job(ControlLoop& loop, const JobRecord& job, Instant now,
                 std::function<void(std::string document)> done);

}  // namespace gridfold
