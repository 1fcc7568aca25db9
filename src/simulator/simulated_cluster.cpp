#include "simulator/simulated_cluster.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <csignal>

namespace gridfold {
namespace {

std::int32_t signal_number(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, int>, 7> kSignals = {{{"TERM", SIGTERM},
                                                                                {"INT", SIGINT},
                                                                                {"HUP", SIGHUP},
                                                                                {"USR1", SIGUSR1},
                                                                                {"USR2", SIGUSR2},
                                                                                {"QUIT", SIGQUIT},
                                                                                {"KILL", SIGKILL}}};
  for (const auto& [known, number] : kSignals) {
    if (known == name) return number;
  }
  return SIGTERM;  // whatever was sent, the task ended by it
}

ExitStatus by_signal(std::int32_t signal) {
  ExitStatus status;
  status.signal = signal;
  return status;
}

ExitStatus lost() {
  ExitStatus status;
  status.lost = true;
  return status;
}

}  // namespace

SimulatedCluster::SimulatedCluster(std::vector<NodeSpec> nodes, SimulatedClusterOptions options,
                                   const VirtualClock& clock, std::unique_ptr<FaultPlan> faults)
    : options_(std::move(options)),
      clock_(clock),
      faults_(std::move(faults)),
      boot_times_(options_.seed, "cluster.boot_times") {
  nodes_.reserve(nodes.size());
  const auto add = [&](NodeSpec spec) -> Node& {
    const bool distinct =
        node_index_.emplace(spec.name, static_cast<std::uint32_t>(nodes_.size())).second;
    assert(distinct);
    static_cast<void>(distinct);
    return nodes_.emplace_back(Node{std::move(spec)});
  };
  for (auto& spec : nodes) add(std::move(spec));
  for (const NodePool& pool : options_.pools) {
    for (std::int32_t i = 1; i <= pool.most; ++i) {
      Node& node = add(pool.node(i));
      node.state = NodeState::kOff;
      node.boot_time = pool.boot_time;
    }
  }
  plan_node_fault();
}

SimulatedCluster::~SimulatedCluster() = default;

void SimulatedCluster::set_truth(JobId job, TaskTruth truth) { jobs_[job].truth = truth; }

void SimulatedCluster::set_training(JobId job, std::unique_ptr<TrainingProcess> process) {
  std::unique_ptr<Training>& training = jobs_[job].training;
  assert(!training);
  training = std::make_unique<Training>();
  training->process = std::move(process);
  training->index = static_cast<std::uint32_t>(trainings_.size());
  trainings_.push_back(training.get());
}

const TrainingProcess* SimulatedCluster::training(JobId job) const {
  const Job* known = jobs_.find(job);
  return known == nullptr || !known->training ? nullptr : known->training->process.get();
}

void SimulatedCluster::report_training() {
  steps_.push(clock_.now(), {StepKind::kReportTraining, 0, 0});
}

Instant SimulatedCluster::next_event() const { return steps_.next(); }

void SimulatedCluster::advance() {
  while (!steps_.empty() && steps_.next() <= clock_.now()) perform(steps_.pop());
}

Result<void> SimulatedCluster::open(EventSink sink) {
  sink_ = std::move(sink);
  ++sink_version_;
  for (const auto& node : nodes_) {
    if (node.state == NodeState::kUp) report_after({}, NodeJoined{node.spec});
  }
  return {};
}

void SimulatedCluster::launch(const LaunchOrder& order) {
  if (find(order.task, order.attempt) != kNoSlot) return;
  const auto node = node_index_.find(order.node);
  if (node == node_index_.end()) {
    report_after(options_.start_latency,
                 LaunchFailed{order.task, order.attempt, "there is no node " + order.node,
                              LaunchFault::kNode});
    return;
  }
  if (nodes_[node->second].state != NodeState::kUp) return;  // the order does not get there
  Task& task = jobs_[order.task.job].task(order.task.index);
  if (order.attempt < task.newest) return;  // an order of an older epoch
  std::uint32_t slot = static_cast<std::uint32_t>(attempts_.size());
  if (free_attempts_.empty()) {
    attempts_.emplace_back();
  } else {
    slot = free_attempts_.back();
    free_attempts_.pop_back();
  }
  Attempt& attempt = attempts_[slot];
  const std::uint32_t version = attempt.version + 1;
  attempt = {};
  attempt.seen.task = order.task;
  attempt.seen.attempt = order.attempt;
  attempt.seen.node = order.node;
  attempt.seen.phase = ObservedTask::Phase::kStarting;
  attempt.node = node->second;
  attempt.devices = order.devices;
  attempt.start = order.start;
  attempt.spec = order.spec;
  attempt.rank = order.rank;
  attempt.world_size = order.world_size;
  attempt.version = version;
  if (faulty()) attempt.fault = faults_->launch_fault();
  attempt.there = true;
  if (task.slot != kNoSlot) older_.emplace(std::pair(order.task, task.newest), task.slot);
  task.newest = order.attempt;
  task.slot = slot;
  steps_.push(clock_.now() + options_.start_latency, {StepKind::kBegin, slot, version});
}

void SimulatedCluster::stop(const StopOrder& order) {
  const std::uint32_t slot = find(order.task, order.attempt);
  if (slot == kNoSlot) return;
  Attempt& attempt = attempts_[slot];
  if (nodes_[attempt.node].state != NodeState::kUp) return;  // the order does not get there
  const auto phase = attempt.seen.phase;
  if (phase == ObservedTask::Phase::kStarting) {
    plan_end(slot, clock_.now(), by_signal(signal_number(order.signal)));
  } else if (phase == ObservedTask::Phase::kRunning) {
    const auto& truth = jobs_[order.task.job].truth;
    const Duration needs = truth ? truth->stop_time : Duration{};
    const bool in_time = !attempt.signalled && needs <= order.grace;
    const Instant at = clock_.now() + (in_time ? needs : order.grace);
    attempt.signalled = true;
    if (at < attempt.ends) {
      plan_end(slot, at, by_signal(in_time ? signal_number(order.signal) : SIGKILL));
    }
  }
}

void SimulatedCluster::forget(TaskId task, std::uint32_t attempt) {
  const std::uint32_t slot = find(task, attempt);
  if (slot == kNoSlot) return;
  const auto phase = attempts_[slot].seen.phase;
  if (phase == ObservedTask::Phase::kCleaned || phase == ObservedTask::Phase::kLaunchFailed) {
    drop(slot);
  }
}

void SimulatedCluster::boot(const NodeSpec& spec) {
  const auto found = node_index_.find(spec.name);
  if (found == node_index_.end()) return;
  Node& node = nodes_[found->second];
  if (node.state != NodeState::kOff || node.boots) return;
  node.boots = true;
  ++node.version;
  const BootFate fate = faulty() ? faults_->boot_fate() : BootFate::kBoots;
  if (fate == BootFate::kHangs) return;
  const Duration more{boot_times_.between(0, options_.boot_spread.ns)};
  steps_.push(clock_.now() + node.boot_time + more,
              {fate == BootFate::kBoots ? StepKind::kBoot : StepKind::kFailBoot, found->second,
               node.version});
}

void SimulatedCluster::release(const std::string& name) {
  const auto found = node_index_.find(name);
  if (found == node_index_.end()) return;
  Node& node = nodes_[found->second];
  ++node.version;
  node.boots = false;
  if (node.state != NodeState::kOff) drop_all_on(found->second);
  node.state = NodeState::kOff;
  report_after({}, NodeLost{name, Fencing::kFenced});
}

Result<Observation> SimulatedCluster::observe() {
  Observation observation;
  for (const auto& node : nodes_) {
    if (node.state == NodeState::kUp) observation.nodes.push_back(node.spec);
    if (node.state == NodeState::kOff) observation.fenced.push_back(node.spec.name);
  }
  for (auto& presence : presences()) {
    if (nodes_[node_index_.at(presence.task.node)].state == NodeState::kUp) {
      observation.tasks.push_back(std::move(presence.task));
    }
  }
  return observation;
}

Result<LogChunk> SimulatedCluster::read_log(std::string_view job_uid, TaskId, std::uint32_t,
                                            LogStream, std::uint64_t, std::size_t) {
  return not_found("job " + std::string(job_uid) + " runs in a simulation and writes no output");
}

Duration SimulatedCluster::saved_work(TaskId id) const {
  const Job* job = jobs_.find(id.job);
  const Task* task = job == nullptr ? nullptr : job->find(id.index);
  return task == nullptr ? Duration{} : task->saved;
}

std::vector<SimulatedCluster::Presence> SimulatedCluster::presences() const {
  std::vector<Presence> all;
  for (const Attempt& attempt : attempts_) {
    if (attempt.there) all.push_back({attempt.seen, attempt.devices, attempt.start, attempt.spec});
  }
  std::sort(all.begin(), all.end(), [](const Presence& a, const Presence& b) {
    return std::pair(a.task.task, a.task.attempt) < std::pair(b.task.task, b.task.attempt);
  });
  return all;
}

bool SimulatedCluster::lose_node(std::string_view name, Fencing fencing) {
  const auto found = node_index_.find(std::string(name));
  if (found == node_index_.end() || nodes_[found->second].state != NodeState::kUp) return false;
  const std::uint32_t index = found->second;
  Node& node = nodes_[index];
  node.state = fencing == Fencing::kFenced ? NodeState::kOff : NodeState::kCut;
  ++node.version;
  if (fencing == Fencing::kFenced) {
    drop_all_on(index);
  }
  steps_.push(clock_.now() + options_.loss_detection,
              {StepKind::kNoticeNodeLoss, index, node.version});
  return true;
}

// Power is off: whatever was there is gone, without a word.
void SimulatedCluster::drop_all_on(std::uint32_t node) {
  for (std::uint32_t slot = 0; slot < attempts_.size(); ++slot) {
    if (attempts_[slot].there && attempts_[slot].node == node) drop(slot);
  }
}

bool SimulatedCluster::return_node(std::string_view name) {
  const auto found = node_index_.find(std::string(name));
  if (found == node_index_.end() || nodes_[found->second].state == NodeState::kUp) return false;
  steps_.push(clock_.now(), {StepKind::kReturnNode, found->second, nodes_[found->second].version});
  return true;
}

void SimulatedCluster::perform(const Step& step) {
  switch (step.kind) {
    case StepKind::kReport: {
      Event event = std::move(outbox_[step.index]);
      free_outbox_.push_back(step.index);
      if (step.version != sink_version_) return;
      ++reports_;
      sink_(std::move(event));
      return;
    }
    case StepKind::kNodeFault: {
      const NodeFault fault = *node_fault_;
      const std::string name = nodes_[fault.node].spec.name;
      if (lose_node(name, fault.fencing)) {
        // A node that is off stays away until that was noticed.
        const Duration away = std::max(fault.outage, options_.loss_detection + Duration{1});
        steps_.push(clock_.now() + away,
                    {StepKind::kReturnNode, static_cast<std::uint32_t>(fault.node),
                     nodes_[fault.node].version});
      }
      return plan_node_fault();
    }
    case StepKind::kNoticeNodeLoss:
      if (nodes_[step.index].version == step.version) notice_node_loss(step.index);
      return;
    case StepKind::kFailBoot:
      if (nodes_[step.index].version == step.version) {
        nodes_[step.index].boots = false;
        report_after({}, NodeBootFailed{nodes_[step.index].spec.name, "it did not come up"});
      }
      return;
    case StepKind::kBoot:
    case StepKind::kReturnNode:
      if (nodes_[step.index].version == step.version) reach_again(step.index);
      return;
    case StepKind::kBegin:
      if (attempts_[step.index].version == step.version) begin(step.index);
      return;
    case StepKind::kFinish:
      if (attempts_[step.index].version == step.version) finish(step.index);
      return;
    case StepKind::kLoseShim:
      if (attempts_[step.index].version == step.version) {
        // The process is gone now; that is noticed later.
        Attempt& attempt = attempts_[step.index];
        if (const auto& training = jobs_[attempt.seen.task.job].training)
          leave_gang(*training, step.index);
        attempt.seen.status = lost();
        attempt.ends = clock_.now();
        ++attempt.version;
        steps_.push(clock_.now() + options_.loss_detection,
                    {StepKind::kNoticeShimLoss, step.index, attempt.version});
      }
      return;
    case StepKind::kNoticeShimLoss:
      if (attempts_[step.index].version == step.version) finish(step.index);
      return;
    case StepKind::kTrain:
      if (trainings_[step.index]->version == step.version) train(*trainings_[step.index]);
      return;
    case StepKind::kReportTraining:
      for (Training* training : trainings_) {
        if (training->running) train(*training);
      }
      return;
    case StepKind::kClean:
      if (attempts_[step.index].version == step.version) clean(step.index);
      return;
  }
}

void SimulatedCluster::begin(std::uint32_t slot) {
  Attempt& attempt = attempts_[slot];
  const TaskId task = attempt.seen.task;
  Job& job = jobs_[task.job];
  const auto& truth = job.truth;
  if (attempt.fault) return fail_launch(slot, "injected fault", *attempt.fault);
  if (!truth && !job.training) {
    return fail_launch(slot, "the simulation knows no duration for this job", LaunchFault::kJob);
  }
  if (truth && !truth->startable) return fail_launch(slot, "no such program", LaunchFault::kJob);
  attempt.seen.phase = ObservedTask::Phase::kRunning;
  attempt.begun = clock_.now();
  if (job.task(task.index).runs++ > 0 && truth) attempt.restarting = truth->restart_time;
  if (truth && !job.training && !truth->duration.is_unlimited()) {
    ExitStatus status;
    status.code = truth->exit_code;
    const Task& known = job.task(task.index);
    plan_end(slot, clock_.now() + attempt.restarting + (truth->duration.bound() - known.saved),
             status);
  }
  if (faulty()) {
    const auto life = faults_->shim_loss();
    if (life && clock_.now() + *life < attempt.ends) {
      steps_.push(clock_.now() + *life, {StepKind::kLoseShim, slot, attempt.version});
    }
  }
  report(TaskStarted{task, attempt.seen.attempt}, attempt.node);
  if (job.training) join_gang(*job.training, slot);
}

void SimulatedCluster::fail_launch(std::uint32_t slot, std::string message, LaunchFault fault) {
  Attempt& attempt = attempts_[slot];
  attempt.seen.phase = ObservedTask::Phase::kLaunchFailed;
  attempt.seen.launch_message = message;
  attempt.seen.launch_fault = fault;
  ++attempt.version;
  report(LaunchFailed{attempt.seen.task, attempt.seen.attempt, std::move(message), fault},
         attempt.node);
}

void SimulatedCluster::plan_end(std::uint32_t slot, Instant at, ExitStatus status) {
  Attempt& attempt = attempts_[slot];
  attempt.ends = at;
  attempt.seen.status = status;
  ++attempt.version;
  steps_.push(at, {StepKind::kFinish, slot, attempt.version});
}

void SimulatedCluster::finish(std::uint32_t slot) {
  Attempt& attempt = attempts_[slot];
  if (attempt.seen.phase == ObservedTask::Phase::kRunning) {
    if (const auto& training = jobs_[attempt.seen.task.job].training) {
      leave_gang(*training, slot);
    } else {
      save_progress(attempt);
    }
  }
  attempt.seen.phase = ObservedTask::Phase::kExited;
  ++attempt.version;
  const std::uint32_t version = attempt.version;
  report(TaskExited{attempt.seen.task, attempt.seen.attempt, attempt.seen.status}, attempt.node);
  if (options_.clean_latency > Duration{}) {
    steps_.push(clock_.now() + options_.clean_latency, {StepKind::kClean, slot, version});
  } else {
    clean(slot);
  }
}

// Work is kept by a job that says it checkpoints: all of it when it was asked
// to stop and had the time, else up to its last checkpoint.
void SimulatedCluster::save_progress(const Attempt& attempt) {
  const ExitStatus& status = attempt.seen.status;
  if (status.ok() || !attempt.spec || !attempt.spec->checkpoint) return;
  Duration kept = attempt.ends - attempt.begun;
  if (kept <= attempt.restarting) return;
  kept = kept - attempt.restarting;
  if (status.lost || status.signal == SIGKILL || status.code != 0) {
    const auto& interval = attempt.spec->checkpoint->interval;
    if (!interval.is_known() || interval.value() <= Duration{}) return;
    kept = Duration{kept.ns - kept.ns % interval.value().ns};
  }
  Duration& saved = jobs_[attempt.seen.task.job].task(attempt.seen.task.index).saved;
  saved = saved + kept;
}

void SimulatedCluster::clean(std::uint32_t slot) {
  Attempt& attempt = attempts_[slot];
  attempt.seen.phase = ObservedTask::Phase::kCleaned;
  if (faulty()) attempt.seen.dirty_devices = faults_->dirty_devices(attempt.devices);
  report(TaskCleaned{attempt.seen.task, attempt.seen.attempt, attempt.seen.dirty_devices},
         attempt.node);
}

void SimulatedCluster::drop(std::uint32_t slot) {
  Attempt& attempt = attempts_[slot];
  const TaskId id = attempt.seen.task;
  Task& task = jobs_[id.job].task(id.index);
  if (task.slot == slot) {
    task.slot = kNoSlot;
  } else {
    older_.erase({id, attempt.seen.attempt});
  }
  attempt.there = false;
  ++attempt.version;
  attempt.spec.reset();
  if (attempt.seen.phase == ObservedTask::Phase::kRunning) {  // gone with its node
    if (const auto& training = jobs_[id.job].training) leave_gang(*training, slot);
  }
  free_attempts_.push_back(slot);
}

// --- Training jobs ---

void SimulatedCluster::join_gang(Training& training, std::uint32_t slot) {
  training.up.push_back(slot);
  if (training.up.size() < attempts_[slot].world_size) return;
  std::sort(training.up.begin(), training.up.end(), [this](std::uint32_t a, std::uint32_t b) {
    return attempts_[a].rank < attempts_[b].rank;
  });
  std::vector<TrainingPlace> places;
  const Attempt* before = nullptr;
  for (const std::uint32_t member : training.up) {
    const Attempt& attempt = attempts_[member];
    if (before == nullptr || before->node != attempt.node) {
      TrainingPlace& place = places.emplace_back();
      if (attempt.devices != 0) {
        const auto first = static_cast<std::size_t>(std::countr_zero(attempt.devices));
        place.device_model = nodes_[attempt.node].spec.devices[first].model;
      }
    }
    ++places.back().tasks;
    before = &attempt;
  }
  training.process->start(clock_.now(), places);
  training.running = true;
  plan_training(training);
}

void SimulatedCluster::leave_gang(Training& training, std::uint32_t slot) {
  std::erase(training.up, slot);
  if (!training.running) return;
  training.running = false;
  ++training.version;
  training.process->advance(clock_.now());
  training.process->stop(clock_.now());
}

// On to this time, and what it has to tell there.
void SimulatedCluster::train(Training& training) {
  training.process->advance(clock_.now());
  const Attempt& first = attempts_[training.up.front()];
  if (auto history = training.process->report()) {
    TaskReport report_of_job;
    report_of_job.training = std::make_shared<const TrainingHistory>(std::move(*history));
    report(TaskReported{first.seen.task, first.seen.attempt, std::move(report_of_job)}, first.node);
  }
  if (!training.process->finished()) return plan_training(training);
  training.running = false;
  ++training.version;
  for (const std::uint32_t slot : training.up) plan_end(slot, clock_.now(), ExitStatus{});
}

void SimulatedCluster::plan_training(Training& training) {
  ++training.version;
  const Instant next = training.process->next_event();
  if (!next.is_never()) steps_.push(next, {StepKind::kTrain, training.index, training.version});
}

void SimulatedCluster::notice_node_loss(std::uint32_t index) {
  const Node& node = nodes_[index];
  const Fencing fencing = node.state == NodeState::kOff ? Fencing::kFenced : Fencing::kUnfenced;
  report_after({}, NodeLost{node.spec.name, fencing});
}

// The node says that it is there, and what has become of its tasks meanwhile.
void SimulatedCluster::reach_again(std::uint32_t index) {
  Node& node = nodes_[index];
  node.state = NodeState::kUp;
  node.boots = false;
  ++node.version;
  report(NodeJoined{node.spec}, index);
  for (const auto& presence : presences()) {
    const std::uint32_t slot = find(presence.task.task, presence.task.attempt);
    if (slot != kNoSlot && attempts_[slot].node == index) tell_phase(attempts_[slot]);
  }
}

void SimulatedCluster::tell_phase(const Attempt& attempt) {
  const auto& seen = attempt.seen;
  if (seen.phase == ObservedTask::Phase::kStarting) return;
  if (seen.phase == ObservedTask::Phase::kLaunchFailed) {
    return report(LaunchFailed{seen.task, seen.attempt, seen.launch_message, seen.launch_fault},
                  attempt.node);
  }
  report(TaskStarted{seen.task, seen.attempt}, attempt.node);
  if (seen.phase == ObservedTask::Phase::kRunning) return;
  report(TaskExited{seen.task, seen.attempt, seen.status}, attempt.node);
  if (seen.phase == ObservedTask::Phase::kExited) return;
  report(TaskCleaned{seen.task, seen.attempt, seen.dirty_devices}, attempt.node);
}

void SimulatedCluster::plan_node_fault() {
  if (!faults_) return;
  node_fault_ = faults_->next_node_fault(clock_.now(), nodes_.size());
  if (node_fault_) steps_.push(node_fault_->at, {StepKind::kNodeFault, 0, 0});
}

void SimulatedCluster::report(Event event, std::uint32_t node) {
  if (nodes_[node].state != NodeState::kUp) return;
  if (!faulty()) {
    ++reports_;
    sink_(std::move(event));
    return;
  }
  const ReportFate fate = faults_->report_fate();
  if (fate.again) report_after(fate.delay + *fate.again, event);
  if (!fate.dropped) report_after(fate.delay, std::move(event));
}

void SimulatedCluster::report_after(Duration delay, Event event) {
  std::uint32_t index = static_cast<std::uint32_t>(outbox_.size());
  if (free_outbox_.empty()) {
    outbox_.push_back(std::move(event));
  } else {
    index = free_outbox_.back();
    free_outbox_.pop_back();
    outbox_[index] = std::move(event);
  }
  steps_.push(clock_.now() + delay, {StepKind::kReport, index, sink_version_});
}

std::uint32_t SimulatedCluster::find(TaskId id, std::uint32_t attempt) {
  const Job* job = jobs_.find(id.job);
  const Task* task = job == nullptr ? nullptr : job->find(id.index);
  if (task == nullptr) return kNoSlot;
  if (task->newest == attempt) return task->slot;
  const auto older = older_.find({id, attempt});
  return older == older_.end() ? kNoSlot : older->second;
}

bool SimulatedCluster::faulty() const { return faults_ && faults_->active(clock_.now()); }

}  // namespace gridfold
