// Where the orders of a run on a copy of the engine go: tasks that exist only as
// times at which they will end.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "control/engine_fork.h"

namespace gridfold {

// How long the work of a job lasts in all when it has lasted so long already.
// The queue is null when there is none of its name.
using WholeRun = std::function<Duration(const JobRecord&, const QueueSpec*, Duration ran)>;

class ForwardWorld {
 public:
  explicit ForwardWorld(WholeRun whole_run) : whole_run_(std::move(whole_run)) {}

  // What the snapshot's jobs do already.
  void take_over(const EngineSnapshot& snapshot);
  // What was decided at `now`.
  void follow(const Engine& engine, const Decisions& decisions, Instant now);
  // Instant::never(): nothing is under way.
  Instant next() const { return due_.empty() ? Instant::never() : due_.top().at; }
  // What has happened by then is appended.
  void tell(const Engine& engine, Instant now, std::vector<Event>& events);

 private:
  enum class What : std::uint8_t { kStarted, kGone, kCleaned, kJobEnds, kBooted, kReleased };
  struct Due {
    Instant at{};
    std::uint64_t order = 0;
    What what = What::kStarted;
    TaskId task;
    // Its attempt; of a job's end: the run; of a node: its number.
    std::uint32_t number = 0;
    friend bool operator<(const Due& a, const Due& b) {  // for the queue: the later is less
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  void expect(Instant at, What what, TaskId task, std::uint32_t number);
  void expect_boot(const std::vector<NodePool>& pools, const NodeRecord& node, Instant now);
  void begin_run(const Engine& engine, const JobRecord& job, Instant now);
  static void end_job(const JobRecord& job, std::vector<Event>& events);
  static void end_task(TaskId task, std::uint32_t attempt, std::vector<Event>& events);

  WholeRun whole_run_;
  std::priority_queue<Due> due_;
  std::uint64_t order_ = 0;
  std::unordered_map<JobId, Instant> begun_;  // when the last run did
  // Of jobs that were stopped and keep their work: how much is done.
  std::unordered_map<JobId, Duration> done_;
};

}  // namespace gridfold
