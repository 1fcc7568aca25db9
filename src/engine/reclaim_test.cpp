// Borrowed quota is taken back, over random trees of work: no queue comes below
// its guarantee by it, who fits within a guarantee does not wait for long, and
// once nothing new comes nobody is evicted any more.
#include <gtest/gtest.h>

#include <algorithm>
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

const std::map<std::string, std::int64_t> kGuaranteed = {{"x", 8}, {"x/a", 4}, {"x/b", 4},
                                                         {"y", 8}, {"z", 0},   {"z/c", 0}};

std::vector<std::string> up_from(std::string queue) {
  std::vector<std::string> names{queue};
  while (queue.find('/') != std::string::npos) {
    queue = queue.substr(0, queue.rfind('/'));
    names.push_back(queue);
  }
  return names;
}

class ReclaimWorld {
 public:
  explicit ReclaimWorld(std::uint64_t seed) : random_(seed, "reclaim_test") {
    std::vector<Event> events;
    for (const auto& [name, gpus] : kGuaranteed) {
      QueueSpec queue;
      queue.name = name;
      if (gpus > 0) queue.guaranteed.devices["gpu"] = gpus * 1000;
      events.emplace_back(QueueConfigured{queue});
    }
    for (int n = 0; n < 4; ++n) {
      NodeSpec node;
      node.name = "n" + std::to_string(n);
      node.cpu = MilliCores(64'000);
      node.memory = Bytes(std::int64_t{256} << 30);
      for (int d = 0; d < 8; ++d) node.devices.push_back({"gpu", "G"});
      events.emplace_back(NodeJoined{node});
    }
    step(events);
  }

  void submit() {
    auto queue = kGuaranteed.begin();
    std::advance(queue, static_cast<std::ptrdiff_t>(random_.below(kGuaranteed.size())));
    JobSpec spec;
    spec.queue = queue->first;
    Role role;
    role.count = role.min = static_cast<std::int32_t>(random_.between(1, 2));
    role.each.cpu = MilliCores(100);
    role.each.devices.push_back({"gpu", static_cast<std::int32_t>(random_.between(1, 4))});
    spec.roles.push_back(role);
    const JobId id(++last_);
    step({JobSubmitted{id, "u" + std::to_string(last_), std::make_shared<JobSpec>(spec), {}}});
  }

  void end_one() {
    std::vector<JobId> running;
    for (const JobRecord* job : engine.jobs()) {
      if (job->state == JobState::kRunning) running.push_back(job->id);
    }
    if (running.empty()) return;
    const JobId id = running[random_.below(running.size())];
    const std::size_t tasks = engine.job(id)->tasks.size();
    for (std::uint32_t t = 0; t < tasks; ++t) leave(id, t, 0);
  }

  // What is ordered is done; then an hour passes.
  void settle() {
    for (int round = 0; round < 50; ++round) {
      bool any = false;
      for (const auto& [id, task, attempt, phase] : tasks()) {
        if (phase == TaskPhase::kHeld) {
          any = true;
          step({TaskStarted{{id, task}, attempt}});
        } else if (phase == TaskPhase::kStopping) {
          any = true;
          leave(id, task, 15);
        }
      }
      if (!any) break;
    }
    now = now + Duration::hours(1);
    step({});
  }

  std::int64_t evictions() const { return evictions_; }
  Engine engine{EngineOptions{.verify = Verify::kEveryStep}, std::make_unique<FirstFit>()};
  Instant now{};

 private:
  struct TaskNow {
    JobId id;
    std::uint32_t task;
    std::uint32_t attempt;
    TaskPhase phase;
  };
  std::vector<TaskNow> tasks() const {
    std::vector<TaskNow> all;
    for (const JobRecord* job : engine.jobs()) {
      for (std::uint32_t t = 0; t < job->tasks.size(); ++t)
        all.push_back({job->id, t, job->tasks[t].attempt, job->tasks[t].phase});
    }
    return all;
  }
  void leave(JobId id, std::uint32_t task, int signal) {
    const std::uint32_t attempt = engine.job(id)->tasks[task].attempt;
    ExitStatus status;
    status.signal = signal;
    step({TaskExited{{id, task}, attempt, status}});
    step({TaskCleaned{{id, task}, attempt, 0}});
  }

  std::int64_t staying(const std::string& queue) const {
    std::int64_t gpus = 0;
    for (const JobRecord* job : engine.jobs()) {
      const auto names = up_from(job->spec->queue);
      if (std::find(names.begin(), names.end(), queue) == names.end()) continue;
      if (job->state == JobState::kStopping) continue;
      for (const TaskRecord& task : job->tasks) {
        if (holds_allocation(task.phase) || !task.claim.node.is_none())
          gpus += job->spec->roles.front().each.devices.front().count;
      }
    }
    return gpus;
  }

  void step(const std::vector<Event>& events) {
    const Decisions decisions = engine.step(now, events);
    for (const Decision& decision : decisions.list) {
      const auto* preempted = std::get_if<Preempted>(&decision);
      if (preempted == nullptr) continue;
      const auto mine = up_from(engine.job(preempted->job)->spec->queue);
      for (const JobId victim : preempted->victims) {
        ++evictions_;
        for (const std::string& queue : up_from(engine.job(victim)->spec->queue)) {
          if (std::find(mine.begin(), mine.end(), queue) != mine.end()) break;
          EXPECT_GE(staying(queue), kGuaranteed.at(queue)) << queue;
        }
      }
    }
    engine.step(now, std::vector<Event>{TurnCommitted{decisions.turn}});
  }

  RandomStream random_;
  std::uint64_t last_ = 0;
  std::int64_t evictions_ = 0;
};

TEST(Reclaim, LeavesGuaranteesAndSettles) {
  std::int64_t evictions = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ReclaimWorld world(seed);
    RandomStream random(seed, "reclaim_test.steps");
    for (int i = 0; i < 40; ++i) {
      world.submit();
      if (random.chance(1, 3)) world.settle();
      if (random.chance(1, 4)) world.end_one();
    }
    // Nobody is evicted more often than that.
    for (int i = 0; i < 10; ++i) world.settle();
    const std::int64_t before = world.evictions();
    for (int i = 0; i < 20; ++i) world.settle();
    EXPECT_EQ(world.evictions(), before);
    evictions += before;
  }
  EXPECT_GT(evictions, 100);
}

// Where all of it is borrowed, what is guaranteed is there at once.
TEST(Reclaim, WhatIsGuaranteedIsToBeHad) {
  Engine engine{EngineOptions{.verify = Verify::kEveryStep}, std::make_unique<FirstFit>()};
  QueueSpec own;
  own.name = "own";
  own.guaranteed.devices["gpu"] = 16'000;
  NodeSpec node;
  node.cpu = MilliCores(64'000);
  node.memory = Bytes(std::int64_t{256} << 30);
  node.devices.assign(8, {"gpu", "G"});
  std::vector<Event> events{QueueConfigured{QueueSpec{}}, QueueConfigured{own}};
  for (const char* name : {"n1", "n2", "n3"}) {
    node.name = name;
    events.emplace_back(NodeJoined{node});
  }
  engine.step({}, events);
  std::uint64_t last = 0;
  const auto submit = [&](const std::string& queue, int tasks, int gpus) {
    JobSpec spec;
    spec.queue = queue;
    spec.roles.emplace_back();
    spec.roles.front().count = spec.roles.front().min = tasks;
    spec.roles.front().each.devices.push_back({"gpu", gpus});
    const JobId id(++last);
    return std::pair(
        id,
        engine.step({}, std::vector<Event>{JobSubmitted{
                            id, "u" + std::to_string(last), std::make_shared<JobSpec>(spec), {}}}));
  };
  for (int i = 0; i < 24; ++i) submit("default", 1, 1);
  const auto [gang, decisions] = submit("own", 2, 8);
  const auto taken = std::find_if(decisions.list.begin(), decisions.list.end(), [](const auto& d) {
    return std::holds_alternative<Preempted>(d);
  });
  ASSERT_NE(taken, decisions.list.end());
  EXPECT_EQ(std::get<Preempted>(*taken).victims.size(), 16u);
  const JobId victim = std::get<Preempted>(*taken).victims.front();
  EXPECT_EQ(*engine.job(victim)->reason,
            Reason(ReasonCode::kReclaimed, {{"by", engine.job(gang)->uid}, {"queue", "own"}}));
}

}  // namespace
}  // namespace gridfold
