#include "control/start_estimates.h"

#include <algorithm>
#include <bit>

namespace gridfold {
namespace {

bool anyone_waits(const Engine& engine) {
  const auto queues = engine.queues();
  return std::any_of(queues.begin(), queues.end(), [&](const QueueSpec& queue) {
    return engine.usage(queue.name).pending_jobs > 0;
  });
}

}  // namespace

const StartEstimate* StartTable::find(JobId job) const {
  const auto it = std::lower_bound(rows.begin(), rows.end(), job,
                                   [](const auto& row, JobId id) { return row.first < id; });
  return it != rows.end() && it->first == job ? &it->second : nullptr;
}

void StartEstimates::committed(const Engine& engine, const Decisions& decisions, Instant now) {
  if (decisions.list.empty()) return;
  changed_ = true;
  for (const Decision& decision : decisions.list) {
    const auto* change = std::get_if<JobChanged>(&decision);
    if (change == nullptr || change->from == change->to) continue;
    if (change->from == JobState::kPending) {
      if (change->to == JobState::kStarting) settle(change->job, now);
      waiting_.erase(change->job);
    }
    if (!is_terminal(change->to) || change->to == JobState::kCancelled) continue;
    const JobRecord* job = engine.job(change->job);
    if (job == nullptr || job->started_at.is_never()) continue;
    const QueueSpec* queue = engine.queue(job->spec->queue);
    const Limit<Duration> longest = queue != nullptr ? queue->longest_run : Limit<Duration>{};
    outcomes_.ended(guess_run(*job, longest, options_.forward.default_run),
                    job->ended_at - job->started_at);
  }
}

Instant StartEstimates::consider(const Engine& engine, Instant now, Revision revision,
                                 Executor& executor, const std::function<void(Event)>& sink) {
  if (!changed_ || under_way_ != nullptr) return Instant::never();
  if (!last_.is_never() && now - last_ < options_.interval) return last_ + options_.interval;
  changed_ = false;
  if (!anyone_waits(engine)) return Instant::never();
  last_ = now;
  under_way_ =
      std::make_shared<const EngineSnapshot>(take_snapshot(engine, options_.engine, now, revision));
  Executor& where = options_.executor != nullptr ? *options_.executor : executor;
  where.run({kForwardRun, std::make_shared<ForwardRun>(under_way_, outcomes_,
                                                       options_.make_policies, options_.forward)},
            sink);
  return Instant::never();
}

void StartEstimates::take(const Solved& solved, const Engine& engine) {
  if (under_way_ == nullptr) return;
  const auto& answer = static_cast<const ForwardAnswer&>(*solved.answer);
  auto table = std::make_shared<StartTable>();
  table->at = answer.from;
  table->revision = answer.revision;
  table->snapshot = std::move(under_way_);
  table->complete = answer.complete;
  table->horizon = answer.reached;
  table->events = answer.events;
  table->learned = calibration_.learned();
  for (const JobRecord& before : table->snapshot->jobs) {
    if (before.state != JobState::kPending) continue;
    StartEstimate estimate{answer.start_of(before.id), {}, {}};
    if (!estimate.start.is_never()) {
      const WaitBand band = calibration_.band(estimate.start - table->at);
      estimate.from = table->at + band.from;
      estimate.until = table->at + band.until;
      const JobRecord* job = engine.job(before.id);
      if (job != nullptr && job->state == JobState::kPending) remember(before.id, table->at, band);
    }
    table->rows.emplace_back(before.id, estimate);
  }
  table_ = std::move(table);
}

// Of the tables that a job is in, the first, the second, the fourth and so on
// are remembered: as many of a long wait as of a short one, more or less.
void StartEstimates::remember(JobId job, Instant at, const WaitBand& band) {
  Waiting& waiting = waiting_[job];
  if (std::has_single_bit(++waiting.seen)) waiting.given.push_back({at, band, waiting.seen == 1});
}

void StartEstimates::settle(JobId job, Instant start) {
  const auto it = waiting_.find(job);
  if (it == waiting_.end()) return;
  for (const Given& given : it->second.given) {
    const Duration waited = start - given.at;
    calibration_.started(given.band, waited);
    if (options_.on_settled) options_.on_settled({job, given.at, given.band, waited, given.first});
  }
}

std::shared_ptr<const EngineSnapshot> StartEstimates::asked_about(const Engine& engine, Instant now,
                                                                  Revision revision) {
  const bool is_current = asked_ != nullptr && asked_->revision == revision;
  if (!is_current && engine.nodes().size() + engine.jobs().size() <= kMostToCopy)
    asked_ = std::make_shared<const EngineSnapshot>(
        take_snapshot(engine, options_.engine, now, revision));
  else if (!is_current)
    asked_ = table_ != nullptr ? table_->snapshot : nullptr;
  return asked_;
}

void StartEstimates::find_changes(const Engine& engine, Instant now, Revision revision, JobId job,
                                  std::function<void(std::shared_ptr<const ChangeAnswer>)> done) {
  if (options_.advice == nullptr) return done(nullptr);
  if (asked_about(engine, now, revision) == nullptr) return done(nullptr);
  options_.advice->run(
      {kForwardRun, std::make_shared<ChangeProblem>(finder_, asked_, job)},
      [done](const Event& answer) {
        done(std::static_pointer_cast<const ChangeAnswer>(std::get<Solved>(answer).answer));
      });
}

void StartEstimates::what_if(
    const Engine& engine, Instant now, Revision revision, const WhatIfQuestion& question,
    std::function<void(Result<std::shared_ptr<const WhatIfAnswer>>)> done) {
  Executor* where = options_.executor != nullptr ? options_.executor : options_.advice;
  const auto snapshot = where != nullptr ? asked_about(engine, now, revision) : nullptr;
  if (snapshot == nullptr) {
    Error error = unavailable("no state has been copied yet to try the changes out on");
    error.hint = "ask again in a few seconds";
    return done(error);
  }
  auto problem =
      WhatIfProblem::make(snapshot, outcomes_, options_.make_policies, options_.forward, question);
  if (!problem) return done(problem.error());
  where->run({kForwardRun, std::move(*problem)}, [done](const Event& answer) {
    done(std::static_pointer_cast<const WhatIfAnswer>(std::get<Solved>(answer).answer));
  });
}

}  // namespace gridfold
