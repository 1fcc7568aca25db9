// What tasks hold and are promised, in the books of the nodes and of the queues.
#include <utility>

#include "engine/state.h"

namespace gridfold {

void Engine::State::begin_claiming(EngineJob& job) {
  if (claiming.insert(key_of(job)).second) queues.count_claiming(job.queue, +1);
}

void Engine::State::end_claiming(EngineJob& job) {
  if (!claiming.empty() && claiming.erase(key_of(job)) > 0) queues.count_claiming(job.queue, -1);
}

void Engine::State::hold(EngineJob& job, std::uint32_t index) {
  const TaskRecord& task = job.record.tasks[index];
  const Request& request = request_of(job, index);
  cluster.take(task.allocation, {job.record.id, index}, request,
               is_leaving(job.record, task) ? Cluster::Staying::kLeaves : Cluster::Staying::kStays);
  queues.charge(job.queue, request, task.allocation, +1);
  if (is_filler(job)) ++filler_holdings;
}

void Engine::State::release(EngineJob& job, std::uint32_t index) {
  const TaskRecord& task = job.record.tasks[index];
  cluster.give_back(task.allocation.node, {job.record.id, index});
  queues.charge(job.queue, request_of(job, index), task.allocation, -1);
  if (is_filler(job)) --filler_holdings;
  if (!pools.empty()) pools.left(task.allocation.node, now);
  freed.push_back(task.allocation.node);
  quota_freed = true;
}

// The holding will go. That alone may leave more for others: where room is
// promised, what was promised from the free part can now come from this one;
// and together with the fillers' it may be what others need to evict them.
void Engine::State::vacate(EngineJob& job, std::uint32_t index) {
  const Request& request = request_of(job, index);
  if (job.by_rounds) job.record.executed_ns += executed_ns(job, index);
  release(job, index);
  keep_place(job, index);
  if (policy->departed(request)) forget_scores();
}

void Engine::State::let_go(EngineJob& job, std::uint32_t index) {
  const NodeId node = job.record.tasks[index].allocation.node;
  cluster.set_staying(node, {job.record.id, index}, Cluster::Staying::kLeaves);
  if (!cluster.claims(node).empty() || filler_holdings > 0 || queues.any_preempts())
    freed.push_back(node);
}

void Engine::State::book_claim(EngineJob& job, std::uint32_t index) {
  const Request& request = request_of(job, index);
  const Allocation& claim = job.record.tasks[index].claim;
  cluster.claim(claim, {job.record.id, index}, request);
  queues.charge(job.queue, request, claim, +1);
}

void Engine::State::unbook_claim(EngineJob& job, std::uint32_t index) {
  const Allocation& claim = job.record.tasks[index].claim;
  cluster.unclaim(claim.node, {job.record.id, index});
  queues.charge(job.queue, request_of(job, index), claim, -1);
  if (!pools.empty()) pools.left(claim.node, now);
  freed.push_back(claim.node);
  quota_freed = true;
}

// The job is no longer promised any room, and is not in the queue either.
void Engine::State::drop_claims(EngineJob& job) {
  end_claiming(job);
  for (std::uint32_t i = 0; i < job.record.tasks.size(); ++i) {
    Allocation& claim = job.record.tasks[i].claim;
    if (claim.node.is_none()) continue;
    unbook_claim(job, i);
    claim = Allocation{};
  }
  if (std::exchange(job.record.repairing, false)) set_timer(job);
}

}  // namespace gridfold
