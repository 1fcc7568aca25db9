#include "simulator/training/round_driver.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

namespace gridfold {
namespace {

struct LiveJob {
  std::size_t index = 0;  // in the workload
  RoundJob seen;
  std::unique_ptr<TrainingProcess> process;
  std::int64_t rounds = 0;
  std::int64_t active_sum = 0;
};

class Driver {
 public:
  Driver(const TrainingWorkload& workload, RoundPolicy& policy)
      : workload_(workload), policy_(policy) {
    for (const auto& arrival : workload.arrivals) {
      run_.jobs.push_back({arrival.spec->name, arrival.at, {}, 0, 0, 0});
    }
    for (const auto& node : workload.cluster.nodes) {
      RoundNode seen{NodeId(static_cast<std::uint32_t>(view_.nodes.size())), {}, {}, 0};
      if (!node.devices.empty()) {
        seen.device_class = node.devices.front().device_class;
        seen.model = node.devices.front().model;
        seen.devices = static_cast<std::int32_t>(node.devices.size());
      }
      view_.nodes.push_back(std::move(seen));
    }
  }

  DrivenRun run(std::int64_t most_rounds) {
    arrive();  // at the origin is a boundary too
    plan();
    while (finished_ < run_.jobs.size() && run_.rounds < most_rounds && run_.fault.empty()) {
      now_ = now_ + policy_.round();
      advance();
      arrive();
      plan();
      ++run_.rounds;
    }
    return std::move(run_);
  }

 private:
  void advance() {
    for (auto& job : live_) {
      Instant event = job.process->next_event();
      while (event <= now_ && !job.process->finished()) {
        job.process->advance(event);
        if (job.process->finished()) end_job(job, event);
        event = job.process->next_event();
      }
      if (!job.process->finished()) job.process->advance(now_);
      charge(job);
    }
    std::erase_if(live_, [](const LiveJob& job) { return job.process->finished(); });
  }

  void end_job(const LiveJob& job, Instant at) {
    DrivenJob& done = run_.jobs[job.index];
    done.finished = at;
    done.starts = job.seen.starts;
    done.device_seconds = static_cast<double>(job.seen.executed_ns) * 1e-9;
    done.active_jobs =
        job.rounds == 0 ? 1 : static_cast<double>(job.active_sum) / static_cast<double>(job.rounds);
    run_.end = std::max(run_.end, at);
    ++finished_;
  }

  void charge(LiveJob& job) {
    std::int64_t devices = 0;
    for (const auto& place : job.seen.places) devices += place.tasks * job.seen.devices_each();
    job.seen.executed_ns += devices * policy_.round().ns;
    run_.held_device_seconds += static_cast<double>(devices) * policy_.round().in_seconds();
  }

  void arrive() {
    while (next_ < workload_.arrivals.size() && workload_.arrivals[next_].at <= now_) {
      const auto& arrival = workload_.arrivals[next_];
      LiveJob job;
      job.index = next_;
      job.seen.id = JobId(next_);
      job.seen.spec = arrival.spec;
      job.seen.submitted_at = arrival.at;
      job.process = arrival.make_process();
      live_.push_back(std::move(job));
      ++next_;
    }
    for (auto& job : live_) {
      ++job.rounds;
      job.active_sum += static_cast<std::int64_t>(live_.size());
    }
  }

  void plan() {
    if (live_.empty()) return;
    view_.now = now_;
    ++view_.round;
    view_.jobs.clear();
    for (auto& job : live_) {
      if (auto told = job.process->report()) {
        job.seen.history = std::make_shared<const TrainingHistory>(std::move(*told));
      }
      view_.jobs.push_back(job.seen);
    }
    const auto begin = std::chrono::steady_clock::now();
    RoundPlan plan = policy_.plan(view_);
    run_.policy_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    take(plan);
  }

  void take(RoundPlan& plan) {
    std::map<JobId, std::vector<RoundPlace>> wanted;
    for (auto& assignment : plan.assignments) {
      if (!wanted.emplace(assignment.job, std::move(assignment.places)).second) {
        run_.fault = "a job is assigned twice";
      }
    }
    std::vector<std::int32_t> held(view_.nodes.size(), 0);
    for (auto& job : live_) {
      std::vector<RoundPlace>& places = wanted[job.seen.id];
      for (const auto& place : places) {
        held[place.node.value] += place.tasks * job.seen.devices_each();
        if (place.tasks < 1) run_.fault = "a place has no task";
      }
      if (places == job.seen.places) continue;
      job.process->stop(now_);
      job.seen.places = std::move(places);
      if (job.seen.places.empty()) continue;
      ++job.seen.starts;
      std::vector<TrainingPlace> at;
      for (const auto& place : job.seen.places) {
        at.push_back({view_.nodes[place.node.value].model, place.tasks});
      }
      job.process->start(now_, at);
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (held[i] > view_.nodes[i].devices) run_.fault = "a node is given more than it has";
    }
  }

  const TrainingWorkload& workload_;
  RoundPolicy& policy_;
  Instant now_{};
  std::size_t next_ = 0;
  std::size_t finished_ = 0;
  RoundView view_;
  std::vector<LiveJob> live_;
  DrivenRun run_;
};

}  // namespace

DrivenRun drive_rounds(const TrainingWorkload& workload, RoundPolicy& policy,
                       std::int64_t most_rounds) {
  return Driver(workload, policy).run(most_rounds);
}

}  // namespace gridfold
