#include "control/forward_world.h"

#include <algorithm>

namespace gridfold {
namespace {

// It goes on where it was when it starts again.
bool keeps_work(const JobRecord& job) {
  return job.spec->checkpoint.has_value() || job.spec->training.has_value();
}

// Of a run that lasted so long: whoever was not asked has saved whole intervals.
Duration kept_work(const JobRecord& job, Duration ran, const Reason& why) {
  if (why.code != ReasonCode::kNodeLost) return ran;
  const auto& checkpoint = job.spec->checkpoint;
  if (!checkpoint || !checkpoint->interval.is_known() || checkpoint->interval.value().ns <= 0)
    return {};
  return Duration{ran.ns - ran.ns % checkpoint->interval.value().ns};
}

// From the order to stop until nothing is left.
Duration stop_time(const JobRecord& job) {
  if (job.save_time) return *job.save_time;
  if (job.spec->checkpoint && job.spec->checkpoint->cost.is_known())
    return job.spec->checkpoint->cost.value();
  return {};
}

}  // namespace

void ForwardWorld::expect(Instant at, What what, TaskId task, std::uint32_t number) {
  due_.push({at, order_++, what, task, number});
}

// A boot takes as long as its pool expects.
void ForwardWorld::expect_boot(const std::vector<NodePool>& pools, const NodeRecord& node,
                               Instant now) {
  for (const NodePool& pool : pools) {
    if (pool.name != node.pool) continue;
    expect(std::max(node.power_since + pool.boot_time, now), What::kBooted, {}, node.id.value);
  }
}

void ForwardWorld::take_over(const EngineSnapshot& snapshot) {
  for (const NodeRecord& node : snapshot.nodes) {
    if (node.power == NodePower::kBooting) expect_boot(snapshot.pools, node, snapshot.at);
    if (node.power == NodePower::kReleasing)
      expect(snapshot.at, What::kReleased, {}, node.id.value);
  }
  std::unordered_map<std::string_view, const QueueSpec*> queues;
  for (const QueueSpec& queue : snapshot.queues.queues) queues[queue.name] = &queue;
  for (const JobRecord& job : snapshot.jobs) {
    if (job.state == JobState::kPending) continue;
    for (std::uint32_t i = 0; i < job.tasks.size(); ++i) {
      const TaskRecord& task = job.tasks[i];
      const TaskId id{job.id, i};
      if (task.phase == TaskPhase::kHeld) expect(snapshot.at, What::kStarted, id, task.attempt);
      if (task.phase == TaskPhase::kCleaning) expect(snapshot.at, What::kCleaned, id, task.attempt);
      if (task.phase == TaskPhase::kStopping)
        expect(snapshot.at + stop_time(job), What::kGone, id, task.attempt);
    }
    if (job.stopping != StopCause::kNone || job.started_at.is_never()) continue;
    begun_[job.id] = job.started_at;
    const auto queue = queues.find(job.spec->queue);
    const Duration ran = std::max(snapshot.at - job.started_at, Duration{});
    const Duration whole = whole_run_(job, queue == queues.end() ? nullptr : queue->second, ran);
    expect(std::max(job.started_at + whole, snapshot.at), What::kJobEnds, {job.id, 0},
           static_cast<std::uint32_t>(job.runs));
  }
}

void ForwardWorld::begin_run(const Engine& engine, const JobRecord& job, Instant now) {
  begun_[job.id] = now;
  Duration run = whole_run_(job, engine.queue(job.spec->queue), {});
  if (const auto done = done_.find(job.id); done != done_.end())
    run = std::max(run - done->second, Duration::nanoseconds(1));
  expect(now + run, What::kJobEnds, {job.id, 0}, static_cast<std::uint32_t>(job.runs));
}

void ForwardWorld::follow(const Engine& engine, const Decisions& decisions, Instant now) {
  for (const Decision& decision : decisions.list) {
    if (const auto* launch = std::get_if<LaunchTask>(&decision)) {
      expect(now, What::kStarted, launch->task, launch->attempt);
    } else if (const auto* stop = std::get_if<StopTask>(&decision)) {
      const JobRecord* job = engine.job(stop->task.job);
      expect(now + (job != nullptr ? stop_time(*job) : Duration{}), What::kGone, stop->task,
             stop->attempt);
    } else if (const auto* boot = std::get_if<BootNode>(&decision)) {
      expect_boot(engine.pools(), engine.nodes()[boot->node.value], now);
    } else if (const auto* release = std::get_if<ReleaseNode>(&decision)) {
      expect(now, What::kReleased, {}, release->node.value);
    } else if (const auto* change = std::get_if<JobChanged>(&decision)) {
      const JobRecord* job = engine.job(change->job);
      if (job == nullptr) continue;
      if (change->to == JobState::kStarting) begin_run(engine, *job, now);
      const bool stops = change->to == JobState::kStopping || change->to == JobState::kPending;
      if (change->from == JobState::kRunning && stops && keeps_work(*job))
        done_[job->id] = done_[job->id] + kept_work(*job, now - begun_[job->id], change->reason);
    }
  }
}

void ForwardWorld::end_task(TaskId task, std::uint32_t attempt, std::vector<Event>& events) {
  events.emplace_back(TaskExited{task, attempt, {}});
  events.emplace_back(TaskCleaned{task, attempt, 0});
}

void ForwardWorld::end_job(const JobRecord& job, std::vector<Event>& events) {
  for (std::uint32_t i = 0; i < job.tasks.size(); ++i) {
    const TaskPhase phase = job.tasks[i].phase;
    if (phase == TaskPhase::kHeld || phase == TaskPhase::kRunning)
      end_task({job.id, i}, job.tasks[i].attempt, events);
  }
}

void ForwardWorld::tell(const Engine& engine, Instant now, std::vector<Event>& events) {
  while (next() <= now) {
    const Due due = due_.top();
    due_.pop();
    switch (due.what) {
      case What::kStarted: events.emplace_back(TaskStarted{due.task, due.number}); break;
      case What::kCleaned: events.emplace_back(TaskCleaned{due.task, due.number, 0}); break;
      case What::kGone: end_task(due.task, due.number, events); break;
      case What::kBooted: {
        const NodeRecord& node = engine.nodes()[due.number];
        if (node.power == NodePower::kBooting) events.emplace_back(NodeJoined{node.spec});
        break;
      }
      case What::kReleased:
        events.emplace_back(NodeLost{engine.nodes()[due.number].spec.name, Fencing::kFenced});
        break;
      case What::kJobEnds: {
        const JobRecord* job = engine.job(due.task.job);
        const bool is_it = job != nullptr && job->stopping == StopCause::kNone &&
                           static_cast<std::uint32_t>(job->runs) == due.number;
        if (is_it) end_job(*job, events);
        break;
      }
    }
  }
}

}  // namespace gridfold
