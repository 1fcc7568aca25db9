// What a user changes about a job that has not ended. Whether it may be changed is
// asked before (control/control_loop.cpp); what no longer fits has no effect.
#include <algorithm>

#include "engine/state.h"

namespace gridfold {

void Engine::State::change_job(const JobChangeRequested& change) {
  EngineJob* job = find(change.job);
  if (job == nullptr || is_terminal(job->record.state)) return;
  if (change.workload_class && job->record.state == JobState::kPending)
    change_class(*job, *change.workload_class);
  if (change.array_limit && job->record.spec->array_index) limit_array(*job, *change.array_limit);
}

// It gives up room that was promised to it as what it was.
void Engine::State::change_class(EngineJob& job, WorkloadClass to) {
  touch(job);
  drop_claims(job);
  detach(job);
  job.record.reservation.reset();
  auto spec = std::make_shared<JobSpec>(*job.record.spec);
  spec->workload_class = to;
  spec->class_source = ClassSource::kGiven;
  job.record.spec = std::move(spec);
  attach(job);
  auto& changed = out.changed_specs;
  if (std::find(changed.begin(), changed.end(), job.record.id) == changed.end())
    changed.push_back(job.record.id);
}

void Engine::State::limit_array(const EngineJob& job, std::int32_t limit) {
  const JobId first = array_of(job.record);
  for (EngineJob* other : jobs.in_order()) {
    const JobRecord& record = other->record;
    if (!record.spec->array_index || is_terminal(record.state) || array_of(record) != first)
      continue;
    touch(*other);
    detach(*other);
    other->record.array_limit = limit;
    attach(*other);
  }
  quota_freed = true;
}

}  // namespace gridfold
