// What a change of the queues' configuration does to jobs.
#include <algorithm>

#include "engine/state.h"

namespace gridfold {
namespace {

// Whether jobs of the queue wait elsewhere, are charged elsewhere or end at
// another time when it changes so: not where only amounts differ.
bool moves_jobs(const std::optional<QueueSpec>& before, const std::optional<QueueSpec>& after) {
  if (!before || !after) return true;
  QueueSpec same = *after;
  same.open = before->open;
  same.limit = before->limit;
  same.guaranteed = before->guaranteed;
  same.weight = before->weight;
  if (same.each_tenant.empty() == before->each_tenant.empty())
    same.each_tenant = before->each_tenant;
  return same != *before;
}

}  // namespace

// As it was before the turn, which may change it more than once.
void Engine::State::save_queue(const std::string& name) {
  const auto is_it = [&](const QueueChange& saved) { return saved.first == name; };
  if (std::none_of(turn->queues.begin(), turn->queues.end(), is_it))
    turn->queues.emplace_back(name, queues.configured(name));
}

// Changes whatever differs between what there is and this configuration.
void Engine::State::take_over(const QueueConfiguration& configuration) {
  std::map<std::string, QueueSpec> named;
  for (const QueueSpec& spec : configuration.queues) named[spec.name] = spec;
  std::vector<QueueChange> changes;
  for (const QueueSpec& known : queues.specs()) {
    const auto it = named.find(known.name);
    if (it == named.end()) {
      changes.emplace_back(known.name, std::nullopt);
    } else {
      if (it->second != known) changes.emplace_back(known.name, it->second);
      named.erase(it);
    }
  }
  for (auto& [name, spec] : named) changes.emplace_back(name, std::move(spec));
  for (const QueueChange& change : changes) save_queue(change.first);
  if (!queues.shares_as(configuration)) {
    if (!turn->sharing) turn->sharing = queues.sharing();
    queues.share_as(configuration);
  }
  if (!changes.empty()) configure_queues(changes);
}

// Takes over the queues' new configurations. What follows from them for jobs,
// their places in the order and where they are charged, is made anew: for the
// jobs of queues of which more than amounts has changed, or for all when queues
// begin or cease to take turns. One look at all jobs serves all changes.
void Engine::State::configure_queues(std::span<const QueueChange> changes) {
  std::set<QueueId> anew;
  for (const auto& [name, spec] : changes) {
    const QueueId queue = queues.intern(name);
    if (moves_jobs(queues.configured(name), spec)) anew.insert(queue);
  }
  const bool all = queues.takes_turns_with(changes) != queues.takes_turns() ||
                   std::any_of(changes.begin(), changes.end(), [&](const QueueChange& change) {
                     // Decides who goes by rounds, of its jobs and of those beneath it.
                     const std::optional<QueueSpec> before = queues.configured(change.first);
                     return (before && limits_models(*before)) !=
                            (change.second && limits_models(*change.second));
                   });
  std::vector<EngineJob*> moved;
  if (all || !anew.empty()) {
    for (EngineJob* job : jobs.in_order()) {
      if (all || anew.contains(queues.queue_of(job->queue))) moved.push_back(job);
    }
  }
  for (EngineJob* job : moved) {
    if (job->record.reservation) touch(*job);
    detach(*job);
  }
  for (const auto& [name, spec] : changes) spec ? queues.configure(*spec) : queues.remove(name);
  recent_shapes.clear();
  for (EngineJob* job : moved) attach(*job);
  regroup();
  quota_freed = true;
}

}  // namespace gridfold
