#include "accounting/effective_account.h"

#include <algorithm>
#include <csignal>

namespace gridfold {
namespace {

bool is_work(TaskPhase phase, Instant started_at) {
  return phase == TaskPhase::kRunning || (phase == TaskPhase::kStopping && !started_at.is_never());
}

Part cause_of_stop(ReasonCode code) {
  switch (code) {
    case ReasonCode::kPreempted:
    case ReasonCode::kShed:
    case ReasonCode::kMoved: return Part::kEvicted;
    case ReasonCode::kNodeLost: return Part::kNodeFailed;
    case ReasonCode::kTimeLimit: return Part::kTimeLimit;
    case ReasonCode::kCancelledBy: return Part::kCancelled;
    case ReasonCode::kRequeued:
    case ReasonCode::kResized: return Part::kRestarted;
    default: return Part::kFailed;
  }
}

// It was asked to save and had the time.
bool ended_in_time(const ExitStatus& exit) {
  return !exit.lost && exit.signal != SIGKILL && exit.code == 0;
}

}  // namespace

EffectiveTotals EffectiveReport::all() const {
  EffectiveTotals sum;
  for (const OfClass& one : classes) sum.add(one.totals);
  return sum;
}

void EffectiveAccount::committed(Instant now, const Engine& engine, const Decisions& decisions) {
  now = std::max(now, now_);  // a wall clock may be set back
  if (!begun_) {
    now_ = now;
    begin(engine);
  } else {
    advance(now);
    for (const NodeId node : decisions.changed_nodes) {
      if (node.value < engine.nodes().size()) books_.set_node(engine.nodes()[node.value]);
    }
    for (const Decision& decision : decisions.list) {
      if (const auto* change = std::get_if<JobChanged>(&decision)) see_change(*change);
    }
    for (const JobId id : decisions.changed_jobs) {
      if (const JobRecord* record = engine.job(id)) see_ends(*record, now);
    }
    for (const JobId id : decisions.changed_jobs) {
      if (const JobRecord* record = engine.job(id)) see_begins(*record, now);
    }
  }
  const bool due = asked_at_.is_never() || now - asked_at_ >= options_.ask_interval;
  if (due || waiting_.has_to_ask(books_)) {
    asked_at_ = now;
    see_queues(engine);
    waiting_.ask(engine, books_);
  }
}

void EffectiveAccount::begin(const Engine& engine) {
  begun_ = true;
  for (const NodeRecord& node : engine.nodes()) books_.set_node(node);
  for (const JobRecord* job : engine.jobs()) {
    see_ends(*job, now_);
    see_begins(*job, now_);
  }
}

// What the queues directly beneath the root may hold together.
void EffectiveAccount::see_queues(const Engine& engine) {
  const std::vector<QueueSpec> queues = engine.queues();
  reach_.assign(books_.classes().size(), Limit<std::int64_t>(0));
  for (ClassIndex index = 0; index < reach_.size(); ++index) {
    for (const QueueSpec& queue : queues) {
      if (queue.name.find('/') != std::string::npos) continue;
      const auto limit = queue.limit.devices.find(books_.classes()[index]);
      if (limit == queue.limit.devices.end()) {
        reach_[index] = Unlimited{};
        break;
      }
      reach_[index] = Limit<std::int64_t>(reach_[index].bound() + limit->second);
    }
  }
}

// --- Time ---

void EffectiveAccount::advance(Instant now) {
  integrate(totals_, now_, now);
  now_ = std::max(now_, now);
}

// Nothing has changed in between.
void EffectiveAccount::integrate(std::vector<EffectiveTotals>& totals, Instant from,
                                 Instant to) const {
  from = std::max(from, options_.from);
  to = std::min(to, options_.to);
  totals.resize(std::max(totals.size(), books_.classes().size()));
  if (to <= from) return;
  const DeviceTime time = (to - from).ns;
  for (ClassIndex index = 0; index < books_.classes().size(); ++index) {
    const DeviceBooks::Amounts& amounts = books_.amounts(index);
    EffectiveTotals& sums = totals[index];
    const auto put = [&](Part part, std::int64_t thousandths) {
      sums.parts[static_cast<std::size_t>(part)] += thousandths * time;
    };
    sums.supplied += amounts.supplied * time;
    sums.allocated += amounts.held * time;
    for (std::size_t i = 0; i < amounts.off.size(); ++i)
      put(static_cast<Part>(static_cast<std::size_t>(Part::kDrained) + i), amounts.off[i]);
    if (index < overhead_.size()) {
      put(Part::kStarting, overhead_[index].starting);
      put(Part::kClearing, overhead_[index].clearing);
      put(Part::kRestartWait, overhead_[index].restart_wait);
    }
    std::int64_t free = amounts.free;
    if (index < reach_.size() && !reach_[index].is_unlimited()) {
      const std::int64_t beyond =
          std::clamp<std::int64_t>(amounts.held + amounts.free - reach_[index].bound(), 0, free);
      put(Part::kBeyondLimits, beyond);
      free -= beyond;
    }
    waiting_.split(index, free, put);
  }
}

void EffectiveAccount::add(std::vector<EffectiveTotals>& totals, Part part,
                           const std::vector<ClassAmount>& amounts, Instant begin,
                           Instant end) const {
  begin = std::max(begin, options_.from);
  end = std::min(end, options_.to);
  if (end <= begin) return;
  for (const ClassAmount& amount : amounts) {
    if (amount.device_class >= totals.size()) totals.resize(amount.device_class + 1u);
    totals[amount.device_class].parts[static_cast<std::size_t>(part)] +=
        DeviceTime{amount.thousandths} * (end - begin).ns;
  }
}

// Useful until `safe`, the rest is `rest`.
void EffectiveAccount::add_split(std::vector<EffectiveTotals>& totals, Instant safe, Part rest,
                                 const Piece& piece) const {
  const Instant border = std::clamp(safe, piece.begin, piece.end);
  add(totals, Part::kUseful, piece.amounts, piece.begin, border);
  add(totals, rest, piece.amounts, border, piece.end);
}

// --- Jobs ---

void EffectiveAccount::see_change(const JobChanged& change) {
  Job* job = jobs_.find(change.job);
  if (job == nullptr || change.from == JobState::kPending) return;
  if (change.to == JobState::kPending || is_terminal(change.to)) {
    job->run_over = true;  // it may have begun another in the same turn
    job->succeeded = change.to == JobState::kSucceeded;
  }
  if (change.to != JobState::kStopping) return;
  job->cause = cause_of_stop(change.reason.code);
  job->asked_to_stop = job->cause == Part::kEvicted || job->cause == Part::kTimeLimit ||
                       change.reason.code == ReasonCode::kRequeued ||
                       change.reason.code == ReasonCode::kResized;
}

// What it no longer does or holds.
void EffectiveAccount::see_ends(const JobRecord& record, Instant now) {
  Job& job = jobs_[record.id];
  if (job.spec == nullptr) {
    job.spec = record.spec;
    job.tasks.resize(record.tasks.size());
  }
  if (!record.saved_at.is_never()) job.saved = record.saved_at;
  if (job.run_over) end_run(job, record, now);
  if (!record.started_at.is_never()) job.started = record.started_at;
  for (std::size_t i = 0; i < record.tasks.size(); ++i) {
    Task& task = job.tasks[i];
    const TaskRecord& seen = record.tasks[i];
    const bool holds = holds_allocation(seen.phase);
    const bool works = task.attempt == seen.attempt && is_work(seen.phase, seen.started_at);
    count_overhead(task, -1);
    if (task.works && !works) end_work(job, task, seen, now);
    if (task.holds && !(holds && task.at == seen.allocation)) {
      books_.give_back(task.at.node, task.taken);
      task.holds = false;
    }
  }
}

// What it does and holds now, once all have let go of what they held.
void EffectiveAccount::see_begins(const JobRecord& record, Instant now) {
  Job& job = jobs_[record.id];
  for (std::size_t i = 0; i < record.tasks.size(); ++i) {
    Task& task = job.tasks[i];
    const TaskRecord& seen = record.tasks[i];
    if (holds_allocation(seen.phase) && !task.holds) {
      task.at = seen.allocation;
      task.taken = books_.take(task.at, job.spec->role_of(static_cast<std::uint32_t>(i)).each);
      task.amounts = books_.by_class(task.at.node, task.taken);
      task.holds = true;
    }
    if (!task.works && is_work(seen.phase, seen.started_at)) {
      task.works = true;
      task.since = now;
    }
    task.phase = seen.phase;
    task.attempt = seen.attempt;
    task.shed = seen.shed;
    count_overhead(task, +1);
  }
  const bool waits = record.state == JobState::kPending && !record.held && record.waits_for.empty();
  if (waits && !job.waits) waiting_.add(record, books_);
  if (!waits && job.waits) waiting_.remove(record.id, record.spec->priority);
  job.waits = waits;
  if (is_terminal(record.state)) jobs_.erase(record.id);
}

void EffectiveAccount::count_overhead(Task& task, int sign) {
  const bool counts = sign > 0 ? task.holds && !task.works : task.overhead;
  if (!counts) return;
  task.overhead = sign > 0;
  for (const ClassAmount& amount : task.amounts) {
    if (amount.device_class >= overhead_.size()) overhead_.resize(amount.device_class + 1u);
    Overhead& overhead = overhead_[amount.device_class];
    const bool starts = task.phase == TaskPhase::kHeld || task.phase == TaskPhase::kWaiting;
    auto& sum = starts                              ? overhead.starting
                : task.phase == TaskPhase::kBackoff ? overhead.restart_wait
                                                    : overhead.clearing;
    sum += sign * amount.thousandths;
  }
}

// The attempt's process has ended, or is lost.
void EffectiveAccount::end_work(Job& job, Task& task, const TaskRecord& record, Instant now) {
  task.works = false;
  Piece piece{task.since, now, task.amounts};
  // A task that was shed leaves its work to its gang.
  const bool well = (record.exit && record.exit->ok()) || task.shed;
  if (well) {
    job.pieces.push_back(std::move(piece));
    return;
  }
  const bool kept = saved_when_asked(job) && record.exit && ended_in_time(*record.exit);
  add_split(totals_, kept ? now : safe_until(job, now), job.cause, piece);
}

void EffectiveAccount::end_run(Job& job, const JobRecord& record, Instant now) {
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    if (job.tasks[i].works) end_work(job, job.tasks[i], record.tasks[i], now);
  }
  const Instant safe = job.succeeded || saved_when_asked(job) ? now : safe_until(job, now);
  for (const Piece& piece : job.pieces) add_split(totals_, safe, job.cause, piece);
  job.pieces.clear();
  job.cause = Part::kFailed;
  job.asked_to_stop = false;
  job.run_over = false;
  job.started = Instant::never();
}

// Whether a task that ended by itself when it was asked to has saved its work,
// as the job promises and has not told otherwise.
bool EffectiveAccount::saved_when_asked(const Job& job) const {
  const bool told = !job.saved.is_never() && job.saved >= job.started;
  return job.asked_to_stop && job.spec->checkpoint && !told;
}

// Until when the run's work will not have to be done again.
Instant EffectiveAccount::safe_until(const Job& job, Instant now) const {
  if (job.spec->workload_class == WorkloadClass::kInfer) return now;
  if (job.started.is_never()) return Instant{INT64_MIN};
  if (!job.saved.is_never() && job.saved >= job.started) return job.saved;
  const auto& checkpoint = job.spec->checkpoint;
  if (!checkpoint || !checkpoint->interval.is_known() || checkpoint->interval.value().ns <= 0)
    return job.started;
  const Duration run = now - job.started;
  return now - Duration{run.ns % checkpoint->interval.value().ns};
}

EffectiveReport EffectiveAccount::report(Instant now) const {
  now = std::max(now, now_);
  std::vector<EffectiveTotals> totals = totals_;
  if (begun_) integrate(totals, now_, now);
  jobs_.for_each([&](JobId, const Job& job) {
    const Instant safe = safe_until(job, now);
    for (const Piece& piece : job.pieces) add_split(totals, safe, Part::kInProgress, piece);
    for (const Task& task : job.tasks) {
      if (task.works) add_split(totals, safe, Part::kInProgress, {task.since, now, task.amounts});
    }
  });
  EffectiveReport report{options_.from, std::min(now, options_.to), {}};
  totals.resize(books_.classes().size());
  for (ClassIndex index = 0; index < books_.classes().size(); ++index)
    report.classes.push_back({books_.classes()[index], totals[index]});
  return report;
}

}  // namespace gridfold
