#include "tests/scenarios/world.h"

#include <algorithm>
#include <cstdlib>

#include "policies/registry.h"

namespace gridfold {
namespace {

constexpr Duration kReconcileInterval = Duration::seconds(30);

std::string seconds(Instant at) {
  const std::int64_t ms = at.ns / 1'000'000;
  std::string text = "@" + std::to_string(ms / 1000);
  if (ms % 1000 != 0) text += "." + std::to_string(1000 + ms % 1000).substr(1);
  return text;
}

// "0-3,6"
std::string mask_text(std::uint64_t mask) {
  std::string text;
  for (int i = 0; i < 64; ++i) {
    if (!(mask >> i & 1)) continue;
    int end = i;
    while (end + 1 < 64 && (mask >> (end + 1) & 1)) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(i);
    if (end > i) text += "-" + std::to_string(end);
    i = end;
  }
  return text;
}

}  // namespace

// Only what a scenario orders goes wrong.
class World::ScriptedFaults : public FaultPlan {
 public:
  bool active(Instant) const override { return true; }
  ReportFate report_fate() override { return {}; }
  std::optional<LaunchFault> launch_fault() override {
    if (launches_to_fail == 0) return std::nullopt;
    --launches_to_fail;
    return LaunchFault::kNode;
  }
  std::optional<Duration> shim_loss() override { return std::nullopt; }
  std::uint64_t dirty_devices(std::uint64_t) override { return 0; }
  std::optional<NodeFault> next_node_fault(Instant, std::size_t) override { return std::nullopt; }

  BootFate boot_fate() override {
    if (boots.empty()) return BootFate::kBoots;
    const BootFate fate = boots.front();
    boots.erase(boots.begin());
    return fate;
  }

  int launches_to_fail = 0;
  std::vector<BootFate> boots;  // the next ones
};

void World::fail_boots(std::vector<BootFate> fates) {
  if (!loop_) open();
  faults_->boots = std::move(fates);
}

void World::fail_launches(int count) {
  if (!loop_) open();
  faults_->launches_to_fail = count;
}

World::World(Options options)
    : options_(std::move(options)),
      clock_(options_.begin.value_or(Instant{})),
      uuids_(options_.seed, "world.uuid") {}
World::~World() = default;

void World::add_node(NodeSpec node) { node_specs_.push_back(std::move(node)); }
std::string World::put_queue(QueueSpec queue) {
  const auto known = std::find_if(queue_specs_.begin(), queue_specs_.end(),
                                  [&](const QueueSpec& other) { return other.name == queue.name; });
  if (known != queue_specs_.end())
    *known = std::move(queue);
  else
    queue_specs_.push_back(std::move(queue));
  return reconfigure();
}

std::string World::remove_queue(const std::string& name) {
  std::erase_if(queue_specs_, [&](const QueueSpec& queue) { return queue.name == name; });
  return reconfigure();
}

std::string World::reconfigure() {
  if (!loop_) return "";
  loop_->reconfigure({queue_specs_, {}, {}}, kReconcileInterval, [](Result<void>) {});
  pump();
  return take_output();
}

void World::open() {
  if (!cluster_) {
    auto faults = std::make_unique<ScriptedFaults>();
    faults_ = faults.get();
    latencies_.pools = pools_;
    cluster_ =
        std::make_unique<SimulatedCluster>(node_specs_, latencies_, clock_, std::move(faults));
  }
  EngineOptions engine;
  engine.seed = options_.seed;
  engine.tie_break = options_.tie_break;
  engine.verify = Verify::kEveryStep;
  engine.fabric = levels_;
  engine.consolidation.consolidate = options_.consolidate;
  engine.gang_repair = options_.gang_repair;
  engine.backfill.mode = options_.backfill;
  ControlOptions control;
  control.reconcile_interval = kReconcileInterval;
  control.random_bits = [this] { return uuids_.next(); };
  control.scheduled = JobCalendar(scheduled_);
  control.on_committed = [this](Instant at, const Decisions& decisions) {
    for (const JobId id : decisions.new_jobs) note_scheduled(id);
    for (const Decision& decision : decisions.list) noted_.emplace_back(at, decision);
  };
  control.windows = WindowCalendar(windows_);
  control.pools = pools_;
  control.queues.queues = queue_specs_;
  if (control.queues.queues.empty()) control.queues.queues.push_back(QueueSpec{});
  auto policy = make_policy(options_.policy, {});
  if (!policy) std::abort();
  loop_ = std::make_unique<ControlLoop>(std::move(control), Engine(engine, std::move(*policy)),
                                        store_, *cluster_, executor_, clock_);
  const auto started = loop_->start([this](Event event) { loop_->post(std::move(event)); });
  if (!started) errors_ += "error: " + started.error().describe() + "\n";
  pump();
}

void World::schedule(ScheduledJobs jobs, TaskTruth truth) {
  for (const JobSpec& job : jobs.jobs) scheduled_truths_[job.name] = truth;
  scheduled_.push_back(std::move(jobs));
}

void World::note_scheduled(JobId id) {
  const JobRecord* job = loop_->engine().job(id);
  if (job == nullptr) return;
  const auto truth = scheduled_truths_.find(job->spec->name);
  if (truth == scheduled_truths_.end()) return;
  ids_[job->spec->name] = id;
  names_[id] = job->spec->name;
  uids_[job->uid] = job->spec->name;
  cluster_->set_truth(id, truth->second);
}

std::string World::schedules() {
  std::string text;
  const auto snapshot = store_.load("live/schedule/");
  for (const KeyValue& entry : snapshot.value().entries)
    text += entry.key + " " + entry.value + "\n";
  return text;
}

// Lets everything happen that is due now.
void World::pump() {
  for (int quiet = 0; quiet < 2;) {
    const std::uint64_t before = cluster_->reports();
    cluster_->advance();
    due_ = loop_->turn();
    const bool idle = cluster_->reports() == before && cluster_->next_event() > clock_.now();
    quiet = idle ? quiet + 1 : 0;
  }
}

std::string World::submit(std::vector<JobSpec> jobs, const std::vector<TaskTruth>& truths) {
  if (!loop_) open();
  SubmitRequest batch;
  batch.tenant = jobs.front().tenant;
  for (JobSpec& job : jobs) batch.jobs.emplace_back(std::move(job));
  loop_->submit(std::move(batch), [&](Result<SubmitAnswer> answer) {
    if (!answer) {
      errors_ += "error: " + answer.error().describe() + "\n";
      return;
    }
    for (std::size_t i = 0; i < answer->jobs.size(); ++i) {
      const SubmittedJob& job = answer->jobs[i];
      ids_[job.name] = job.id;
      names_[job.id] = job.name;
      uids_[job.uid] = job.name;
      cluster_->set_truth(job.id, truths[i]);
    }
  });
  pump();
  return take_output();
}

std::string World::request(Event event) {
  if (!loop_) open();
  loop_->request(std::move(event), [&](Result<void> answer) {
    if (!answer) errors_ += "error: " + answer.error().describe() + "\n";
  });
  pump();
  return take_output();
}

std::string World::advance_to(Instant when) {
  if (!loop_) open();
  while (true) {
    const Instant next = std::min(cluster_->next_event(), due_);
    if (next > when) break;
    clock_.advance_to(std::max(next, clock_.now()));
    pump();
  }
  clock_.advance_to(when);
  pump();
  return take_output();
}

// The daemon dies; the next one finds the store and the cluster as they are.
std::string World::restart() {
  loop_.reset();
  open();
  return take_output();
}

std::string World::lose(const std::string& node, Fencing fencing) {
  if (!loop_) open();
  if (!cluster_->lose_node(node, fencing)) errors_ += "error: " + node + " is not up\n";
  pump();
  return take_output();
}

std::string World::give_back(const std::string& node) {
  if (!cluster_->return_node(node)) errors_ += "error: " + node + " is not lost\n";
  pump();
  return take_output();
}

std::string World::name_of(JobId id) const {
  const auto it = names_.find(id);
  return it == names_.end() ? "#" + std::to_string(id.value) : it->second;
}

std::string World::reason_text(const Reason& reason) const {
  std::string text(to_string(reason.code));
  for (const auto& [name, value] : reason.params) {
    text += " " + name + "=";
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      text += std::to_string(*number);
      continue;
    }
    std::string word = std::get<std::string>(value);
    for (const auto& [uid, job] : uids_) {
      for (std::size_t at; (at = word.find(uid)) != std::string::npos;)
        word.replace(at, uid.size(), job);
    }
    text += word;
  }
  return text;
}

std::string World::place_text(const TaskRecord& task) const {
  if (task.allocation.node.is_none()) return "-";
  std::string text = loop_->engine().nodes()[task.allocation.node.value].spec.name;
  if (task.allocation.devices != 0) text += ":" + mask_text(task.allocation.devices);
  if (task.allocation.start != kNoPartition) text += "@" + std::to_string(task.allocation.start);
  return text;
}

std::string World::describe(Instant at, const Decision& decision) const {
  const auto task_text = [&](TaskId task) {
    return name_of(task.job) + "." + std::to_string(task.index);
  };
  std::string text = (options_.begin ? to_rfc3339(at) : seconds(at)) + " ";
  if (const auto* launch = std::get_if<LaunchTask>(&decision)) {
    TaskRecord task;
    task.allocation = launch->allocation;
    text += "launch " + task_text(launch->task) + " on " + place_text(task);
    if (launch->attempt > 1) text += " attempt " + std::to_string(launch->attempt);
  } else if (const auto* stop = std::get_if<StopTask>(&decision)) {
    text += "stop " + task_text(stop->task) + ": " + std::string(to_string(stop->cause));
  } else if (const auto* changed = std::get_if<JobChanged>(&decision)) {
    if (changed->from == changed->to) return "";
    text += name_of(changed->job) + " " + std::string(to_string(changed->to));
    if (changed->to != JobState::kStarting && changed->to != JobState::kRunning &&
        changed->to != JobState::kSucceeded)
      text += ": " + reason_text(changed->reason);
  } else if (const auto* preempted = std::get_if<Preempted>(&decision)) {
    text += name_of(preempted->job) + " takes the place of";
    for (const JobId victim : preempted->victims) text += " " + name_of(victim);
  } else if (const auto* drained = std::get_if<NodeDrained>(&decision)) {
    text += "drain " + loop_->engine().nodes()[drained->node.value].spec.name + ": " +
            reason_text(drained->reason);
  } else if (const auto* boot = std::get_if<BootNode>(&decision)) {
    text += "boot " + loop_->engine().nodes()[boot->node.value].spec.name;
    if (!boot->job.is_none()) text += " for " + name_of(boot->job);
  } else if (const auto* released = std::get_if<ReleaseNode>(&decision)) {
    text += "release " + loop_->engine().nodes()[released->node.value].spec.name +
            (released->cause == ReleaseCause::kIdle ? ": idle" : ": did not boot in time");
  }
  return text + "\n";
}

std::string World::take_output() {
  std::string text;
  for (const auto& [at, decision] : noted_) text += describe(at, decision);
  noted_.clear();
  return text + std::exchange(errors_, {});
}

std::string World::status() {
  std::string text;
  for (const auto& [id, name] : names_) {
    const JobRecord* live = loop_->find("default", std::to_string(id.value));
    std::optional<JobRecord> ended;
    if (live == nullptr) {
      if (auto found = loop_->find_ended("default", std::to_string(id.value)))
        ended = found->record;
    }
    const JobRecord* record = live != nullptr ? live : ended ? &*ended : nullptr;
    if (record == nullptr) continue;
    text += name + " " + std::string(to_string(record->state));
    if (record->state == JobState::kPending) {
      if (const auto reason = loop_->engine().main_reason(id)) text += ": " + reason_text(*reason);
    } else if (!is_terminal(record->state)) {
      text += ":";
      for (const TaskRecord& task : record->tasks) {
        text += " " + (holds_allocation(task.phase) ? place_text(task) : "-");
        if (task.phase == TaskPhase::kCleaning) text += "(cleaning)";
      }
    } else if (record->state != JobState::kSucceeded && record->reason) {
      text += ": " + reason_text(*record->reason);
    }
    if (record->evictions > 0) text += "  evictions=" + std::to_string(record->evictions);
    text += "\n";
  }
  return text;
}

std::string World::explain(const std::string& job) {
  std::string text;
  for (const Reason& reason : loop_->engine().explain(ids_.at(job)))
    text += reason_text(reason) + "\n";
  const std::string id = std::to_string(ids_.at(job).value);
  if (const JobRecord* live = loop_->find("default", id)) return text + why_text(*live);
  if (const auto ended = loop_->find_ended("default", id)) return text + why_text(ended->record);
  return text;
}

// "main of 12: drained=3 in_use(gpu)=9", a role a line.
std::string World::limits(const std::string& job) {
  std::string text;
  for (const RoleLimits& role : loop_->engine().limits(ids_.at(job))) {
    text += role.role + " of " + std::to_string(role.nodes) + ":";
    for (const LimitCount& count : role.counts) {
      text += " " + std::string(to_string(count.limit));
      if (!count.resource.empty()) text += "(" + count.resource;
      if (!count.wish.empty()) text += "," + count.wish;
      text += (count.resource.empty() ? "=" : ")=") + std::to_string(count.nodes);
    }
    text += "\n";
  }
  return text;
}

// "in z/r2: least_left 0 of 3, z/r1 5", then a task a line.
std::string World::why_text(const JobRecord& job) const {
  std::string text;
  if (job.communication) {
    const auto step = [](const StepEstimate& at) {
      return std::to_string(at.communication.ns / 1'000'000) + " of " +
             std::to_string(at.step.ns / 1'000'000) + " ms";
    };
    text += "communication " + step(job.communication->here) + ", bound by " +
            std::string(to_string(job.communication->slowest));
    if (job.communication->otherwise) text += ", else " + step(*job.communication->otherwise);
    text += "\n";
  } else if (job.spec->communication && job.runs > 0) {
    text += "communication not known\n";
  }
  const auto numbers = [](DecidedBy by, std::int64_t value, std::int32_t of) {
    return ": " + std::string(to_string(by)) + " " + std::to_string(value) + " of " +
           std::to_string(of);
  };
  if (job.why_domain) {
    const WhyDomain& why = *job.why_domain;
    text += "in " + why.domain + numbers(why.by, why.value, why.feasible_domains);
    if (!why.runner_up.empty())
      text += ", " + why.runner_up + " " + std::to_string(why.runner_up_value);
    text += "\n";
  }
  const auto nodes = loop_->engine().nodes();
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const TaskRecord& task = job.tasks[i];
    if (task.why.by == DecidedBy::kUnknown) continue;
    text += name_of(job.id) + "." + std::to_string(i) + " on " +
            nodes[task.allocation.node.value].spec.name;
    text += numbers(task.why.by, task.why.score, task.why.feasible_nodes);
    if (!task.why.runner_up.is_none())
      text += ", " + nodes[task.why.runner_up.value].spec.name + " " +
              std::to_string(task.why.runner_up_score);
    text += "\n";
  }
  return text;
}

std::string World::nodes() {
  std::string text;
  for (const NodeRecord& node : loop_->engine().nodes()) {
    text += node.spec.name + (node.up ? " up" : " down") + (node.drained ? " drained" : "");
    if (!node.pool.empty()) text += " " + std::string(to_string(node.power));
    if (node.reason) text += ": " + reason_text(*node.reason);
    text += "\n";
  }
  return text;
}

std::map<std::string, int> World::census() {
  std::map<std::string, int> states;
  for (const auto& [id, name] : names_) {
    const JobRecord* live = loop_->find("default", std::to_string(id.value));
    const auto ended = loop_->find_ended("default", std::to_string(id.value));
    if (live != nullptr) {
      ++states[std::string(to_string(live->state))];
    } else if (ended) {
      ++states[std::string(to_string(ended->record.state))];
    }
  }
  return states;
}

std::string World::census_text() {
  std::map<std::string, int> counts;
  for (const auto& [state, count] : census()) {
    if (state != to_string(JobState::kPending)) counts[state] = count;
  }
  for (const auto& [id, name] : names_) {
    const JobRecord* job = loop_->engine().job(id);
    if (job == nullptr || job->state != JobState::kPending) continue;
    std::string line = std::string(to_string(job->state)) + ":";
    const char* between = " ";
    for (const Reason& reason : loop_->engine().explain(id)) {
      if (reason.code != ReasonCode::kBehindInQueue)  // another for each
        line += std::exchange(between, "; ") + reason_text(reason);
    }
    ++counts[line];
  }
  std::string text;
  for (const auto& [line, count] : counts) text += std::to_string(count) + " " + line + "\n";
  return text;
}

}  // namespace gridfold
