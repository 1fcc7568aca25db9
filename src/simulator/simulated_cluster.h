// A cluster that exists only in memory, as a backend like any other.
//
//   VirtualClock clock;
//   SimulatedCluster cluster(nodes, {}, clock);
//   cluster.open(sink);
//   cluster.set_truth(job, {.duration = Duration::hours(1)});
//   cluster.launch(order);
//   clock.advance_to(cluster.next_event());
//   cluster.advance();                      // reports what is due by now
//
// What it knows and the engine does not: how long each task will run. With a
// FaultPlan things go wrong, too. Not thread-safe; reports are given from
// within advance() only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id_map.h"
#include "base/random.h"
#include "control/backend.h"
#include "simulator/event_queue.h"
#include "simulator/fault_plan.h"
#include "simulator/training_process.h"
#include "simulator/virtual_clock.h"

namespace gridfold {

struct SimulatedClusterOptions {
  Duration start_latency{};  // from the order to the running process
  Duration clean_latency{};  // from its end until nothing of it is left
  // Until the loss of a node or a shim is noticed.
  Duration loss_detection = Duration::seconds(10);
  // Nodes that are off until they are booted. A boot takes what its pool expects
  // and up to so much more, drawn by the seed.
  std::vector<NodePool> pools;
  Duration boot_spread{};
  std::uint64_t seed = 0;
};

// How a job's tasks behave once they run.
struct TaskTruth {
  Limit<Duration> duration;    // unlimited: until they are stopped
  std::int32_t exit_code = 0;  // at the end of that time
  Duration stop_time{};        // from the stop signal to the end, if the grace allows
  bool startable = true;       // false: there is no such program
  // Of every run but the first: until it works on from where it was.
  Duration restart_time{};
};

class SimulatedCluster : public Backend {
 public:
  // Names of nodes are distinct. The clock outlives the cluster.
  SimulatedCluster(std::vector<NodeSpec> nodes, SimulatedClusterOptions options,
                   const VirtualClock& clock, std::unique_ptr<FaultPlan> faults = nullptr);
  ~SimulatedCluster() override;

  // To be said before the job's first task begins to run, which is never
  // within launch(). A task without a truth fails to start, by the job's fault.
  void set_truth(JobId job, TaskTruth truth);
  // As well, of a training job: it runs while all tasks of the order do, stops
  // when one does, and its tasks exit with 0 when it has finished.
  void set_training(JobId job, std::unique_ptr<TrainingProcess> process);
  // In the next advance() every training job that runs goes on to this time and
  // reports.
  void report_training();

  // When something happens next; Instant::never() when nothing will.
  Instant next_event() const;
  // Lets everything happen that is due by the clock's time.
  void advance();

  // Faults by hand. Return false when the node is not up / not lost.
  bool lose_node(std::string_view node, Fencing fencing);
  bool return_node(std::string_view node);

  // --- Backend ---
  Capabilities capabilities() const override {
    Capabilities able;
    able.boots_nodes = true;
    return able;
  }
  // Opened again (by the next daemon of a crash test), it reports to the new
  // sink only; reports still on their way to the old one are lost.
  Result<void> open(EventSink sink) override;
  void launch(const LaunchOrder& order) override;
  void stop(const StopOrder& order) override;
  void forget(TaskId task, std::uint32_t attempt) override;
  void boot(const NodeSpec& node) override;
  void release(const std::string& node) override;
  Result<Observation> observe() override;
  // Simulated tasks write nothing: kNotFound.
  Result<LogChunk> read_log(std::string_view job_uid, TaskId task, std::uint32_t attempt,
                            LogStream stream, std::uint64_t offset, std::size_t limit) override;

  // --- For those who check and measure ---
  // Every attempt that is really there, on unreachable nodes too, by task and
  // attempt. `devices` are held until the phase is kCleaned or kLaunchFailed.
  struct Presence {
    ObservedTask task;
    std::uint64_t devices = 0;
    std::int32_t start = kNoPartition;
    std::shared_ptr<const JobSpec> spec;  // shared with the order
  };
  std::vector<Presence> presences() const;
  // Of the task's duration, what it has saved so far.
  Duration saved_work(TaskId task) const;
  // Null: there is no such training job.
  const TrainingProcess* training(JobId job) const;
  // Reports given to the sink so far.
  std::uint64_t reports() const { return reports_; }

 private:
  struct Attempt {
    ObservedTask seen;
    std::uint32_t node = 0;
    std::int32_t start = kNoPartition;
    std::uint64_t devices = 0;
    std::shared_ptr<const JobSpec> spec;  // shared with the order
    std::uint32_t rank = 0;               // among the tasks that were ordered with it
    std::uint32_t world_size = 0;         // their number
    std::optional<LaunchFault> fault;     // drawn: it will not start
    Instant begun{};
    Duration restarting{};  // from then on, until it works
    Instant ends = Instant::never();
    bool signalled = false;
    bool there = false;  // false: the slot is free
    // Counts changes of plan: a step of an older version is void.
    std::uint32_t version = 0;
  };
  // What is known of a task: orders of older attempts than the newest are
  // refused.
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;
  struct Task {
    std::uint32_t newest = 0;      // attempt ordered
    std::uint32_t slot = kNoSlot;  // of that attempt, while it is there
    Duration saved{};              // work kept by checkpoints
    std::uint32_t runs = 0;        // begun
  };
  struct Training {
    std::unique_ptr<TrainingProcess> process;
    std::vector<std::uint32_t> up;  // slots of its running attempts
    bool running = false;           // all of them are up
    std::uint32_t version = 0;      // of what is planned for it
    std::uint32_t index = 0;        // in trainings_
  };
  struct Job {
    std::optional<TaskTruth> truth;
    std::unique_ptr<Training> training;
    Task first;                // most jobs have one task
    std::vector<Task> others;  // those ever ordered, from the second on
    Task& task(std::uint32_t index) {
      if (index == 0) return first;
      if (index > others.size()) others.resize(index);
      return others[index - 1];
    }
    const Task* find(std::uint32_t index) const {
      if (index == 0) return &first;
      return index > others.size() ? nullptr : &others[index - 1];
    }
  };
  enum class NodeState : std::uint8_t { kUp, kOff, kCut };
  struct Node {
    NodeSpec spec;
    NodeState state = NodeState::kUp;
    std::uint32_t version = 0;  // as above
    Duration boot_time{};
    bool boots = false;  // it is off, and its boot is under way
  };
  enum class StepKind : std::uint8_t {
    kBegin,
    kFinish,
    kLoseShim,
    kNoticeShimLoss,
    kClean,
    kReport,
    kNodeFault,
    kNoticeNodeLoss,
    kReturnNode,
    kTrain,
    kReportTraining,
    kBoot,
    kFailBoot,
  };
  struct Step {
    StepKind kind;
    std::uint32_t index;  // of an attempt, a node, a report or a training job
    std::uint32_t version;
  };
  void perform(const Step& step);
  void begin(std::uint32_t slot);
  void fail_launch(std::uint32_t slot, std::string message, LaunchFault fault);
  void finish(std::uint32_t slot);
  void clean(std::uint32_t slot);
  void drop(std::uint32_t slot);
  void notice_node_loss(std::uint32_t node);
  void reach_again(std::uint32_t node);
  void drop_all_on(std::uint32_t node);
  void tell_phase(const Attempt& attempt);
  void save_progress(const Attempt& attempt);
  void plan_end(std::uint32_t slot, Instant at, ExitStatus status);
  void plan_node_fault();
  void join_gang(Training& training, std::uint32_t slot);
  void leave_gang(Training& training, std::uint32_t slot);
  void train(Training& training);
  void plan_training(Training& training);
  // From within advance(); `node` is where the report comes from.
  void report(Event event, std::uint32_t node);
  // From anywhere: after the delay.
  void report_after(Duration delay, Event event);
  // Its slot, or kNoSlot when it is not there.
  std::uint32_t find(TaskId task, std::uint32_t attempt);
  bool faulty() const;

  SimulatedClusterOptions options_;
  const VirtualClock& clock_;
  std::unique_ptr<FaultPlan> faults_;
  RandomStream boot_times_;
  EventSink sink_;
  std::uint32_t sink_version_ = 0;
  std::uint64_t reports_ = 0;

  std::vector<Node> nodes_;
  std::unordered_map<std::string, std::uint32_t> node_index_;
  IdMap<JobId, Job> jobs_;
  std::vector<Training*> trainings_;  // in the order in which they were set

  std::vector<Attempt> attempts_;
  std::vector<std::uint32_t> free_attempts_;
  // Attempts that are still there beside a newer one of their task.
  std::map<std::pair<TaskId, std::uint32_t>, std::uint32_t> older_;

  EventQueue<Step> steps_;
  std::vector<Event> outbox_;  // reports that a step will give
  std::vector<std::uint32_t> free_outbox_;
  std::optional<NodeFault> node_fault_;  // planned next
};

}  // namespace gridfold
