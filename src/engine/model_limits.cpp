// Limits of device models, where jobs meet them: of the models that a job accepts
// it is only looked for those that its queue may still use, so whatever is found
// is within the limits.
#include "engine/state.h"

namespace gridfold {

// What the job asks, by role, of the models that leave enough for so many tasks.
std::vector<const Request*> Engine::State::within_models(const EngineJob& job,
                                                         const std::vector<std::int64_t>& tasks) {
  std::vector<QueueTree::Ask> asks = job.shape->group.asks;
  for (std::size_t r = 0; r < asks.size(); ++r) asks[r].tasks = tasks[r];
  std::vector<const Request*> requests;
  for (const QueueTree::Ask& ask : asks) {
    TaskRequest task = ask.request->source;
    bool less = false;
    for (std::size_t d = 0; d < task.devices.size(); ++d) {
      auto within = queues.models_within(job.queue, asks, ask.request->devices[d]);
      if (!within) continue;
      task.devices[d].models = std::move(*within);
      less = true;
    }
    requests.push_back(less ? &cluster.compile(task) : ask.request);
  }
  return requests;
}

// Looks for the models alone of which the job's minimum may be had, and for no
// more tasks than may be had of the same; its queue allows `target`.
void Engine::State::narrow(EngineJob& job, std::vector<std::int64_t>& target) {
  PendingGroup& group = job.shape->group;
  job.requests = job.shape->requests;
  group.narrowed = false;
  if (!queues.limits_models(job.queue)) return;
  std::vector<std::int64_t> tasks(group.mins.begin(), group.mins.end());
  job.narrowed = within_models(job, tasks);
  if (within_models(job, target) != job.narrowed) {
    if (target.size() == 1) {  // else with its minimum
      std::int64_t too_many = target.front();
      while (tasks.front() + 1 < too_many) {
        const std::int64_t middle = (tasks.front() + too_many) / 2;
        (within_models(job, {middle}) == job.narrowed ? tasks.front() : too_many) = middle;
      }
    }
    target = tasks;
    group.narrowed = true;
  }
  group.narrowed |= job.narrowed != job.shape->requests;
  job.requests = job.narrowed;
}

// Room is planned for the job's minimum on those models alone that its queue may
// use: to be called before its reservation is looked at, since these change.
void Engine::State::narrow_to_plan(EngineJob& job) {
  job.requests = job.shape->requests;
  if (!queues.limits_models(job.queue)) return;
  const std::vector<std::int32_t>& mins = job.shape->group.mins;
  job.narrowed = within_models(job, {mins.begin(), mins.end()});
  job.requests = job.narrowed;
}

// Takes over what a node has now. What is held there counts as the models that
// its devices are.
NodeId Engine::State::put_node(const NodeRecord& record) {
  const auto known = cluster.find(record.spec.name);
  if (!known || cluster.record(*known).spec.devices == record.spec.devices)
    return cluster.put(record);
  const auto charge = [&](int count) {
    for (const Holding& holding : cluster.holdings(*known)) {
      const EngineJob& job = jobs.at(holding.job);
      queues.charge(job.queue, request_of(job, holding.task().index),
                    job.record.tasks[holding.task().index].allocation, count);
    }
    for (const Holding& claim : cluster.claims(*known)) {
      const EngineJob& job = jobs.at(claim.job);
      queues.charge(job.queue, request_of(job, claim.task().index),
                    job.record.tasks[claim.task().index].claim, count);
    }
  };
  charge(-1);
  const NodeId node = cluster.put(record);
  charge(+1);
  return node;
}

}  // namespace gridfold
