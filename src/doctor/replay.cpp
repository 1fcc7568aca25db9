#include "doctor/replay.h"

#include <algorithm>
#include <optional>

#include "accounting/effective_account.h"
#include "control/forward_world.h"
#include "doctor/balance_meter.h"
#include "policies/learned_idle.h"
#include "policies/learned_run_times.h"

namespace gridfold {
namespace {

Policies policies_of(const Day& day) {
  Policies policies = day.make_policies();
  if (day.learned_run_times) policies.run_times = std::make_unique<LearnedRunTimes>();
  policies.idle = std::make_unique<LearnedIdle>();
  return policies;
}

EngineOptions engine_options(const Day& day) {
  EngineOptions options = day.engine;
  options.verify = Verify::kOff;
  return options;
}

class Course {
 public:
  Course(const Day& day, const ReplayOptions& options)
      : day_(day),
        options_(options),
        world_([&day](const JobRecord& job, const QueueSpec*, Duration) {
          return std::max(day.jobs[job.id.value - 1].run, Duration::nanoseconds(1));
        }),
        engine_(engine_options(day), policies_of(day)),
        meter_(day) {
    for (std::size_t i = 0; i < day.jobs.size(); ++i) {
      if (!day.jobs[i].leaves.is_never()) leaves_.emplace_back(day.jobs[i].leaves, JobId(i + 1));
    }
    std::sort(leaves_.begin(), leaves_.end());
    if (!options.causes) return;
    EffectiveOptions effective;
    effective.from = day.from;
    effective.to = day.to;
    effective.ask_interval = Duration::minutes(5);
    account_.emplace(effective);
  }

  DayReplay run() {
    std::vector<Event> events;
    events.emplace_back(QueuesConfigured{day_.queues});
    if (!day_.windows.empty()) events.emplace_back(WindowsPlanned{day_.windows});
    Instant now = day_.from;
    DayReplay result;
    tell(now, events);
    step(now, events);
    while (true) {
      if (solved_.empty()) now = std::max(now, next());
      if (now > day_.to) break;
      if (taken_ >= options_.max_events) {
        result.complete = false;
        break;
      }
      events.clear();
      std::swap(events, solved_);
      tell(now, events);
      step(now, events);
    }
    result.balance = meter_.at_end();
    if (account_) result.causes = account_->report(day_.to).all();
    return result;
  }

 private:
  Instant next() const {
    Instant next = std::min(world_.next(), engine_.next_wake());
    if (node_ < day_.nodes.size()) next = std::min(next, day_.nodes[node_].at);
    if (job_ < day_.jobs.size()) next = std::min(next, day_.jobs[job_].at);
    if (leave_ < leaves_.size()) next = std::min(next, leaves_[leave_].first);
    return next;
  }

  // All that has happened by then.
  void tell(Instant now, std::vector<Event>& events) {
    for (; node_ < day_.nodes.size() && day_.nodes[node_].at <= now; ++node_)
      tell_node(day_.nodes[node_].node, events);
    world_.tell(engine_, now, events);
    for (; job_ < day_.jobs.size() && day_.jobs[job_].at <= now; ++job_) {
      const JobId id(job_ + 1);
      events.emplace_back(JobSubmitted{
          id, "replay-" + std::to_string(id.value), day_.jobs[job_].spec, {}, false, {}});
    }
    for (; leave_ < leaves_.size() && leaves_[leave_].first <= now; ++leave_) {
      const JobRecord* job = engine_.job(leaves_[leave_].second);
      if (job != nullptr && job->state == JobState::kPending)
        events.emplace_back(JobCancelRequested{job->id, "replay"});
    }
  }

  static void tell_node(const NodeRecord& node, std::vector<Event>& events) {
    NodeSpec spec = node.spec;
    for (std::size_t i = 0; i < spec.devices.size(); ++i) {
      if ((node.dirty_devices >> i & 1) != 0) spec.devices[i].fault = "quarantined";
    }
    events.emplace_back(NodeJoined{spec});
    if (!node.up) events.emplace_back(NodeLost{spec.name, Fencing::kFenced});
    events.emplace_back(NodeDrainRequested{spec.name, node.drained, "replay"});
  }

  void step(Instant now, std::vector<Event>& events) {
    taken_ += static_cast<std::int64_t>(events.size()) + 1;
    events.insert(events.begin(), TurnCommitted{turn_});
    const Decisions& decisions = engine_.step(now, events);
    turn_ = decisions.turn;
    world_.follow(engine_, decisions, now);
    meter_.stepped(now, engine_, decisions);
    if (account_) account_->committed(now, engine_, decisions);
    for (const Solve& solve : decisions.solves) {
      solved_.emplace_back(Solved{solve.id, solve.problem->solve()});
      taken_ += solve.problem->steps() / kStepsAnEvent;
    }
  }

  // A plan's step is a few operations, an event of the engine many.
  static constexpr std::int64_t kStepsAnEvent = 10'000;

  const Day& day_;
  const ReplayOptions& options_;
  ForwardWorld world_;
  Engine engine_;
  BalanceMeter meter_;
  std::optional<EffectiveAccount> account_;
  std::vector<std::pair<Instant, JobId>> leaves_;  // in order of time
  std::vector<Event> solved_;                      // answers that are there at once
  std::size_t node_ = 0, job_ = 0, leave_ = 0;     // the next to be told
  std::uint64_t turn_ = 0;
  std::int64_t taken_ = 0;
};

}  // namespace

DayReplay replay(const Day& day, const ReplayOptions& options) {
  return Course(day, options).run();
}

}  // namespace gridfold
