#include "doctor/balance_meter.h"

#include <algorithm>

namespace gridfold {
namespace {

// Whether a run that is over for this reason begins once more.
bool comes_again(ReasonCode why) {
  switch (why) {
    case ReasonCode::kNodeLost:
    case ReasonCode::kPreempted:
    case ReasonCode::kReclaimed:
    case ReasonCode::kMoved:
    case ReasonCode::kRequeued:
    case ReasonCode::kResized: return true;
    default: return false;
  }
}

// How much of a run that lasted so long need not be done again, in millionths.
std::int64_t kept_share(const JobSpec& spec, ReasonCode why, Duration ran) {
  if (ran.ns <= 0) return kWholeShare;
  if (why != ReasonCode::kNodeLost) return spec.checkpoint || spec.training ? kWholeShare : 0;
  if (!spec.checkpoint || !spec.checkpoint->interval.is_known()) return 0;
  const Duration interval = spec.checkpoint->interval.value();
  if (interval.ns <= 0) return 0;
  return static_cast<std::int64_t>(__int128{ran.ns - ran.ns % interval.ns} * kWholeShare / ran.ns);
}

std::int64_t known_share(const Known<std::int64_t>& share) {
  return share.is_known() ? share.value() : 0;
}

}  // namespace

void BalanceMeter::stepped(Instant now, const Engine& engine, const Decisions& decisions) {
  pass(now);
  for (const NodeId node : decisions.changed_nodes) books_.set_node(engine.nodes()[node.value]);
  for (const Decision& decision : decisions.list) {
    if (const auto* change = std::get_if<JobChanged>(&decision)) see_loss(*change, now);
  }
  for (const JobId id : decisions.changed_jobs) {
    if (const JobRecord* record = engine.job(id)) see_ends(*record, now);
  }
  for (const JobId id : decisions.changed_jobs) {
    if (const JobRecord* record = engine.job(id)) see_begins(*record, now);
  }
}

// Nothing has changed in between. What is held is counted job by job.
void BalanceMeter::pass(Instant to) {
  to = std::min(to, day_.to);
  if (to <= now_) return;
  const DeviceTime time = (to - now_).ns;
  now_ = to;
  wanted_.resize(books_.classes().size());
  for (ClassIndex index = 0; index < books_.classes().size(); ++index) {
    const DeviceBooks::Amounts& amounts = books_.amounts(index);
    const std::int64_t idle = amounts.supplied - amounts.held;
    const std::int64_t wanted = std::min(idle, wanted_[index]);
    balance_.supplied += amounts.supplied * time;
    balance_.idle_wanted += wanted * time;
    balance_.idle_free += (idle - wanted) * time;
    balance_.unmet += (wanted_[index] - wanted) * time;
  }
}

void BalanceMeter::pass(Job& job, const JobHabits& habits, Instant to) {
  to = std::min(to, day_.to);
  const Instant from = std::max(job.since, day_.from);
  job.since = std::max(job.since, to);
  if (to <= from || job.held == 0) return;
  const DeviceTime time = (to - from).ns;
  const DeviceTime used = job.used * time;
  const DeviceTime input = used * known_share(habits.input) / kWholeShare;
  const DeviceTime network = used * known_share(habits.network) / kWholeShare;
  const DeviceTime busy = used - input - network;
  balance_.unused += job.held * time - used;
  balance_.input += input;
  balance_.network += network;
  balance_.busy += busy;
  if (!habits.any()) balance_.silent += busy;
  job.worked += busy;
}

// A run that is over before its work is.
void BalanceMeter::see_loss(const JobChanged& change, Instant now) {
  Job* job = jobs_.find(change.job);
  if (job == nullptr) return;
  pass(*job, told(change.job).habits, now);
  if (change.to == JobState::kStarting) {
    job->begun = now;
    job->worked = 0;
  }
  const bool stops = change.to == JobState::kStopping || change.to == JobState::kPending;
  if (!stops || change.from == JobState::kPending || !comes_again(change.reason.code)) return;
  const std::int64_t lost =
      kWholeShare - kept_share(*told(change.job).spec, change.reason.code, now - job->begun);
  const DeviceTime thrown = job->worked * lost / kWholeShare;
  balance_.busy -= thrown;
  balance_.thrown_away += thrown;
  if (!told(change.job).habits.any()) balance_.silent -= thrown;
  job->worked = 0;
}

void BalanceMeter::see_ends(const JobRecord& record, Instant now) {
  Job& job = jobs_[record.id];
  pass(job, told(record.id).habits, now);
  job.tasks.resize(record.tasks.size());
  for (std::size_t i = 0; i < record.tasks.size(); ++i) {
    Task& task = job.tasks[i];
    const TaskRecord& seen = record.tasks[i];
    if (!task.holds || (holds_allocation(seen.phase) && task.at == seen.allocation)) continue;
    books_.give_back(task.at.node, task.taken);
    job.held -= task.thousandths;
    job.used -= task.used;
    task = {};
  }
}

// Once all have let go of what they held.
void BalanceMeter::see_begins(const JobRecord& record, Instant now) {
  Job& job = jobs_[record.id];
  job.since = std::max(job.since, now);
  const JobHabits& habits = told(record.id).habits;
  for (std::size_t i = 0; i < record.tasks.size(); ++i) {
    Task& task = job.tasks[i];
    const TaskRecord& seen = record.tasks[i];
    if (task.holds || !holds_allocation(seen.phase)) continue;
    task.holds = true;
    task.at = seen.allocation;
    task.taken = books_.take(task.at, record.spec->role_of(static_cast<std::uint32_t>(i)).each);
    for (const auto& [device, thousandths] : task.taken) task.thousandths += thousandths;
    const auto devices = static_cast<std::int64_t>(task.taken.size());
    task.used = task.thousandths;
    if (habits.devices_used.is_known() && habits.devices_used.value() < devices)
      task.used = task.thousandths * habits.devices_used.value() / devices;
    job.held += task.thousandths;
    job.used += task.used;
  }
  const bool waits = record.state == JobState::kPending && !record.held;
  if (waits != job.waits) {
    if (waits) job.wanted = demand_of(*record.spec, books_);
    wanted_.resize(std::max(wanted_.size(), books_.classes().size()));
    for (const ClassAmount& amount : job.wanted)
      wanted_[amount.device_class] += (waits ? 1 : -1) * amount.thousandths;
    job.waits = waits;
  }
  if (is_terminal(record.state)) jobs_.erase(record.id);
}

DayBalance BalanceMeter::at_end() {
  pass(day_.to);
  std::vector<JobId> live;
  jobs_.for_each([&](JobId id, const Job&) { live.push_back(id); });
  for (const JobId id : live) pass(jobs_[id], told(id).habits, day_.to);
  return balance_;
}

}  // namespace gridfold
