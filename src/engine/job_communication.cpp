// What jobs send: begun when they start, ended when they stop, and the expected
// time of a step noted in the record.
#include "engine/state.h"

namespace gridfold {
namespace {

StepEstimate estimate_of(const StepTime& time) { return {time.communication, time.step}; }

}  // namespace

// The job has just got its places, and sends nothing yet.
void Engine::State::note_expected(EngineJob& job, const Placement& placement) {
  JobRecord& record = job.record;
  record.communication.reset();
  std::optional<StepTime> expected = placement.expected;
  if (!expected)
    expected = communication.expected(*record.spec->communication, communicating_tasks(record));
  if (expected) {
    record.communication = ExpectedCommunication{estimate_of(*expected), expected->slowest, {}};
    if (placement.expected && placement.otherwise)
      record.communication->otherwise = estimate_of(*placement.otherwise);
  }
  begin_sending(record);
}

void Engine::State::begin_sending(const JobRecord& record) {
  communication.add(record.id, record.spec, communicating_tasks(record));
}

void Engine::State::end_sending(const JobRecord& record) { communication.remove(record.id); }

}  // namespace gridfold
