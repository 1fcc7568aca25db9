// Taking back what a queue is guaranteed and others have borrowed. A job may
// stop work of another queue when, beneath what lies above both, its own queue
// has room for it within its guarantee, and the other holds more than its own.
// No set of victims takes a queue, at any level beneath that, below what it is
// guaranteed; so the one who lost can never take it back in turn.
#include <algorithm>

#include "engine/lost_work.h"
#include "engine/state.h"

namespace gridfold {

// The job's minimum.
std::vector<QueueTree::Ask> Engine::State::least_asks(const EngineJob& job) const {
  std::vector<QueueTree::Ask> asks;
  const auto& roles = job.record.spec->roles;
  for (std::size_t r = 0; r < roles.size(); ++r) asks.push_back({job.requests[r], roles[r].min});
  return asks;
}

// Whether there may be somebody to take back from.
bool Engine::State::may_reclaim(const EngineJob& by) const {
  return !is_filler(by) && queues.any_guaranteed() &&
         queues.is_within_guarantee(by.queue, queues.nearest_guaranteed(by.queue), least_asks(by));
}

EvictionRight Engine::State::right_to_reclaim(const EngineJob& by, const EngineJob& victim) const {
  if (!queues.any_guaranteed()) return EvictionRight::kNone;
  const QueueId above = queues.common(by.queue, victim.queue);
  if (above == by.queue || above == victim.queue || !queues.borrows(victim.queue, above) ||
      !queues.is_within_guarantee(by.queue, queues.beneath(above, by.queue), least_asks(by)))
    return EvictionRight::kNone;
  if (victim.record.evictions >= options.eviction.max_evictions) return EvictionRight::kNone;
  return safe_until(victim.record, options.eviction) <= now ? EvictionRight::kReclaim
                                                            : EvictionRight::kNotYet;
}

// Whether every queue that these victims are taken back from keeps what it is
// guaranteed, once they and whoever leaves already have left.
bool Engine::State::leaves_guarantees(const EngineJob& by,
                                      std::span<const std::uint32_t> victims) const {
  std::map<QueueId, QueueTree::Amounts> gone;
  const auto leaves = [&](const Leaver& leaver) {
    for (QueueId id = jobs.at(leaver.task.job).queue; !id.is_none(); id = queues.parent(id))
      queues.add(*leaver.request, leaver.at, gone[id]);
  };
  for (const Leaver& leaver : leavers) leaves(leaver);
  std::vector<std::uint32_t> sorted(victims.begin(), victims.end());
  std::sort(sorted.begin(), sorted.end());
  std::set<TaskId> counted;
  for (const Leaver& leaver : leaving_with(sorted)) {
    if (counted.insert(leaver.task).second) leaves(leaver);
  }
  for (const std::uint32_t number : sorted) {
    const EngineJob& victim = jobs.at(pool.candidates[number].job);
    if (right_to_evict(by, victim) != EvictionRight::kReclaim) continue;
    const QueueId above = queues.common(by.queue, victim.queue);
    for (QueueId id = victim.queue; id != above; id = queues.parent(id)) {
      if (!queues.keeps_guarantee(id, gone[id])) return false;
    }
  }
  return true;
}

// The set of victims for the job. Where work is taken back, first among all
// sets; should none be found that leaves every guarantee, among those of the
// candidates, in order of what they lose, that may all go together.
std::optional<VictimAnswer> Engine::State::find_victims_within_rights(const EngineJob& job,
                                                                      const Accepts& keeps) {
  const auto is_taken_back = [&](const VictimCandidate& candidate) {
    return right_to_evict(job, jobs.at(candidate.job)) == EvictionRight::kReclaim;
  };
  if (!queues.any_guaranteed() ||
      std::none_of(pool.candidates.begin(), pool.candidates.end(), is_taken_back))
    return find_victims(job, keeps);
  auto found = find_victims(job, [&](std::span<const std::uint32_t> victims) {
    return leaves_guarantees(job, victims) && (!keeps || keeps(victims));
  });
  if (found) return found;
  std::vector<std::uint32_t> order(pool.candidates.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return pool.is_spared_before(b, a); });
  std::vector<std::uint32_t> together;
  for (const std::uint32_t candidate : order) {
    together.push_back(candidate);
    if (!leaves_guarantees(job, together)) together.pop_back();
  }
  std::sort(together.begin(), together.end());
  std::vector<VictimCandidate> kept;
  for (const std::uint32_t candidate : together) kept.push_back(pool.candidates[candidate]);
  pool.candidates = std::move(kept);
  return find_victims(job, keeps);
}

}  // namespace gridfold
