// Arrays of which only so many jobs may be started at a time. The first that can,
// by number, wait for room with the others; the rest wait for the array and cost
// nothing. Who was let in stays in while it is stopped to start again.
#include "base/planted.h"
#include "engine/state.h"

namespace gridfold {
namespace {

bool has_started(const JobRecord& record) { return is_active(record.state) || has_claim(record); }

}  // namespace

void Engine::State::enter_array(EngineJob& job) {
  if (job.record.array_limit == 0 || is_terminal(job.record.state)) return;
  arrays[array_of(job.record)].insert(job.record.id);
  array_changes(job);
}

void Engine::State::leave_array(EngineJob& job) {
  if (job.record.array_limit == 0) return;
  job.admitted = false;
  array_changes(job);
  const auto array = arrays.find(array_of(job.record));
  if (array == arrays.end()) return;
  array->second.erase(job.record.id);
  if (array->second.empty()) arrays.erase(array);
}

void Engine::State::array_changes(const EngineJob& job) {
  if (job.record.array_limit > 0) arrays_changed.insert(array_of(job.record));
}

// Lets in and sends back whoever the limits now say.
void Engine::State::follow_arrays() {
  for (const JobId first : std::exchange(arrays_changed, {})) {
    const auto array = arrays.find(first);
    if (array == arrays.end()) continue;
    std::int64_t room = jobs.at(*array->second.begin()).record.array_limit;
    if (GRIDFOLD_PLANTED_BUG(array_off_by_one)) ++room;
    for (const JobId id : array->second) room -= has_started(jobs.at(id).record);
    for (const JobId id : array->second) {
      EngineJob& job = jobs.at(id);
      const bool started = has_started(job.record);
      const bool in = started || (waits_for_room(job.record) && room-- > 0);
      if (in == job.admitted) continue;
      if (!in && waits_for_room(job.record)) {
        if (job.record.reservation) touch(job);
        leave_queue(job);
      }
      job.admitted = in;
      if (in && !started) enter_queue(job);
    }
  }
}

bool Engine::State::waits_for_array(const EngineJob& job) const {
  return job.record.array_limit > 0 && !job.admitted && waits_for_room(job.record) &&
         !has_claim(job.record);
}

Reason Engine::State::array_reason(const EngineJob& job) const {
  std::int64_t started = 0;
  std::int64_t ahead = 0;
  for (const JobId id : arrays.at(array_of(job.record))) {
    const JobRecord& other = jobs.at(id).record;
    started += has_started(other);
    ahead += id < job.record.id && waits_for_room(other) && !has_started(other);
  }
  return Reason(
      ReasonCode::kArrayLimit,
      {{"limit", std::int64_t{job.record.array_limit}}, {"started", started}, {"ahead", ahead}});
}

}  // namespace gridfold
