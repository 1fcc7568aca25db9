#include "control/forward_run.h"

#include <algorithm>
#include <unordered_set>

#include "control/forward_world.h"

namespace gridfold {
namespace {

constexpr std::int64_t kWholeDeviceThousandths = 1000;

// What one task holds, as usage counts it.
ForwardUsage held_by(const TaskRequest& each) {
  ForwardUsage held;
  for (const DeviceRequest& group : each.devices) {
    const std::int64_t share = group.share.value == 0 ? kWholeDeviceThousandths : group.share.value;
    held.devices += group.count * share;
  }
  held.cpu = each.cpu.value;
  return held;
}

// As far as anyone can say: the median of what runs like it took.
WholeRun likely_runs(const RunOutcomes& outcomes, Duration default_run) {
  return [&outcomes, default_run](const JobRecord& job, const QueueSpec* queue, Duration ran) {
    const auto longest = queue != nullptr ? queue->longest_run : Limit<Duration>{};
    return outcomes.whole_run(guess_run(job, longest, default_run), ran, 500);
  };
}

class Course {
 public:
  Course(const EngineSnapshot& snapshot, const RunOutcomes& outcomes, Policies policies,
         const ForwardOptions& options)
      : snapshot_(snapshot),
        options_(options),
        world_(likely_runs(outcomes, options.default_run)),
        engine_(fork_without_jobs(snapshot, std::move(policies))),
        answer_(std::make_shared<ForwardAnswer>()) {
    answer_->from = answer_->reached = snapshot.at;
    answer_->revision = snapshot.revision;
  }

  std::shared_ptr<const ForwardAnswer> run(std::vector<Event> more) {
    for (const JobRecord& job : snapshot_.jobs) {
      if (job.state == JobState::kPending && !job.held) waiting_.insert(job.id);
      for (std::uint32_t i = 0; i < job.tasks.size(); ++i) {
        if (holds_allocation(job.tasks[i].phase)) hold(job, i, +1);
      }
    }
    for (const Event& event : more) {
      if (const auto* submitted = std::get_if<JobSubmitted>(&event)) waiting_.insert(submitted->id);
    }
    world_.take_over(snapshot_);
    std::vector<Event> events = jobs_of(snapshot_);
    std::move(more.begin(), more.end(), std::back_inserter(events));
    Instant now = snapshot_.at;
    step(now, events);
    while (!is_done()) {
      const Instant next = std::min(world_.next(), engine_.next_wake());
      if (events_.empty() && (next.is_never() || is_beyond(next))) break;
      if (answer_->events >= options_.max_events) {
        finish();
        return answer_;
      }
      if (events_.empty()) now = std::max(now, next);
      events.clear();
      std::swap(events, events_);
      world_.tell(engine_, now, events);
      step(now, events);
    }
    answer_->complete = true;
    finish();
    return answer_;
  }

 private:
  bool is_done() const {
    return options_.until == ForwardOptions::Until::kAllStarted && waiting_.empty() &&
           events_.empty();
  }

  bool is_beyond(Instant at) const { return !options_.horizon.allows(at - snapshot_.at); }

  void step(Instant now, std::vector<Event>& events) {
    answer_->reached = now;
    answer_->events += static_cast<std::int64_t>(events.size()) + 1;
    for (const Event& event : events) note_release(event);
    events.insert(events.begin(), TurnCommitted{turn_});
    const Decisions& decisions = engine_.step(now, events);
    turn_ = decisions.turn;
    world_.follow(engine_, decisions, now);
    for (const Decision& decision : decisions.list) note(decision, now);
    // Plans are made at once.
    for (const Solve& solve : decisions.solves) {
      events_.emplace_back(Solved{solve.id, solve.problem->solve()});
      answer_->events += solve.problem->steps() / kStepsAnEvent;
    }
    if (answer_->usage.empty() || answer_->usage.back().at != now)
      answer_->usage.push_back({now, 0, 0});
    answer_->usage.back().devices = devices_;
    answer_->usage.back().cpu = cpu_;
  }

  // What its task held is free again with this event.
  void note_release(const Event& event) {
    const auto* cleaned = std::get_if<TaskCleaned>(&event);
    const JobRecord* job = cleaned != nullptr ? engine_.job(cleaned->task.job) : nullptr;
    if (job == nullptr || cleaned->task.index >= job->tasks.size()) return;
    const TaskRecord& task = job->tasks[cleaned->task.index];
    if (task.attempt == cleaned->attempt && holds_allocation(task.phase))
      hold(*job, cleaned->task.index, -1);
  }

  void note(const Decision& decision, Instant now) {
    if (const auto* launch = std::get_if<LaunchTask>(&decision)) {
      // A restart in place holds what it held.
      const JobRecord* job = engine_.job(launch->task.job);
      if (job != nullptr && job->tasks[launch->task.index].retries == 0)
        hold(*job, launch->task.index, +1);
      return;
    }
    const auto* change = std::get_if<JobChanged>(&decision);
    if (change == nullptr) return;
    if (change->to == JobState::kStarting && waiting_.erase(change->job) > 0)
      answer_->starts.push_back({change->job, now});
    if (is_terminal(change->to)) waiting_.erase(change->job);
    if (change->to == JobState::kStopping && change->reason.code == ReasonCode::kPreempted)
      answer_->evicted.push_back(change->job);
  }

  void hold(const JobRecord& job, std::uint32_t task, std::int64_t sign) {
    const ForwardUsage held = held_by(job.spec->role_of(task).each);
    devices_ += sign * held.devices;
    cpu_ += sign * held.cpu;
  }

  void finish() {
    std::sort(answer_->starts.begin(), answer_->starts.end(),
              [](const ForwardStart& a, const ForwardStart& b) { return a.job < b.job; });
  }

  // A plan's step is a few operations, an event of the engine many.
  static constexpr std::int64_t kStepsAnEvent = 10'000;

  const EngineSnapshot& snapshot_;
  const ForwardOptions& options_;
  ForwardWorld world_;
  Engine engine_;
  std::shared_ptr<ForwardAnswer> answer_;
  std::vector<Event> events_;  // that come in at once
  std::unordered_set<JobId> waiting_;
  std::uint64_t turn_ = 0;
  std::int64_t devices_ = 0;
  std::int64_t cpu_ = 0;
};

}  // namespace

Instant ForwardAnswer::start_of(JobId job) const {
  const auto it =
      std::lower_bound(starts.begin(), starts.end(), job,
                       [](const ForwardStart& start, JobId id) { return start.job < id; });
  return it != starts.end() && it->job == job ? it->at : Instant::never();
}

std::shared_ptr<const ForwardAnswer> ForwardRun::run(std::vector<Event> more) const {
  Course course(*snapshot_, outcomes_, make_policies_(), options_);
  return course.run(std::move(more));
}

}  // namespace gridfold
