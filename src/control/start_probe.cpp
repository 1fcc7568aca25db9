#include "control/start_probe.h"

#include <algorithm>
#include <set>
#include <string>

namespace gridfold {
namespace {

constexpr std::int64_t kQuarter = 250;
constexpr std::int64_t kHalf = 500;
// Limits of a tree that stand in the way one after the other.
constexpr int kMostLimits = 8;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::int64_t given_up(const StartChange& change) {
  return (change.from - change.to) * 1000 / std::max<std::int64_t>(change.from, 1);
}

void set_limit(QueueLimit& limit, const std::string& resource, std::int64_t to) {
  if (resource == "cpu") {
    limit.cpu = MilliCores(to);
  } else if (resource == "memory") {
    limit.memory = Bytes(to);
  } else if (resource == "running_jobs") {
    limit.running_jobs = to;
  } else {
    limit.devices[resource] = to;
  }
}

bool is_limit(ReasonCode code) {
  return code == ReasonCode::kQuotaInUse || code == ReasonCode::kExceedsQuotaMax ||
         code == ReasonCode::kTenantQuotaInUse || code == ReasonCode::kExceedsTenantQuotaMax;
}

// The limit that the reason names, raised just so far that it does not bind any
// more; one that is raised already is raised further.
void raise(const Reason& reason, std::span<const QueueSpec> queues,
           std::vector<RaisedLimit>& limits) {
  const std::string_view name = reason.text("queue");
  RaisedLimit raised;
  raised.resource = reason.text("resource");
  raised.each_tenant = reason.code == ReasonCode::kTenantQuotaInUse ||
                       reason.code == ReasonCode::kExceedsTenantQuotaMax;
  raised.from = reason.number("limit");
  raised.to =
      reason.number("short") >= 0 ? raised.from + reason.number("short") : reason.number("need");
  for (const QueueSpec& queue : queues) {
    if (queue.name == name) raised.queue = queue;
  }
  for (const RaisedLimit& before : limits) {
    if (before.queue.name == name) raised.queue = before.queue;
  }
  set_limit(raised.each_tenant ? raised.queue.each_tenant : raised.queue.limit, raised.resource,
            raised.to);
  const auto is_same = [&](const RaisedLimit& before) {
    return before.queue.name == name && before.resource == raised.resource &&
           before.each_tenant == raised.each_tenant;
  };
  const auto before = std::find_if(limits.begin(), limits.end(), is_same);
  if (before != limits.end()) {
    before->to = raised.to;
  } else {
    limits.push_back(raised);
  }
  for (RaisedLimit& other : limits) {
    if (other.queue.name == name) other.queue = raised.queue;
  }
}

}  // namespace

StartProbe::StartProbe(std::shared_ptr<const EngineSnapshot> snapshot, MakePolicies make_policies)
    : snapshot_(std::move(snapshot)), make_policies_(std::move(make_policies)) {
  for (const JobRecord& job : snapshot_->jobs) unused_ = std::max(unused_, JobId(job.id.value + 1));
  copy_engine();
}

void StartProbe::copy_engine() {
  engine_.emplace(fork_without_jobs(*snapshot_, make_policies_()));
  const std::vector<Event> jobs = jobs_of(*snapshot_);
  // What starts of itself is none of our doing.
  const Event last = TurnCommitted{engine_->step(snapshot_->at, jobs).turn};
  engine_->step(snapshot_->at, {&last, 1});
}

StartProbe::Outcome StartProbe::try_out(const StartChange& change, const JobRecord& job) {
  const JobId who = who_starts(change, job, unused_);
  const std::vector<Event> events = events_of(change, job, unused_);
  const Decisions& decisions = engine_->step(snapshot_->at, events);
  Outcome outcome;
  for (const Decision& decision : decisions.list) {
    if (const auto* state = std::get_if<JobChanged>(&decision)) {
      outcome.starts |= state->job == who && state->to == JobState::kStarting;
    } else if (const auto* preempted = std::get_if<Preempted>(&decision)) {
      if (preempted->job == who) outcome.victims = preempted->victims;
    }
  }
  if (change.kind == ChangeKind::kQueueLimit) outcome.reasons = engine_->explain(who);
  const Event undo = TurnRejected{decisions.turn};
  steps_ += 2;
  if (!engine_->step(snapshot_->at, {&undo, 1}).list.empty())
    copy_engine();  // it is another state now
  return outcome;
}

bool StartProbe::starts(StartChange& change, const JobRecord& job) {
  Outcome outcome = try_out(change, job);
  change.victims = std::move(outcome.victims);
  return outcome.starts || !change.victims.empty();
}

bool StartProbe::bisect(StartChange& change, const JobRecord& job, std::int64_t least,
                        std::int64_t unit) {
  std::int64_t good = (least + unit - 1) / unit;
  std::int64_t bad = (change.from + unit - 1) / unit;
  if (good >= bad) return false;
  change.to = good * unit;
  if (!starts(change, job)) return false;
  StartChange best = change;
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    change.to = middle * unit;
    if (starts(change, job)) {
      good = middle;
      best = change;
    } else {
      bad = middle;
    }
  }
  change = std::move(best);
  change.size = given_up(change);
  return true;
}

std::vector<StartChange> StartProbe::changes_for(JobId id) {
  Found found;
  const JobRecord* known = engine_->job(id);
  if (known == nullptr || known->state != JobState::kPending) return found;
  const JobRecord job = *known;
  const bool promised = std::any_of(job.tasks.begin(), job.tasks.end(), [](const TaskRecord& task) {
    return !task.claim.node.is_none();
  });
  if (promised || !job.waits_for.empty()) return found;
  if (job.held) {
    StartChange release{.kind = ChangeKind::kRelease};
    if (starts(release, job)) found.push_back(std::move(release));
    return found;
  }
  if (const auto reason = engine_->main_reason(id);
      reason && reason->code == ReasonCode::kArrayLimit) {
    StartChange more{.kind = ChangeKind::kArrayLimit, .from = job.array_limit};
    more.to = reason->number("started") + reason->number("ahead") + 1;
    more.size = (more.to - more.from) * 1000 / std::max<std::int64_t>(more.from, 1);
    if (starts(more, job)) found.push_back(std::move(more));
    return found;
  }
  add_tasks(job, found);
  add_devices(job, found);
  add_amounts(job, found);
  add_domains(job, found);
  add_models(job, found);
  add_time_limit(job, found);
  add_queue_limits(job, found);
  add_priority(job, found);
  std::sort(found.begin(), found.end(), is_smaller);
  return found;
}

void StartProbe::add_tasks(const JobRecord& job, Found& found) {
  if (job.spec->topology.segments) return;  // their size goes with the tasks
  for (std::size_t r = 0; r < job.spec->roles.size(); ++r) {
    const Role& role = job.spec->roles[r];
    StartChange change{.kind = ChangeKind::kTasks, .role = r, .from = role.min};
    if (bisect(change, job, 1, role.multiple_of)) found.push_back(std::move(change));
  }
}

void StartProbe::add_devices(const JobRecord& job, Found& found) {
  for (std::size_t r = 0; r < job.spec->roles.size(); ++r) {
    const auto& groups = job.spec->roles[r].each.devices;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const DeviceRequest& group = groups[g];
      StartChange change{.role = r, .group = g};
      const auto shrink = [&](ChangeKind kind, std::int64_t from, std::int64_t unit) {
        change.kind = kind;
        change.from = from;
        if (bisect(change, job, 1, unit)) found.push_back(change);
      };
      if (group.count > 1) shrink(ChangeKind::kDevices, group.count, 1);
      if (!group.is_whole() && group.share.value > 1)
        shrink(ChangeKind::kDeviceShare, group.share.value, 10);
      if (group.memory.value > kMiB)
        shrink(ChangeKind::kDeviceMemory, group.memory.value,
               group.memory.value > kGiB ? kGiB : kMiB);
      if (group.place == DevicePlace::kAny) continue;
      StartChange anywhere{.kind = ChangeKind::kPlace, .role = r, .group = g};
      anywhere.from_name = to_string(group.place);
      anywhere.size = kQuarter;
      if (starts(anywhere, job)) found.push_back(std::move(anywhere));
    }
  }
}

void StartProbe::add_amounts(const JobRecord& job, Found& found) {
  for (std::size_t r = 0; r < job.spec->roles.size(); ++r) {
    const TaskRequest& each = job.spec->roles[r].each;
    StartChange cpu{.kind = ChangeKind::kCpu, .role = r, .from = each.cpu.value};
    if (bisect(cpu, job, 1, each.cpu.value > 1000 ? 1000 : 100)) found.push_back(std::move(cpu));
    StartChange memory{.kind = ChangeKind::kMemory, .role = r, .from = each.memory.value};
    if (bisect(memory, job, 1, each.memory.value > kGiB ? kGiB : kMiB))
      found.push_back(std::move(memory));
  }
}

// The next wider level that will do, else anywhere.
void StartProbe::add_domains(const JobRecord& job, Found& found) {
  const TopologyWish& wish = job.spec->topology;
  if (wish.require.empty() && wish.spread.empty() && !wish.segments) return;
  StartChange change{.kind = ChangeKind::kDomain};
  change.from_name = wish.require;
  // From the node's own domain to the widest, as most nodes have them.
  std::vector<std::string> wider;
  if (!snapshot_->nodes.empty() && !wish.require.empty()) {
    const auto& path = snapshot_->nodes.front().spec.domains;
    bool beyond = wish.require == kNodeLevel;
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      if (beyond && !step->level.empty()) wider.push_back(step->level);
      beyond |= step->level == wish.require;
    }
  }
  wider.emplace_back();
  for (const std::string& level : wider) {
    change.to_name = level;
    change.size += kQuarter;
    if (!starts(change, job)) continue;
    found.push_back(std::move(change));
    return;
  }
}

void StartProbe::add_models(const JobRecord& job, Found& found) {
  std::map<std::string, std::set<std::string>> models;  // by class
  for (const NodeRecord& node : snapshot_->nodes) {
    for (const DeviceSpec& device : node.spec.devices)
      models[device.device_class].insert(device.model);
  }
  for (std::size_t r = 0; r < job.spec->roles.size(); ++r) {
    const auto& groups = job.spec->roles[r].each.devices;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].models.empty()) continue;
      for (const std::string& model : models[groups[g].device_class]) {
        const auto& asked = groups[g].models;
        if (std::find(asked.begin(), asked.end(), model) != asked.end()) continue;
        StartChange change{.kind = ChangeKind::kModel, .role = r, .group = g};
        change.to_name = model;
        change.size = kQuarter;
        if (starts(change, job)) found.push_back(std::move(change));
      }
    }
  }
}

// Matters only where room is promised to others.
void StartProbe::add_time_limit(const JobRecord& job, Found& found) {
  if (snapshot_->options.backfill.mode == BackfillMode::kNone) return;
  constexpr std::int64_t kMinute = Duration::minutes(1).ns;
  const bool unlimited = job.spec->time_limit.is_unlimited();
  StartChange change{.kind = ChangeKind::kTimeLimit};
  change.from = unlimited ? Duration::hours(24 * 30).ns : job.spec->time_limit.bound().ns;
  if (!bisect(change, job, kMinute, kMinute)) return;
  if (unlimited) change.from = 0;
  found.push_back(std::move(change));
}

void StartProbe::add_queue_limits(const JobRecord& job, Found& found) {
  StartChange change{.kind = ChangeKind::kQueueLimit};
  std::vector<Reason> reasons = engine_->explain(job.id);
  for (int i = 0; i < kMostLimits; ++i) {
    const auto binding = std::find_if(reasons.begin(), reasons.end(),
                                      [](const Reason& reason) { return is_limit(reason.code); });
    if (binding == reasons.end()) return;
    raise(*binding, snapshot_->queues.queues, change.limits);
    Outcome outcome = try_out(change, job);
    change.victims = std::move(outcome.victims);
    if (outcome.starts || !change.victims.empty()) {
      for (const RaisedLimit& raised : change.limits) {
        change.size += (raised.to - raised.from) * 1000 / std::max<std::int64_t>(raised.from, 1);
      }
      found.push_back(std::move(change));
      return;
    }
    reasons = std::move(outcome.reasons);  // of the next limit up the tree
  }
}

// Just above that of somebody else.
void StartProbe::add_priority(const JobRecord& job, Found& found) {
  std::set<std::int32_t> others;
  for (const JobRecord& other : snapshot_->jobs) {
    if (other.spec->priority >= job.spec->priority && other.spec->priority < INT32_MAX)
      others.insert(other.spec->priority);
  }
  const std::vector<std::int32_t> steps(others.begin(), others.end());
  if (steps.empty()) return;
  StartChange change{.kind = ChangeKind::kPriority, .from = job.spec->priority, .size = kHalf};
  change.to = std::int64_t{steps.back()} + 1;
  if (!starts(change, job)) return;
  StartChange best = change;
  std::size_t low = 0;
  std::size_t high = steps.size() - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    change.to = std::int64_t{steps[middle]} + 1;
    if (starts(change, job)) {
      high = middle;
      best = change;
    } else {
      low = middle + 1;
    }
  }
  found.push_back(std::move(best));
}

}  // namespace gridfold
