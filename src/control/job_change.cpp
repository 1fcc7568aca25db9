#include "control/job_change.h"

namespace gridfold {
namespace {

Error with_hint(Error error, std::string hint) {
  error.hint = std::move(hint);
  return error;
}

Result<void> check_class(const JobRecord& job, WorkloadClass to) {
  const std::string name = "job " + job.spec->name + " (" + job.uid + ")";
  if (job.spec->training && to != WorkloadClass::kTrain) {
    return with_hint(invalid(name + " declares its training: its class stays train"),
                     "submit it without the key training");
  }
  if (job.state != JobState::kPending) {
    return with_hint(conflict(name + " is " + std::string(to_string(job.state)) +
                              ": its class decides how it is placed, and it has its place"),
                     "hold or requeue it first: gridfold job requeue " + job.uid);
  }
  for (const TaskRecord& task : job.tasks) {
    if (task.claim.node.is_none()) continue;
    return with_hint(conflict(name + " has room promised to it, which is being cleared"),
                     "wait for its start, or hold it first: gridfold job hold " + job.uid);
  }
  return {};
}

}  // namespace

Result<void> check_job_change(const JobRecord& job, const JobChangeRequested& change) {
  if (is_terminal(job.state))
    return conflict("job " + job.uid + " is " + std::string(to_string(job.state)) +
                    ": it cannot be changed");
  if (change.array_limit && !job.spec->array_index) {
    return with_hint(invalid("job " + job.spec->name + " (" + job.uid + ") is of no array"),
                     "limit the running_jobs of its queue instead");
  }
  if (change.workload_class) return check_class(job, *change.workload_class);
  return {};
}

}  // namespace gridfold
