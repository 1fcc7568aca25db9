// Whether a job may be changed as somebody asks.
#pragma once

#include "base/result.h"
#include "model/event.h"

namespace gridfold {

// kConflict where its state does not allow it, kInvalid where it never could; the
// hint says what to do.
Result<void> check_job_change(const JobRecord& job, const JobChangeRequested& change);

}  // namespace gridfold
