// Rounds among everything else that may happen: plans that make no sense, nodes
// that go, turns that are undone, engines made anew from the records. Every
// step recounts all derived state.
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "base/random.h"
#include "engine/engine.h"

namespace gridfold {
namespace {

class FirstFit : public PlacementPolicy {
 public:
  std::string_view name() const override { return "first_fit"; }
  Choice choose(const NodeRoom& node, const Request& request) const override {
    return {0, first_fit_devices(node, request)};
  }
};

// Gives any job any places, now and then such as cannot be.
class Wild : public RoundPolicy {
 public:
  explicit Wild(RandomStream& random) : random_(random) {}
  std::string_view name() const override { return "wild"; }
  Duration round() const override { return Duration::seconds(10); }
  bool takes(const JobSpec& job) const override { return job.training.has_value(); }
  RoundPlan plan(const RoundView& view) override {
    RoundPlan plan;
    for (const RoundJob& job : view.jobs) {
      if (random_.chance(1, 5)) continue;
      if (random_.chance(1, 3)) {
        plan.assignments.push_back({job.id, job.places});
        continue;
      }
      RoundAssignment& assigned = plan.assignments.emplace_back();
      assigned.job = job.id;
      for (std::uint64_t i = 0, n = random_.below(4); i < n && !view.nodes.empty(); ++i) {
        const RoundNode& node = view.nodes[random_.below(view.nodes.size())];
        assigned.places.push_back(
            {random_.chance(1, 50) ? NodeId(999) : node.id,
             static_cast<std::int32_t>(random_.between(random_.chance(1, 50) ? -2 : 0, 3))});
      }
    }
    return plan;
  }
  std::int64_t steps() const override { return 1; }

 private:
  RandomStream& random_;
};

class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : random_(seed, "chaos"), plans_(seed, "plans") {
    engine_ = make_engine();
    QueueSpec limited;
    limited.name = "limited";
    limited.limit.devices["gpu"] = 5000;
    queues_ = {QueueConfigured{QueueSpec{}}, QueueConfigured{limited}};
    std::vector<Event> events(queues_);
    const std::int64_t nodes = random_.between(1, 4);
    for (std::int64_t n = 0; n < nodes; ++n) {
      NodeSpec spec;
      spec.name = "n" + std::to_string(n);
      spec.cpu = MilliCores(64'000);
      spec.memory = Bytes(std::int64_t{256} << 30);
      for (std::int64_t g = 0, all = random_.between(1, 4); g < all; ++g)
        spec.devices.push_back({"gpu", "G", Bytes(std::int64_t{80} << 30)});
      specs_.push_back(spec);
      events.emplace_back(NodeJoined{spec});
    }
    step(std::move(events));
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) once();
  }

  // All is cancelled, all that runs ends: then nothing is held or claimed.
  void end() {
    std::vector<Event> events;
    for (const NodeSpec& spec : specs_) events.emplace_back(NodeJoined{spec});
    for (const JobRecord* job : engine_->jobs())
      events.emplace_back(JobCancelRequested{job->id, "end"});
    step(std::move(events));
    while (!running_.empty()) answer_task(true);
    for (std::uint32_t n = 0; n < specs_.size(); ++n) {
      if (!engine_->nodes()[n].up) continue;
      EXPECT_EQ(engine_->room(NodeId(n)).cpu, 64'000) << held();
    }
    EXPECT_EQ(engine_->usage("limited").devices["gpu"], 0);
  }

  int resizes = 0;
  int starts = 0;

 private:
  std::string held() const {
    std::string text;
    for (const JobRecord* job : engine_->jobs()) {
      for (std::size_t i = 0; i < job->tasks.size(); ++i) {
        const TaskRecord& task = job->tasks[i];
        if (!holds_allocation(task.phase) && task.claim.node.is_none()) continue;
        text += "job " + std::to_string(job->id.value) + " " + std::string(to_string(job->state)) +
                " " + std::string(to_string(job->stopping)) + " task " + std::to_string(i) + " " +
                std::string(to_string(task.phase)) + " attempt " + std::to_string(task.attempt) +
                "; ";
      }
    }
    return text;
  }

  std::unique_ptr<Engine> make_engine() {
    return std::make_unique<Engine>(
        EngineOptions{.verify = Verify::kEveryStep},
        Policies(std::make_unique<FirstFit>(), std::make_unique<Wild>(plans_)));
  }

  void once() {
    now_ = now_ + Duration::milliseconds(random_.between(0, 3000));
    const std::uint64_t what = random_.below(48);
    if (what != 9) running_before_ = running_;
    switch (what) {
      case 0:
      case 1: return submit();
      case 2: return one_of_jobs([](JobId id) -> Event { return JobCancelRequested{id, "x"}; });
      case 3: return one_of_jobs([](JobId id) -> Event { return JobHoldRequested{id, "x"}; });
      case 4: return one_of_jobs([](JobId id) -> Event { return JobReleaseRequested{id, "x"}; });
      case 5: return one_of_jobs([](JobId id) -> Event { return JobRequeueRequested{id, "x"}; });
      case 6: {
        const bool fenced = random_.chance(1, 2);
        const std::string& name = specs_[random_.below(specs_.size())].name;
        if (fenced) std::erase_if(running_, [&](const Running& r) { return r.node == name; });
        return step({NodeLost{name, fenced ? Fencing::kFenced : Fencing::kUnfenced}});
      }
      case 7: return step({NodeJoined{specs_[random_.below(specs_.size())]}});
      case 8:
        return step({NodeDrainRequested{specs_[random_.below(specs_.size())].name,
                                        random_.chance(1, 3), "x"}});
      case 9: return reject();
      case 10: return random_.chance(1, 4) ? restart() : step({});
      default:
        if (what < 20) return answer_solve();
        return running_.empty() ? step({}) : answer_task(random_.chance(1, 40));
    }
  }

  void submit() {
    JobSpec spec;
    spec.queue = random_.chance(1, 2) ? "limited" : "default";
    spec.workload_class = random_.chance(1, 6) ? WorkloadClass::kFiller : WorkloadClass::kTrain;
    Role role;
    role.multiple_of = static_cast<std::int32_t>(random_.between(1, 2));
    role.min = role.multiple_of * static_cast<std::int32_t>(random_.between(1, 2));
    role.count = role.min + role.multiple_of * static_cast<std::int32_t>(random_.between(0, 3));
    role.each.cpu = MilliCores(1000);
    role.each.devices.push_back({"gpu", random_.chance(1, 5) ? 2 : 1});
    spec.roles.push_back(role);
    if (spec.workload_class == WorkloadClass::kTrain && random_.chance(4, 5))
      spec.training.emplace();
    spec.retry.max = 1;
    if (random_.chance(1, 5)) spec.time_limit = Limit<Duration>(Duration::seconds(25));
    const JobId id(next_id_++);
    step({JobSubmitted{id,
                       "u" + std::to_string(id.value),
                       std::make_shared<const JobSpec>(std::move(spec)),
                       {},
                       random_.chance(1, 10)}});
  }

  template <class Make>
  void one_of_jobs(Make make) {
    const auto jobs = engine_->jobs();
    if (!jobs.empty()) step({make(jobs[random_.below(jobs.size())]->id)});
  }

  // One task that was launched goes on by one phase.
  void answer_task(bool ends) {
    // From any place on the first that has something to say.
    std::size_t at = random_.below(running_.size());
    for (std::size_t i = 0; i < running_.size() && running_[at].started; ++i) {
      if (running_[at].stopping) break;
      at = (at + 1) % running_.size();
    }
    Running& task = running_[at];
    if (!task.started && !task.stopping && !ends) {
      task.started = true;
      return step({TaskStarted{task.id, task.attempt}});
    }
    if (!ends && !task.stopping) return step({});
    const Running gone = task;
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
    ExitStatus status;
    if (gone.stopping) status.signal = 15;
    if (!gone.stopping && random_.chance(1, 3)) status.code = 1;
    step({TaskExited{gone.id, gone.attempt, status}, TaskCleaned{gone.id, gone.attempt}});
  }

  void answer_solve() {
    if (solves_.empty()) return step({});
    const Solve solve = solves_.front();
    solves_.pop_front();
    last_solve_ = solve;
    step({Solved{solve.id, solve.problem->solve()}});
  }

  // The last turn is undone; what came of it never happened.
  void reject() {
    if (decided_.turn == 0) return;
    running_ = running_before_;
    std::vector<Event> events{TurnRejected{decided_.turn}};
    if (last_solve_) events.emplace_back(Solved{last_solve_->id, last_solve_->problem->solve()});
    step(std::move(events));
  }

  void restart() {
    std::vector<Event> events(queues_);
    for (const NodeRecord& node : engine_->nodes()) events.emplace_back(NodeRestored{node});
    for (const JobRecord* job : engine_->jobs()) {
      if (!is_terminal(job->state)) events.emplace_back(JobRestored{*job});
    }
    std::vector<Event> joined;
    for (const NodeRecord& node : engine_->nodes()) {
      if (node.up) joined.emplace_back(NodeJoined{node.spec});
    }
    auto fresh = make_engine();
    fresh->step(Instant{}, events);
    engine_ = std::move(fresh);
    solves_.clear();
    last_solve_.reset();
    decided_ = {};
    if (!joined.empty()) step(std::move(joined));
  }

  void step(std::vector<Event> events) {
    const bool undoes = !events.empty() && std::holds_alternative<TurnRejected>(events[0]);
    if (!undoes && decided_.turn != 0) events.insert(events.begin(), TurnCommitted{decided_.turn});
    const Decisions& decisions = engine_->step(now_, events);
    for (const Decision& decision : decisions.list) {
      if (const auto* launch = std::get_if<LaunchTask>(&decision)) {
        ++starts;
        running_.push_back({launch->task, launch->attempt,
                            engine_->nodes()[launch->allocation.node.value].spec.name});
      } else if (const auto* stop = std::get_if<StopTask>(&decision)) {
        resizes += stop->cause == StopCause::kResize;
        for (Running& task : running_) {
          if (task.id == stop->task && task.attempt == stop->attempt) task.stopping = true;
        }
      }
    }
    for (const Solve& solve : decisions.solves) solves_.push_back(solve);
    decided_ = decisions;
  }

  struct Running {
    TaskId id;
    std::uint32_t attempt = 0;
    std::string node;
    bool started = false;
    bool stopping = false;
  };

  RandomStream random_;
  RandomStream plans_;
  std::unique_ptr<Engine> engine_;
  std::vector<Event> queues_;
  std::vector<NodeSpec> specs_;
  Instant now_ = Instant{} + Duration::seconds(1);
  std::uint64_t next_id_ = 1;
  std::vector<Running> running_;
  std::vector<Running> running_before_;
  std::deque<Solve> solves_;
  std::optional<Solve> last_solve_;
  Decisions decided_;
};

TEST(RoundsProperty, NothingThatHappensBreaksTheBooks) {
  int resizes = 0;
  int starts = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Chaos chaos(seed);
    chaos.run(300);
    chaos.end();
    resizes += chaos.resizes;
    starts += chaos.starts;
  }
  EXPECT_GT(resizes, 150);
  EXPECT_GT(starts, 1500);
}

}  // namespace
}  // namespace gridfold
