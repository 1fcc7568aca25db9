// A grid driven by a scenario's commands: control loop, engine, memory store
// and simulated cluster, on a virtual clock. Says in text what happens.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/control_loop.h"
#include "simulator/simulated_cluster.h"
#include "stores/memory/memory_store.h"

namespace gridfold {

class World {
 public:
  struct Options {
    std::string policy = "best_fit";
    std::uint64_t seed = 0;
    TieBreak tie_break = TieBreak::kLowestName;
    Consolidate consolidate = Consolidate::kOff;
    Duration gang_repair{};
    BackfillMode backfill = BackfillMode::kNone;
    // When it begins; times are said as such where it is given, else as seconds.
    std::optional<Instant> begin;
  };
  explicit World(Options options);
  ~World();

  // --- What a scenario can do; each answers what it printed ---
  void add_node(NodeSpec node);
  // Before the first job part of what the grid begins with, later a change of the
  // configuration while all goes on; so are those that follow it.
  std::string put_queue(QueueSpec queue);
  std::string remove_queue(const std::string& name);
  void add_window(WindowRule rule) { windows_.push_back(std::move(rule)); }
  void add_pool(NodePool pool) { pools_.push_back(std::move(pool)); }
  // The next boots, each: "boots", "fails" or "hangs".
  void fail_boots(std::vector<BootFate> fates);
  // Submitted at the times of the rule; they run so.
  void schedule(ScheduledJobs jobs, TaskTruth truth);
  void add_level(LevelLinks level) { levels_.push_back(std::move(level)); }
  // Jobs submitted together are one atomic batch.
  std::string submit(std::vector<JobSpec> jobs, const std::vector<TaskTruth>& truths);
  std::string request(Event event);
  std::string advance_to(Instant when);
  std::string restart();
  std::string lose(const std::string& node, Fencing fencing);
  std::string give_back(const std::string& node);
  // The next `count` launches fail, by the node's fault.
  void fail_launches(int count);
  // How long clearing up takes; before the first job.
  void set_clean_time(Duration latency) { latencies_.clean_latency = latency; }
  // And starting.
  void set_start_time(Duration latency) { latencies_.start_latency = latency; }

  // "A  running  n1 n2" a job, in order of submission; what is pending with
  // its deciding reason.
  std::string status();
  // Every reason of a job that waits; why the tasks of one that was started lie
  // where they do.
  std::string explain(const std::string& job);
  // On how many nodes which limit keeps a waiting job's tasks off.
  std::string limits(const std::string& job);
  std::string nodes();
  // What the store keeps of what is scheduled.
  std::string schedules();

  Instant now() const { return clock_.now(); }
  JobId job(const std::string& name) const { return ids_.at(name); }
  // States of all jobs, for comparing runs of different seeds.
  std::map<std::string, int> census();
  // "1000 pending: …" by state and by the reasons of those that wait, their place
  // in the queue aside: for more jobs than one wants to read line by line.
  std::string census_text();

 private:
  void open();
  std::string reconfigure();
  void pump();
  void note_scheduled(JobId id);
  std::string take_output();
  std::string describe(Instant at, const Decision& decision) const;
  std::string name_of(JobId id) const;
  std::string reason_text(const Reason& reason) const;
  std::string place_text(const TaskRecord& task) const;
  std::string why_text(const JobRecord& job) const;

  Options options_;
  VirtualClock clock_;
  MemoryStore store_;
  InlineExecutor executor_;
  std::vector<NodeSpec> node_specs_;
  std::vector<QueueSpec> queue_specs_;
  std::vector<LevelLinks> levels_;
  std::vector<WindowRule> windows_;
  std::vector<NodePool> pools_;
  std::vector<ScheduledJobs> scheduled_;
  std::map<std::string, TaskTruth> scheduled_truths_;  // by the job's name
  SimulatedClusterOptions latencies_;
  class ScriptedFaults;
  ScriptedFaults* faults_ = nullptr;  // owned by the cluster
  std::unique_ptr<SimulatedCluster> cluster_;
  std::unique_ptr<ControlLoop> loop_;
  RandomStream uuids_;
  Instant due_{};
  std::string errors_;
  std::vector<std::pair<Instant, Decision>> noted_;  // not yet printed
  std::map<std::string, JobId> ids_;
  std::map<JobId, std::string> names_;
  std::map<std::string, std::string> uids_;  // by uid: name
};

}  // namespace gridfold
