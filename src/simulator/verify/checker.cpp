#include "simulator/verify/checker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "simulator/verify/recount.h"
#include "simulator/verify/topology_check.h"
#include "simulator/verify/window_check.h"

namespace gridfold::verify {
namespace {

std::string job_text(std::uint64_t id) { return "job " + std::to_string(id); }
std::string task_text(TaskId task, std::uint32_t attempt) {
  return job_text(task.job.value) + " task " + std::to_string(task.index) + " attempt " +
         std::to_string(attempt);
}

// Records one commit apart; several changes may lie between them.
bool may_follow(State before, State after) {
  if (ended(before)) return before == after;
  switch (after) {
    case State::kRunning: return before == State::kStarting || before == State::kRunning;
    case State::kSucceeded: return before == State::kStarting || before == State::kRunning;
    default: return true;
  }
}

// One change of state.
bool may_become(JobState from, JobState to) {
  switch (from) {
    case JobState::kPending:
      return to == JobState::kPending || to == JobState::kStarting || to == JobState::kCancelled;
    case JobState::kStarting:
      return to == JobState::kRunning || to == JobState::kStopping || to == JobState::kSucceeded;
    case JobState::kRunning: return to == JobState::kStopping || to == JobState::kSucceeded;
    case JobState::kStopping:
      return to == JobState::kStopping || to == JobState::kPending || to == JobState::kFailed ||
             to == JobState::kCancelled;
    default: return false;
  }
}

int stage(Phase phase) {
  switch (phase) {
    case Phase::kHeld: return 0;
    case Phase::kRunning: return 1;
    case Phase::kStopping: return 2;
    case Phase::kCleaning: return 3;
    default: return 4;
  }
}

bool starts_in_parts(const JobSpec& job) {
  return std::any_of(job.roles.begin(), job.roles.end(),
                     [](const Role& role) { return !role.start_after.empty(); });
}

}  // namespace

void Checker::fail(std::string invariant, std::string text) {
  if (!violation_) violation_ = Violation{std::move(invariant), std::move(text)};
}

void Checker::stored(const Transaction& transaction, Revision revision, int daemon) {
  if (daemon == candidate_) owner_ = std::exchange(candidate_, 0);
  if (daemon != owner_)
    return fail("I8", "daemon " + std::to_string(daemon) + " wrote, and daemon " +
                          std::to_string(owner_) + " owns the store");
  use_before_ = std::move(use_);
  if (const auto trouble = mirror_.apply(transaction, revision)) {
    const std::size_t colon = trouble->find(": ");
    return colon == 2 || colon == 3 ? fail(trouble->substr(0, colon), trouble->substr(colon + 2))
                                    : fail("I7", *trouble);
  }
  for (const Mirror::Changed& changed : mirror_.changed()) {
    const MirrorJob& job = *mirror_.job(changed.id);
    check_record(changed.before, job);
    check_gang(job);
    if (const auto wrong = crosses_domains(world_, job))
      fail("P1", job_text(job.id) + " " + *wrong);
    if (changed.before.spec == nullptr) check_batch(job);
    const auto same = mirror_.by_name().find(job.spec->name);
    if (same != mirror_.by_name().end() && same->second.size() > 1)
      fail("I2", "two jobs came of one call: " + job_text(*same->second.begin()) + " and " +
                     job_text(*same->second.rbegin()));
  }
  for (const int node : mirror_.changed_nodes()) {
    if (const auto what =
            exceeds(world_.nodes[static_cast<std::size_t>(node)], mirror_.node_use(node)))
      fail("I3", "in the store, " + *what);
  }
  check_quota();
}

void Checker::check_record(const MirrorJob& before, const MirrorJob& after) {
  const std::string name = job_text(after.id);
  std::size_t holding = 0;
  for (const MirrorTask& task : after.tasks) holding += holds(task.phase);
  if (ended(after.state) && holding > 0) fail("I6", name + " has ended and still holds devices");
  if (after.state == State::kPending && holding > 0) fail("I6", name + " waits and holds devices");
  if (ended(after.state) != after.in_history)
    fail("I7", name + " has ended and is live, or the other way round");
  if (before.spec == nullptr) return;
  if (before.in_history) fail("I7", name + " had ended, and its record changes");
  if (!may_follow(before.state, after.state)) fail("I7", name + " goes back to an earlier state");
  if (after.runs < before.runs || after.evictions < before.evictions ||
      after.losses < before.losses)
    fail("I7", name + " has a counter that shrinks");
  if (after.uid != before.uid) fail("I7", name + " gets another uid");
  for (std::size_t i = 0; i < after.tasks.size(); ++i) {
    const MirrorTask& was = before.tasks[i];
    const MirrorTask& is = after.tasks[i];
    if (is.attempt < was.attempt) fail("I7", name + " has a task whose attempts shrink");
    // What waits for its launch belongs to no attempt yet.
    if (is.attempt != was.attempt || is.phase == Phase::kWaiting) {
      check_place(after, was, is);
      continue;
    }
    if (stage(is.phase) < stage(was.phase))
      fail("I7", name + " has a task that goes back to an earlier phase in the same attempt");
    if (holds(is.phase) && holds(was.phase) && !(is.at == was.at))
      fail("I7", name + " has a task that moves in the middle of an attempt");
  }
}

// All jobs of a call are stored at once, or none.
void Checker::check_batch(const MirrorJob& job) {
  for (const PlannedBatch& batch : world_.batches) {
    const bool mine = std::any_of(batch.jobs.begin(), batch.jobs.end(),
                                  [&](const PlannedJob& one) { return &one.spec == job.spec; });
    if (!mine) continue;
    for (const PlannedJob& other : batch.jobs) {
      if (mirror_.by_name().count(other.spec.name) == 0)
        fail("I1",
             job_text(job.id) + " is stored, and " + other.spec.name + " of its batch is not");
    }
  }
}

// A new attempt, unless it restarts in place, goes where work may go.
void Checker::check_place(const MirrorJob& of, const MirrorTask& was, const MirrorTask& is) {
  const bool in_place = holds(was.phase) && was.at == is.at;
  if (in_place || !holds(is.phase)) return;
  const std::string job = job_text(of.id);
  if (queues_ != nullptr) {
    const NodeWindow* window =
        closing(world_, *queues_, *of.spec, static_cast<std::size_t>(is.at.node), clock_.now());
    if (window != nullptr) fail("P4", job + " starts where it lasts into " + window->name);
  }
  const std::string& node = world_.nodes[static_cast<std::size_t>(is.at.node)].name;
  if (mirror_.drained(is.at.node)) fail("I3", job + " is placed on " + node + ", which is drained");
  if ((mirror_.dirty(is.at.node) & is.at.devices) != 0)
    fail("I3", job + " is given a device of " + node + " that is not clean");
}

// A gang holds nothing, or at least its minimum; less only while it is repaired.
void Checker::check_gang(const MirrorJob& job) {
  std::size_t task = 0;
  for (const Role& role : job.spec->roles) {
    std::int32_t taking_part = 0;
    std::int32_t claims = 0;
    for (std::int32_t i = 0; i < role.count; ++i, ++task) {
      taking_part += job.tasks[task].phase != Phase::kIdle;
      claims += job.tasks[task].claim.node >= 0;
    }
    if ((job.state == State::kStarting || job.state == State::kRunning) && taking_part < role.min)
      fail("I4", job_text(job.id) + " runs with " + std::to_string(taking_part) +
                     " tasks of role " + role.name + ", and its minimum is " +
                     std::to_string(role.min));
    if (job.claims() && claims < role.min && !job.repairing)
      fail("I4", job_text(job.id) + " has room promised for a part of its gang only");
  }
}

void Checker::check_repairs(Instant now) {
  for (const std::uint64_t id : mirror_.live()) {
    const MirrorJob& job = *mirror_.job(id);
    if (!job.repairing) continue;
    const bool stops = job.state == State::kStopping && job.stopping == "node_lost";
    if (job.state != State::kPending && !stops)
      fail("I4", job_text(id) + " is repaired, though it has lost nothing");
    if (job.state == State::kPending && now.ns >= job.pending_since_ns + world_.gang_repair.ns)
      fail("I4", job_text(id) + " keeps a part of its places when its repair time is over");
  }
}

// Over a limit (that was cut) a queue may be, but not get further over it.
Checker::FirmUse Checker::firm_use() const {
  if (!world_.in_rounds) return {mirror_.queue_uses(), mirror_.tenant_uses()};
  FirmUse use;
  for (const std::uint64_t id : mirror_.live()) {
    const MirrorJob& job = *mirror_.job(id);
    MirrorJob firm = job;
    if (world_.goes_by_rounds(*job.spec)) {
      for (MirrorTask& task : firm.tasks) task.claim = Place{};
    }
    const QueueUse own = use_of(world_, firm);
    use.tenants[{job.spec->queue, job.spec->tenant}].add(own, +1);
    for (const std::string& queue : queue_and_above(job.spec->queue))
      use.queues[queue].add(own, +1);
  }
  return use;
}

void Checker::check_quota() {
  use_ = firm_use();
  if (queues_ == nullptr) return;
  for (const QueueSpec& queue : *queues_) {
    const QueueUse& before = use_before_.queues[queue.name];
    const QueueUse& now = use_.queues[queue.name];
    for (const auto& [resource, limit] : bounds_of(queue.limit)) {
      if (now.of(resource) > limit && now.of(resource) > before.of(resource))
        fail("I5", "queue " + queue.name + " uses " + std::to_string(now.of(resource)) + " of " +
                       resource + ", and its limit is " + std::to_string(limit));
    }
  }
  check_tenants();
  check_arrays();
}

// Over a limit (that was cut) an array may be, but nothing of it starts then.
void Checker::check_arrays() {
  for (const Mirror::Changed& changed : mirror_.changed()) {
    const MirrorJob& job = *mirror_.job(changed.id);
    const bool was_started = changed.before.id != 0 && changed.before.has_started();
    if (job.array_limit == 0 || was_started || !job.has_started()) continue;
    const std::int64_t started = mirror_.array_use(job).started;
    if (started > job.array_limit)
      fail("I5", job_text(job.id) + " is started as one of " + std::to_string(started) +
                     " of its array, and the limit is " + std::to_string(job.array_limit));
  }
}

// What has just been started for a tenant is within what each tenant may have.
void Checker::check_tenants() {
  for (const Mirror::Changed& changed : mirror_.changed()) {
    const MirrorJob& job = *mirror_.job(changed.id);
    if (job.state != State::kStarting || changed.before.state != State::kPending ||
        changed.before.claims())
      continue;
    for (const QueueSpec& queue : *queues_) {
      if (queue.name != job.spec->queue) continue;
      const QueueUse& use = use_.tenants[{queue.name, job.spec->tenant}];
      const QueueUse own =
          use_of(world_, job);  // a limit may have been cut beneath what others hold
      for (const auto& [resource, limit] : bounds_of(queue.each_tenant)) {
        if (own.of(resource) > 0 && use.of(resource) > limit)
          fail("I5", "tenant " + job.spec->tenant + " uses " + std::to_string(use.of(resource)) +
                         " of " + resource + " in queue " + queue.name + ", and may have " +
                         std::to_string(limit));
      }
    }
  }
}

void Checker::daemon_started() { heard_.clear(); }

void Checker::decided(const Decisions& decisions) {
  stopped_later_.clear();
  for (const Decision& decision : decisions.list) {
    if (const auto* preempted = std::get_if<Preempted>(&decision)) {
      for (const JobId victim : preempted->victims) stopped_later_.insert(victim.value);
    }
  }
  for (const Decision& decision : decisions.list) {
    if (const auto* preempted = std::get_if<Preempted>(&decision)) {
      for (const JobId victim : preempted->victims) stopped_later_.erase(victim.value);
      check_eviction(*preempted);
    }
    const auto* changed = std::get_if<JobChanged>(&decision);
    if (changed == nullptr) continue;
    const std::string name = job_text(changed->job.value);
    if (!may_become(changed->from, changed->to))
      fail("I7", name + " goes from " + std::string(to_string(changed->from)) + " to " +
                     std::string(to_string(changed->to)));
    const auto [it, fresh] = heard_.try_emplace(changed->job.value, changed->to);
    if (!fresh && it->second != changed->from)
      fail("I7", name + " changes from a state that it was not in");
    it->second = changed->to;
  }
}

// Fillers give way to all other work; the rest to what comes strictly before it
// in the order of queues that say so, and not for ever. Whoever is needed leaves
// room that the job is to have.
void Checker::check_eviction(const Preempted& preempted) {
  constexpr std::int64_t kMostEvictions = 5;
  const MirrorJob* by = mirror_.job(preempted.job.value);
  if (by == nullptr || queues_ == nullptr) return;
  const auto configured = [&](const std::string& name) -> const QueueSpec* {
    for (const QueueSpec& queue : *queues_) {
      if (queue.name == name) return &queue;
    }
    return nullptr;
  };
  const auto rank = [&](const MirrorJob& job) {
    const QueueSpec* queue = configured(job.spec->queue);
    return std::pair(queue == nullptr ? 0 : queue->priority, job.spec->priority);
  };
  std::string within;  // the nearest queue that preempts
  for (const std::string& name : queue_and_above(by->spec->queue)) {
    const QueueSpec* queue = configured(name);
    if (within.empty() && queue != nullptr && queue->preempts) within = name;
  }
  std::set<int> nodes;
  for (const MirrorTask& task : by->tasks) {
    if (task.claim.node >= 0) nodes.insert(task.claim.node);
    if (holds(task.phase)) nodes.insert(task.at.node);
  }
  for (const JobId id : preempted.victims) {
    const MirrorJob* victim = mirror_.job(id.value);
    if (victim == nullptr) continue;
    const std::string what = job_text(id.value) + " is stopped for " + job_text(by->id);
    if (by->filler()) fail("P2", what + ", a filler");
    // One that moves keeps its right to run: other room is promised to it.
    const bool moves = victim->claims();
    if (moves && !(victim->spec->checkpoint || victim->filler()))
      fail("P2", what + " and moves, though it cannot save its work");
    if (!victim->filler() && !moves) {
      const auto above = queue_and_above(victim->spec->queue);
      if (victim->evictions >= kMostEvictions) fail("P2", what + ", once too often");
      if (const auto why_not = may_not_take_back(*by, *victim); !why_not) continue;
      if (within.empty() || std::find(above.begin(), above.end(), within) == above.end())
        fail("P2", what + ", and no queue says that it may");
      if (!(rank(*victim) < rank(*by))) fail("P2", what + ", which does not come before it");
    }
    // By what it held before as well, for some of that may be free at once: of tasks
    // that waited for their time, to be started or restarted.
    const auto leaves_room = [&](const MirrorJob& as) {
      return std::any_of(as.tasks.begin(), as.tasks.end(), [&](const MirrorTask& task) {
        return holds(task.phase) && nodes.count(task.at.node) != 0;
      });
    };
    bool helps = leaves_room(*victim);
    for (const Mirror::Changed& changed : mirror_.changed()) {
      if (JobId(changed.id) != id) continue;
      helps |= leaves_room(changed.before);
      // What this turn itself placed for later, and freed again, nobody has seen.
      helps |= changed.before.state == State::kPending && starts_in_parts(*victim->spec);
    }
    if (!nodes.empty() && !helps) fail("P2", what + ", and leaves no room that it gets");
  }
}

// Nothing when the victim has borrowed what the other's queue is guaranteed:
// beneath what lies above both, one queue of the job's has a guarantee, and all
// of the victim's keep theirs with what is not being stopped.
std::optional<std::string> Checker::may_not_take_back(const MirrorJob& by,
                                                      const MirrorJob& victim) const {
  const auto mine = queue_and_above(by.spec->queue);
  const auto theirs = queue_and_above(victim.spec->queue);
  const auto beneath = [](const std::vector<std::string>& names,
                          const std::vector<std::string>& others) {
    std::vector<std::string> rest;
    for (const std::string& name : names) {
      if (std::find(others.begin(), others.end(), name) == others.end()) rest.push_back(name);
    }
    return rest;
  };
  const auto guarantee = [&](const std::string& name) {
    for (const QueueSpec& queue : *queues_) {
      if (queue.name == name) return queue.guaranteed;
    }
    return QueueGuarantee{};
  };
  const auto own = beneath(mine, theirs);
  if (std::all_of(own.begin(), own.end(),
                  [&](const std::string& name) { return guarantee(name).empty(); }))
    return "its queue is guaranteed nothing";
  const QueueUse lost = use_of(world_, victim);
  for (const std::string& name : beneath(theirs, mine)) {
    const QueueGuarantee right = guarantee(name);
    QueueUse stays;
    for (const std::uint64_t id : mirror_.live()) {
      const MirrorJob& job = *mirror_.job(id);
      const auto above = queue_and_above(job.spec->queue);
      if (std::find(above.begin(), above.end(), name) == above.end()) continue;
      if (stopped_later_.count(id) != 0) {
        stays.add(use_of(world_, job), +1);
      } else {
        add_staying(world_, job, stays);
      }
    }
    for (const auto& [resource, amount] : right.devices) {
      if (lost.of(resource) > 0 && stays.of(resource) < amount)
        return "queue " + name + " is left with " + std::to_string(stays.of(resource)) + " of " +
               resource + ", and is guaranteed " + std::to_string(amount);
    }
    if (right.cpu.value > 0 && lost.cpu > 0 && stays.cpu < right.cpu.value)
      return "queue " + name + " is left with too little cpu";
    if (right.memory.value > 0 && lost.memory > 0 && stays.memory < right.memory.value)
      return "queue " + name + " is left with too little memory";
  }
  return std::nullopt;
}

void Checker::acknowledged(std::size_t batch, const SubmitAnswer& answer) {
  const auto [it, fresh] = answers_.try_emplace(batch, answer);
  if (!fresh) {
    for (std::size_t i = 0; i < answer.jobs.size(); ++i) {
      if (answer.jobs[i].uid != it->second.jobs[i].uid)
        fail("I2", "one call was answered with two jobs: " + answer.jobs[i].uid + " and " +
                       it->second.jobs[i].uid);
    }
  }
  for (const SubmittedJob& job : answer.jobs) {
    const MirrorJob* stored = mirror_.job(job.id.value);
    if (stored == nullptr || stored->uid != job.uid)
      fail("I1", job_text(job.id.value) + " is acknowledged and not stored");
  }
}

void Checker::ordered(int daemon, std::string_view order) {
  if (daemon != owner_)
    fail("I8", "daemon " + std::to_string(daemon) + " gives the order to " + std::string(order) +
                   ", and daemon " + std::to_string(owner_) + " owns the store");
}

void Checker::forgotten(TaskId id, std::uint32_t attempt, const SimulatedCluster& cluster) {
  const MirrorJob* job = mirror_.job(id.job.value);
  if (job == nullptr || id.index >= job->tasks.size()) return;
  const MirrorTask& task = job->tasks[id.index];
  if (task.attempt != attempt) return;
  for (const SimulatedCluster::Presence& presence : cluster.presences()) {
    if (presence.task.task != id || presence.task.attempt != attempt) continue;
    if (presence.task.phase != ObservedTask::Phase::kCleaned) return;
    if (holds(task.phase) && stage(task.phase) < stage(Phase::kCleaning))
      fail("I1", task_text(id, attempt) + " is forgotten, and its end is not on record");
    else if (task.exit && !(*task.exit == presence.task.status))
      fail("I1", task_text(id, attempt) + " has an exit status on record that is not its own");
  }
}

void Checker::check_cluster(std::span<const SimulatedCluster::Presence> presences) {
  for (const int node : present_) uses_[static_cast<std::size_t>(node)] = NodeUse{};
  present_.clear();
  const SimulatedCluster::Presence* last = nullptr;
  for (const SimulatedCluster::Presence& presence : presences) {
    const ObservedTask& seen = presence.task;
    if (seen.phase == ObservedTask::Phase::kCleaned ||
        seen.phase == ObservedTask::Phase::kLaunchFailed)
      continue;
    if (last != nullptr && last->task.task == seen.task)
      fail("I2", task_text(seen.task, seen.attempt) + " is there together with attempt " +
                     std::to_string(last->task.attempt));
    last = &presence;
    const int node = mirror_.node_index(seen.node);
    const auto n = static_cast<std::size_t>(node);
    add_use(world_.nodes[n], presence.spec->role_of(seen.task.index).each, presence.devices,
            presence.start, +1, uses_[n]);
    present_.push_back(node);
    check_presence(presence, node);
  }
  for (const int node : present_) {
    const auto n = static_cast<std::size_t>(node);
    if (const auto what = exceeds(world_.nodes[n], uses_[n])) fail("I3", "really, " + *what);
  }
}

// What is there is on record, as holding just that.
void Checker::check_presence(const SimulatedCluster::Presence& presence, int node) {
  const ObservedTask& seen = presence.task;
  const auto name = [&] { return task_text(seen.task, seen.attempt); };
  const MirrorJob* job = mirror_.job(seen.task.job.value);
  if (job == nullptr) return fail("I6", name() + " is there, and no record knows it");
  const MirrorTask& task = job->tasks[seen.task.index];
  if (!holds(task.phase) || task.attempt != seen.attempt || task.at.node != node ||
      task.at.devices != presence.devices || task.at.start != presence.start)
    fail("I6", name() + " is there, and by the record its devices are free");
  else if (stage(task.phase) >= stage(Phase::kCleaning) &&
           seen.phase != ObservedTask::Phase::kExited)
    fail("I6", name() + " runs, and by the record it has ended");
}

void Checker::check_usage(const Engine& engine) {
  for (const auto& [queue, use] : mirror_.queue_uses()) {
    const QueueUsage usage = engine.usage(queue);
    const auto differs = [&, name = queue](std::int64_t mine, std::int64_t said,
                                           const std::string& of) {
      if (mine != said)
        fail("I11", "queue " + name + " is charged " + std::to_string(said) + " of " + of +
                        ", and its jobs hold " + std::to_string(mine));
    };
    differs(use.cpu, usage.cpu, "cpu");
    differs(use.memory, usage.memory, "memory");
    for (const auto& [device, amount] : use.devices) {
      const auto said = usage.devices.find(device);
      differs(amount, said == usage.devices.end() ? 0 : said->second, device);
    }
  }
}

// What starts in the room that is there is spread as evenly as it can be: with
// what the turn has left of that room, it could not be more even.
void Checker::check_spread(const Engine& engine) {
  for (const Mirror::Changed& changed : mirror_.changed()) {
    const MirrorJob& job = *mirror_.job(changed.id);
    // A plan is as even as what was free in it.
    const bool planned = std::any_of(job.tasks.begin(), job.tasks.end(),
                                     [](const MirrorTask& task) { return task.why.by == "plan"; });
    if (job.spec->topology.spread.empty() || job.state != State::kStarting ||
        changed.before.state != State::kPending || changed.before.claims() || planned)
      continue;
    Recount recount(world_, mirror_, *queues_, engine.nodes(), last_turn_);
    if (const auto wrong = recount.spread_unevenly(job))
      fail("P1", job_text(job.id) + " " + *wrong);
  }
}

void Checker::check_plans() {
  std::vector<const MirrorJob*> planned;
  for (const std::uint64_t id : mirror_.live()) {
    const MirrorJob& job = *mirror_.job(id);
    if (!job.plan) continue;
    if (job.state != State::kPending) fail("P3", job_text(id) + " runs and is promised a start");
    planned.push_back(&job);
  }
  // Sums grow only where one begins.
  for (const MirrorJob* first : planned) {
    std::map<int, QueueUse> sums;
    for (const MirrorJob* job : planned) {
      if (!job->plan->covers(first->plan->start_ns)) continue;
      for (const MirrorPlan::Seat& seat : job->plan->seats) {
        const TaskRequest& each = job->spec->roles[seat.role].each;
        QueueUse& sum = sums[seat.node];
        sum.cpu += seat.tasks * each.cpu.value;
        sum.memory += seat.tasks * each.memory.value;
        for (const DeviceRequest& device : each.devices)
          if (device.is_whole()) sum.devices[device.device_class] += seat.tasks * device.count;
      }
    }
    for (const auto& [node, sum] : sums) {
      const NodeSpec& spec = world_.nodes[static_cast<std::size_t>(node)];
      std::map<std::string, std::int64_t> owned;
      for (const DeviceSpec& device : spec.devices) ++owned[device.device_class];
      bool fits = sum.cpu <= spec.cpu.value && sum.memory <= spec.memory.value;
      for (const auto& [device, count] : sum.devices) fits &= count <= owned[device];
      if (!fits)
        fail("P3", spec.name + " is promised more than it has when " + job_text(first->id) +
                       " is to start");
    }
  }
}

// Whoever was there when it began has been asked to leave by the first turn since.
void Checker::check_windows() {
  for (const NodeWindow& window : world_.windows) {
    std::set<int> nodes;
    for (const std::string& name : window.where.nodes) nodes.insert(mirror_.node_index(name));
    const bool is_on = window.from <= last_turn_ && last_turn_ < window.until;
    for (const std::uint64_t id : mirror_.live()) {
      const MirrorJob& job = *mirror_.job(id);
      for (const MirrorTask& task : job.tasks) {
        if (is_on && (task.phase == Phase::kHeld || task.phase == Phase::kRunning) &&
            nodes.count(task.at.node) != 0)
          fail("P4", job_text(id) + " runs on in " + window.name);
      }
      // One whose time has come may be late, and is planned anew.
      if (!job.plan || job.plan->start_ns <= last_turn_.ns) continue;
      for (const MirrorPlan::Seat& seat : job.plan->seats) {
        if (nodes.count(seat.node) != 0 &&
            closing(world_, *queues_, *job.spec, static_cast<std::size_t>(seat.node),
                    Instant{job.plan->start_ns}) == &window)
          fail("P4", job_text(id) + " is promised a time that lasts into " + window.name);
      }
    }
  }
}

void Checker::check_reasons(const Engine& engine) {
  Recount recount(world_, mirror_, *queues_, engine.nodes(), last_turn_);
  for (const std::uint64_t id : mirror_.live()) {
    const MirrorJob& job = *mirror_.job(id);
    if (job.state != State::kPending) continue;
    const std::vector<Reason> reasons = engine.explain(JobId(id));
    auto wrong = recount.check(job, reasons);
    if (!wrong) wrong = recount.check(job, engine.limits(JobId(id)));
    if (!wrong) continue;
    std::string text = job_text(id) + " (" + job.spec->name + "): " + wrong->text + "; it shows";
    for (const Reason& reason : reasons) text += " " + to_json(reason);
    return fail(wrong->invariant, text);
  }
}

void Checker::check_launches(const Engine& engine, const Decisions& decisions) {
  const bool any = std::any_of(
      decisions.list.begin(), decisions.list.end(),
      [](const Decision& decision) { return std::holds_alternative<LaunchTask>(decision); });
  if (!any || queues_ == nullptr) return;
  Recount recount(world_, mirror_, *queues_, engine.nodes(), last_turn_);
  if (const auto wrong = recount.check_launches(decisions)) fail(wrong->invariant, wrong->text);
}

void Checker::check_end(const Engine& engine,
                        std::span<const SimulatedCluster::Presence> presences) {
  for (const std::uint64_t id : mirror_.live()) fail("I9", job_text(id) + " does not end");
  for (const auto& presence : presences)
    fail("I6", task_text(presence.task.task, presence.task.attempt) + " is never forgotten");
  for (std::size_t n = 0; n < world_.nodes.size(); ++n) {
    const NodeUse& use = mirror_.node_use(static_cast<int>(n));
    bool free = use.cpu == 0 && use.memory == 0;
    for (const DeviceUse& device : use.devices) free &= device.holders == 0;
    if (!free) fail("I6", world_.nodes[n].name + " is held by nobody's job");
  }
  for (const auto& [batch, answer] : answers_) {
    for (const SubmittedJob& job : answer.jobs) {
      const MirrorJob* stored = mirror_.job(job.id.value);
      if (stored == nullptr || !ended(stored->state))
        fail("I1", job_text(job.id.value) + " was acknowledged and has not ended");
    }
  }
  check_usage(engine);
}

}  // namespace gridfold::verify
