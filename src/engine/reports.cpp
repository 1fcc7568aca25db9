// What running jobs say of themselves. Hints for estimates: a report changes no
// decision that was made, makes no turn that must be stored, and reaches the
// store with the next one that is.
#include <algorithm>

#include "engine/state.h"

namespace gridfold {

void Engine::State::take_report(EngineJob& job, std::uint32_t task, const TaskReport& report) {
  static_cast<void>(task);  // whichever task knows speaks for the job
  if (!report.saved) return;
  JobRecord& record = job.record;
  record.saved_at = now;
  if (report.save_time) record.save_time = *report.save_time;
  if (std::find(reported_jobs.begin(), reported_jobs.end(), record.id) == reported_jobs.end())
    reported_jobs.push_back(record.id);
}

}  // namespace gridfold
