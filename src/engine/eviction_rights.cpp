#include "engine/eviction_rights.h"

#include <tuple>

#include "base/planted.h"
#include "engine/lost_work.h"
#include "engine/state.h"

namespace gridfold {

bool Engine::State::may_evict_by_priority(const EngineJob& by) const {
  return !is_filler(by) && !queues.preempting(by.queue).is_none();
}

bool Engine::State::may_be_safe(const EngineJob& job) const {
  return !is_filler(job) && (queues.any_guaranteed() || !queues.preempting(job.queue).is_none());
}

EvictionRight Engine::State::right_to_evict(const EngineJob& by, const EngineJob& victim) const {
  if (is_filler(by)) return EvictionRight::kNone;
  if (is_filler(victim)) return EvictionRight::kFiller;
  const EvictionRight by_order = right_by_order(by, victim);
  return by_order == EvictionRight::kNone ? right_to_reclaim(by, victim) : by_order;
}

EvictionRight Engine::State::right_by_order(const EngineJob& by, const EngineJob& victim) const {
  const QueueId within = queues.preempting(by.queue);
  if (within.is_none() || !queues.contains(within, victim.queue)) return EvictionRight::kNone;
  const auto rank = [&](const EngineJob& job) {
    return std::tuple(queues.spec(job.queue).priority, job.record.spec->priority);
  };
  if (rank(victim) >= rank(by) && !GRIDFOLD_PLANTED_BUG(equals_give_way))
    return EvictionRight::kNone;
  if (victim.record.evictions >= options.eviction.max_evictions) return EvictionRight::kNone;
  return safe_until(victim.record, options.eviction) <= now ? EvictionRight::kPriority
                                                            : EvictionRight::kNotYet;
}

}  // namespace gridfold
