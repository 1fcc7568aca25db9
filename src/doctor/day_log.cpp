#include "doctor/day_log.h"

#include <algorithm>

#include "control/run_outcomes.h"

namespace gridfold {
namespace {

// Jobs are looked at for whether they can be forgotten when so many are known.
constexpr std::size_t kForgetAbove = 1000;

// With fewer runs of its name a job's is guessed by all.
constexpr std::size_t kEnoughRuns = 20;

bool same_service(const NodeRecord& a, const NodeRecord& b) {
  return a.up == b.up && a.drained == b.drained && a.dirty_devices == b.dirty_devices &&
         a.spec == b.spec;
}

// Millionths of a step; nothing where the step is not told.
Known<std::int64_t> share_of(const std::optional<Duration>& part,
                             const std::optional<Duration>& step) {
  if (!part || !step || step->ns <= 0) return {};
  const auto share = static_cast<std::int64_t>(__int128{part->ns} * kWholeShare / step->ns);
  return std::clamp<std::int64_t>(share, 0, kWholeShare);
}

}  // namespace

void DayLog::Share::add(std::int64_t share) {
  sum += share;
  ++count;
}

Known<std::int64_t> DayLog::Share::mean() const {
  if (count == 0) return {};
  return sum / count;
}

void DayLog::committed(Instant now, const Engine& engine, const Decisions& decisions) {
  if (!begun_) {
    begun_ = true;
    since_ = now;
    for (const NodeRecord& node : engine.nodes()) see_node(node, now);
    for (const JobRecord* job : engine.jobs()) see_job(*job, engine, now);
    return;
  }
  for (const NodeId node : decisions.changed_nodes) see_node(engine.nodes()[node.value], now);
  for (const JobId id : decisions.changed_jobs) {
    if (const JobRecord* record = engine.job(id)) see_job(*record, engine, now);
  }
  for (const Decision& decision : decisions.list) {
    if (const auto* change = std::get_if<JobChanged>(&decision)) see_change(*change, now);
  }
  forget(now);
}

void DayLog::see_node(const NodeRecord& node, Instant now) {
  auto& known = nodes_[node.id];
  if (!known.empty() && same_service(known.back().node, node)) return;
  known.push_back({now, node});
}

void DayLog::see_job(const JobRecord& record, const Engine& engine, Instant now) {
  const auto [at, added] = jobs_.try_emplace(record.id);
  Job& job = at->second;
  if (added) {
    job.spec = record.spec;
    // It was there before.
    if (!record.started_at.is_never()) {
      job.begun = record.started_at;
      job.started = true;
      job.since = record.submitted_at;
    }
  }
  const bool can_start =
      record.state != JobState::kPending || (!record.held && record.waits_for.empty());
  if (can_start && job.since.is_never()) job.since = now;
  const QueueSpec* queue = engine.queue(record.spec->queue);
  const auto longest = queue != nullptr ? queue->longest_run : Limit<Duration>{};
  job.limit = guess_run(record, longest, kDefaultRun).limit;
}

void DayLog::see_change(const JobChanged& change, Instant now) {
  const auto at = jobs_.find(change.job);
  if (at == jobs_.end()) return;
  Job& job = at->second;
  if (change.to == JobState::kStarting) {
    job.begun = now;
    job.started = true;
    return;
  }
  if (is_terminal(change.to)) {
    job.ended = now;
    return;
  }
  if (change.to != JobState::kPending || job.begun.is_never()) return;
  // What it had done is done, if it can go on from there.
  const bool keeps = job.spec->checkpoint || job.spec->training;
  if (keeps && change.reason.code != ReasonCode::kNodeLost)
    job.worked = job.worked + (now - job.begun);
  job.begun = Instant::never();
}

void DayLog::reported(const TaskReported& event) {
  const auto at = jobs_.find(event.task.job);
  if (at == jobs_.end()) return;
  Job& job = at->second;
  const TaskReport& report = event.report;
  if (report.devices_used) {
    const auto before = job.devices_used.is_known() ? job.devices_used.value() : 0;
    job.devices_used = std::max(before, *report.devices_used);
  }
  if (const auto share = share_of(report.input_time, report.step_time); share.is_known())
    job.input.add(share.value());
  if (const auto share = share_of(report.sync_time, report.step_time); share.is_known())
    job.network.add(share.value());
}

void DayLog::forget(Instant now) {
  const Instant from = std::max(since_, now - options_.window);
  for (auto& [id, known] : nodes_) {
    while (known.size() > 1 && known[1].at <= from) known.pop_front();
  }
  if (jobs_.size() <= std::min(kForgetAbove, options_.max_jobs)) return;
  std::erase_if(jobs_, [&](const auto& job) { return job.second.ended < from; });
  while (jobs_.size() > options_.max_jobs) {
    const auto oldest = std::find_if(jobs_.begin(), jobs_.end(),
                                     [](const auto& job) { return !job.second.ended.is_never(); });
    if (oldest == jobs_.end()) return;
    since_ = std::max(since_, oldest->second.ended);
    jobs_.erase(oldest);
  }
}

Duration DayLog::ran(const Job& job, Instant now) {
  return job.worked + (job.begun.is_never() ? Duration{} : std::min(now, job.ended) - job.begun);
}

bool DayLog::has_ended(const Job& job, Instant now) {
  return job.started && !job.begun.is_never() && job.ended <= now;
}

DayLog::Lengths DayLog::lengths(Instant now) const {
  Lengths lengths;
  lengths[""];
  for (const auto& [id, job] : jobs_) {
    if (job.begun.is_never()) continue;
    const auto seen = has_ended(job, now) ? RunLengths::Seen::kEnded : RunLengths::Seen::kGoesOn;
    lengths[""].add(ran(job, now), seen);
    if (!job.spec->name.empty()) lengths[job.spec->name].add(ran(job, now), seen);
  }
  for (auto& [name, of_name] : lengths) of_name.settle();
  return lengths;
}

DayJob DayLog::noted(const Job& job, const Day& day, Instant now, const Lengths& lengths) const {
  DayJob noted;
  noted.spec = job.spec;
  noted.at = std::max(job.since, day.from);
  noted.guessed = !has_ended(job, now);
  noted.run = ran(job, now);
  if (noted.guessed) {
    const auto own = lengths.find(job.spec->name);
    const bool enough = own != lengths.end() && own->second.ended() >= kEnoughRuns;
    const RunLengths& like = enough ? own->second : lengths.at("");
    noted.run = like.ended() > 0 ? like.mean_beyond(noted.run) : std::max(noted.run, kDefaultRun);
    if (!job.limit.is_unlimited()) noted.run = std::min(noted.run, job.limit.bound());
  }
  // What it had done before the day.
  if (!job.begun.is_never() && job.begun < day.from) noted.run = noted.run - (day.from - job.begun);
  noted.run = std::max(noted.run, Duration::nanoseconds(1));
  if (!job.started) noted.leaves = job.ended;
  noted.habits = {job.devices_used, job.input.mean(), job.network.mean()};
  return noted;
}

Day DayLog::day(const Engine& engine, Instant now) const {
  return day(engine, now - options_.window, now, now);
}

Day DayLog::day(const Engine& engine, Instant from, Instant to, Instant now) const {
  Day day;
  day.from = std::max(since_, from);
  day.to = to;
  day.engine = options_.engine;
  day.make_policies = options_.make_policies;
  day.learned_run_times = options_.learned_run_times;
  day.queues = engine.queue_configuration();
  day.windows = engine.windows();
  for (const auto& [id, known] : nodes_) {
    for (const DayNode& node : known) {
      if (node.at < to) day.nodes.push_back({std::max(node.at, day.from), node.node});
    }
  }
  const Lengths known = lengths(now);
  for (const auto& [id, job] : jobs_) {
    if (job.since >= to || job.ended <= day.from) continue;
    day.jobs.push_back(noted(job, day, now, known));
  }
  const auto earlier = [](const auto& a, const auto& b) { return a.at < b.at; };
  std::stable_sort(day.nodes.begin(), day.nodes.end(), earlier);
  std::stable_sort(day.jobs.begin(), day.jobs.end(), earlier);
  return day;
}

}  // namespace gridfold
