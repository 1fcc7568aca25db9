// The document of :explain: why a job is where it is. For one that waits the
// reasons and what each node lacks, as of now; for one that was started why its
// tasks lie where they do, as of their launch.
#pragma once

#include <string>
#include <vector>

#include "control/control_loop.h"
#include "model/record.h"

namespace gridfold {

std::string explanation_document(const ControlLoop& loop, const JobRecord& job, Instant now);

}  // namespace gridfold
