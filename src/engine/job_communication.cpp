// What jobs send: begun when they start, ended when they stop, and the expected
// time of a step noted in the record.
#include "engine/state.h"

namespace gridfold {
namespace {

StepEstimate estimate_of(const StepTime& time) { return {time.communication, time.step}; }

}  // namespace

// The job has just got its places, and sends nothing yet.
void Engine::State::note_expected(EngineJob& job) {
  JobRecord& record = job.record;
  record.communication.reset();
  std::optional<StepTime> expected = expected_step;
  if (!expected)
    expected = communication.expected(*record.spec->communication, communicating_tasks(record));
  if (expected) {
    record.communication = ExpectedCommunication{estimate_of(*expected), expected->slowest, {}};
    if (expected_step && otherwise_step)
      record.communication->otherwise = estimate_of(*otherwise_step);
  }
  begin_sending(record);
}

void Engine::State::begin_sending(const JobRecord& record) {
  communication.add(record.id, record.spec, communicating_tasks(record));
}

void Engine::State::end_sending(const JobRecord& record) { communication.remove(record.id); }

}  // namespace gridfold
