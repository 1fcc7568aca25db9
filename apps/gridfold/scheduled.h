// What the daemon submits by itself: the job files that its configuration names.
#pragma once

#include <span>
#include <vector>

#include "apps/gridfold/config.h"
#include "base/result.h"
#include "control/job_calendar.h"

namespace gridfold {

// Reads the job files. The error names the entry, the file and what is wrong.
Result<std::vector<ScheduledJobs>> read_scheduled_jobs(std::span<const ScheduleConfig> schedule);

}  // namespace gridfold
