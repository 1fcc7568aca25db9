// The engine's frame: one step, the journal that can undo it, and the records'
// bookkeeping. What events do is in lifecycle.cpp and job_states.cpp, the cycle in
// schedule.cpp.
#include "engine/engine.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>

#include "base/planted.h"
#include "engine/lost_work.h"
#include "engine/state.h"

namespace gridfold {

Engine::Engine(EngineOptions options, Policies policies)
    : state_(std::make_unique<State>(options, std::move(policies))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;

const Decisions& Engine::step(Instant now, std::span<const Event> events) {
  State& s = *state_;
  s.now = now;
  s.queues.set_time(now);
  s.queues.set_charging(QueueTree::Charging::kAnew);
  s.turn->clear();
  s.turn->number = ++s.turn_number;
  s.turn->random = s.random.state();
  s.out.clear();
  s.out.turn = s.turn->number;

  for (const Event& event : events) s.apply(event);
  s.fire_timers();
  s.follow_windows();
  s.follow_boots();
  // Placing and evicting may itself give room back; then others are woken.
  s.wake_held_back();
  do {
    s.follow_arrays();
    s.fulfil_claims();
    s.gather_repairs();
    s.wake_groups();
    s.note_freed_for_plans();
    s.freed.clear();
    s.quota_freed = false;
    s.run_cycle();
  } while (!s.freed.empty() || s.quota_freed);
  s.give_idle_back();
  s.freed.clear();
  s.set_next_plan();
  s.note_idle();

  if (s.awaited_plan == 0) {
    if (auto problem = s.policy->problem()) {
      s.awaited_plan = ++s.solves;
      s.out.solves.push_back({s.awaited_plan, std::move(problem)});
    }
  }
  if (s.run_times && s.awaited_run_times == 0) {
    if (auto problem = s.run_times->problem()) {
      s.awaited_run_times = ++s.solves;
      s.out.solves.push_back({s.awaited_run_times, std::move(problem)});
    }
  }
  if (s.rounds.policy) s.hold_round();
  for (const SavedJob& saved : s.turn->jobs.all()) {
    s.out.changed_jobs.push_back(saved.job);
    if (!saved.was_there) s.out.new_jobs.push_back(saved.job);
  }
  for (const auto& [id, before] : s.turn->nodes) s.out.changed_nodes.push_back(id);
  if (!s.turn->empty()) {
    for (const JobId job : s.reported_jobs) {
      if (s.jobs.has(job)) s.out.changed_jobs.push_back(job);
    }
    s.reported_jobs.clear();
  }
  std::sort(s.out.changed_jobs.begin(), s.out.changed_jobs.end());
  s.out.changed_jobs.erase(std::unique(s.out.changed_jobs.begin(), s.out.changed_jobs.end()),
                           s.out.changed_jobs.end());
  std::sort(s.out.new_jobs.begin(), s.out.new_jobs.end());
  std::sort(s.out.changed_nodes.begin(), s.out.changed_nodes.end());
  if (!s.turn->empty()) {
    if (s.spare_turns.empty()) s.spare_turns.push_back(std::make_unique<Turn>());
    s.journal.push_back(std::exchange(s.turn, std::move(s.spare_turns.back())));
    s.spare_turns.pop_back();
  }
  if (s.options.verify == Verify::kEveryStep) {
    if (const auto broken = check_invariants()) {
      std::fprintf(stderr, "engine invariant broken: %s\n", broken->c_str());
      std::abort();
    }
  }
  return s.out;
}

const Engine::Work& Engine::work() const { return state_->work; }

Instant Engine::next_wake() const {
  const auto& timers = state_->timers;
  return std::min({timers.empty() ? Instant::never() : timers.begin()->first, next_round(),
                   state_->plans.next, state_->fillers_due, state_->windows.next(),
                   state_->pools.next()});
}
Instant Engine::next_round() const { return state_->rounds.due; }

const JobRecord* Engine::job(JobId id) const {
  const EngineJob* job = state_->find(id);
  return job == nullptr ? nullptr : &job->record;
}

std::vector<const JobRecord*> Engine::jobs() const {
  std::vector<const JobRecord*> all;
  for (const EngineJob* job : state_->jobs.in_order()) all.push_back(&job->record);
  return all;
}

std::span<const NodeRecord> Engine::nodes() const { return state_->cluster.records(); }
NodeRoom Engine::room(NodeId node) const { return state_->cluster.room(node); }
std::vector<QueueSpec> Engine::queues() const { return state_->queues.specs(); }

QueueConfiguration Engine::queue_configuration() const {
  QueueConfiguration configuration = state_->queues.sharing();
  configuration.queues = queues();
  return configuration;
}

const QueueSpec* Engine::queue(std::string_view name) const {
  const auto id = state_->queues.find(name);
  return id && state_->queues.exists(*id) ? &state_->queues.spec(*id) : nullptr;
}

bool Engine::links_known() const { return state_->communication.is_known(); }

QueueUsage Engine::usage(std::string_view queue) const {
  const auto id = state_->queues.find(queue);
  if (!id) return {};
  QueueUsage usage = state_->queues.usage(*id);
  if (state_->queues.takes_turns()) usage.share = state_->queues.share_of(*id);
  return usage;
}

std::vector<UsageRecord> Engine::usage_records() const {
  return state_->queues.usage_records(QueueTree::Remembered::kAll);
}
std::vector<UsageRecord> Engine::changed_usage() const {
  return state_->queues.usage_records(QueueTree::Remembered::kChanged);
}

bool Engine::learns_from_history() const {
  return state_->run_times != nullptr || state_->policy->learns();
}

const std::vector<NodeWindow>& Engine::windows() const { return state_->windows.planned(); }

const std::vector<NodePool>& Engine::pools() const { return state_->pools.planned(); }

const NodeWindow* Engine::next_window(NodeId node) const {
  const auto spans = state_->windows.spans(node);
  return spans.empty() ? nullptr : &state_->windows.planned()[spans.front().window];
}

// --- Records and the journal ---

void EngineJob::forget() {
  constexpr std::size_t kKeptTasks = 64;
  EngineJob fresh;
  std::swap(fresh.record.uid, record.uid);
  if (record.tasks.capacity() <= kKeptTasks) std::swap(fresh.record.tasks, record.tasks);
  fresh.record.uid.clear();
  fresh.record.tasks.clear();
  *this = std::move(fresh);
}

EngineJob* Engine::State::find(JobId id) { return jobs.find(id); }

void Engine::State::touch(EngineJob& job) {
  array_changes(job);
  if (job.saved_in_turn == turn_number) return;
  job.saved_in_turn = turn_number;
  SavedJob& saved = turn->jobs.add(job.record.id);
  saved.was_there = true;
  saved.before = job.record;
}

void Engine::State::touch_node(NodeId node) {
  for (const auto& [id, before] : turn->nodes) {
    if (id == node) return;
  }
  turn->nodes.emplace_back(node, cluster.record(node));
}

PendingKey Engine::State::key_of(const EngineJob& job) const {
  return {queues.spec(job.queue).priority, is_filler(job), job.record.spec->priority,
          job.record.id};
}

const Request& Engine::State::request_of(const EngineJob& job, std::uint32_t task) const {
  const auto& roles = job.record.spec->roles;
  for (std::size_t r = 0; r < roles.size(); ++r) {
    if (task < static_cast<std::uint32_t>(roles[r].count)) return *job.shape->requests[r];
    task -= static_cast<std::uint32_t>(roles[r].count);
  }
  return *job.shape->requests.back();
}

JobShape& Engine::State::shape_of(const JobRecord& record) {
  const std::shared_ptr<const JobSpec>& spec = record.spec;
  const std::uint32_t runs = run_class(record);
  constexpr std::size_t kRecent = 1024;
  const auto recent = recent_shapes.find(spec.get());
  if (recent != recent_shapes.end() && recent->second.run_class == runs)
    return *recent->second.shape;

  const QueueId queue = queues.place_of(spec->queue, spec->tenant);
  const bool filler = spec->workload_class == WorkloadClass::kFiller;
  std::vector<const Request*> requests;
  std::vector<std::uint32_t> key{queue.value, filler};
  constexpr std::size_t kAsks = 2;  // from here on, what it asks for
  for (const Role& role : spec->roles) {
    requests.push_back(&cluster.compile(role.each));
    key.push_back(requests.back()->id);
    key.push_back(static_cast<std::uint32_t>(role.count));
    key.push_back(static_cast<std::uint32_t>(role.min));
  }
  if (const TopologyWish& wish = spec->topology; !wish.empty()) {
    const auto next = static_cast<std::uint32_t>(wishes.size());
    key.push_back(wishes.emplace(wish, next).first->second);
  }
  const std::vector<std::uint32_t> asks(key.begin() + kAsks, key.end());
  // What is said of room alone holds for jobs of any length; beside reservations
  // length matters.
  if (runs != 0) {
    key.push_back(UINT32_MAX);
    key.push_back(runs);
  }
  std::unique_ptr<JobShape>& shape = shapes[std::move(key)];
  if (!shape) {
    shape = std::make_unique<JobShape>();
    shape->group.queue = queue;
    shape->group.filler = filler;
    shape->group.ask_number = kinds.ask_number(asks);
    shape->group.run_class = runs;
    for (std::size_t r = 0; r < requests.size(); ++r) {
      shape->group.asks.push_back({requests[r], spec->roles[r].count});
      shape->group.mins.push_back(spec->roles[r].min);
    }
    shape->requests = std::move(requests);
  }
  if (recent_shapes.size() == kRecent) recent_shapes.clear();
  recent_shapes[spec.get()] = {spec, shape.get(), runs};
  return *shape;
}

// Puts everything that follows from the record into the derived state.
void Engine::State::attach(EngineJob& job) {
  const JobRecord& record = job.record;
  job.shape = &shape_of(record);
  job.queue = job.shape->group.queue;
  job.requests = job.shape->requests;
  // A policy of rounds knows no limits of models or arrays.
  job.by_rounds = rounds.policy && goes_by_rounds(*record.spec) &&
                  !queues.limits_models(job.queue) && record.array_limit == 0;
  if (job.by_rounds && !is_terminal(record.state)) rounds.jobs.insert(record.id);
  for (std::uint32_t i = 0; i < record.tasks.size(); ++i) {
    if (holds_allocation(record.tasks[i].phase)) hold(job, i);
    if (!record.tasks[i].claim.node.is_none()) book_claim(job, i);
  }
  queues.count_jobs(job.queue, is_active(record.state), record.state == JobState::kPending);
  for (const DependencyRecord& edge : record.waits_for) children[edge.parent].push_back(record.id);
  enter_array(job);
  if (record.state == JobState::kPending && has_claim(record)) {
    begin_claiming(job);
  } else if (waits_for_room(record)) {
    enter_queue(job);
  }
  if (is_sending(record)) begin_sending(record);
  set_timer(job);
}

void Engine::State::detach(EngineJob& job) {
  const JobRecord& record = job.record;
  if (is_sending(record)) end_sending(record);
  std::optional<Reservation> reservation = record.reservation;
  leave_queue(job);
  job.record.reservation = std::move(reservation);  // it stays promised, if it comes back
  end_claiming(job);
  if (job.by_rounds) rounds.jobs.erase(record.id);
  leave_array(job);
  for (std::uint32_t i = 0; i < record.tasks.size(); ++i) {
    if (holds_allocation(record.tasks[i].phase)) release(job, i);
    if (!record.tasks[i].claim.node.is_none()) unbook_claim(job, i);
  }
  queues.count_jobs(job.queue, -is_active(record.state), -(record.state == JobState::kPending));
  for (const DependencyRecord& edge : record.waits_for)
    std::erase(children[edge.parent], record.id);
  if (!job.timer.is_never()) timers.erase({job.timer, record.id});
  job.timer = Instant::never();
}

// What was decided up to this turn is for good; jobs that have ended by then
// are gone.
void Engine::State::commit_until(std::uint64_t last) {
  constexpr std::size_t kSpare = 4;
  while (!journal.empty() && journal.front()->number <= last) {
    if (spare_turns.size() < kSpare) {
      journal.front()->clear();
      spare_turns.push_back(std::move(journal.front()));
    }
    journal.pop_front();
  }
  std::size_t kept = 0;
  for (const auto& entry : ended) {
    if (entry.first > last) {
      ended[kept++] = entry;
    } else if (EngineJob* job = find(entry.second)) {
      note_run_time(job->record);
      detach(*job);
      jobs.erase(entry.second);
    }
  }
  ended.resize(kept);
}

// Newest first, so that each record ends as it was before the rejected turn.
void Engine::State::undo_from(std::uint64_t from) {
  while (!journal.empty() && journal.back()->number >= from) {
    const std::unique_ptr<Turn> last = std::move(journal.back());
    Turn& undone = *last;
    journal.pop_back();
    const std::span<SavedJob> saved = undone.jobs.all();
    for (auto it = saved.rbegin(); it != saved.rend(); ++it) {
      detach(jobs.at(it->job));
      if (!it->was_there) jobs.erase(it->job);
    }
    if (!undone.nodes.empty()) windows.nodes_changed();
    for (auto it = undone.nodes.rbegin(); it != undone.nodes.rend(); ++it) {
      if (it->second) {
        put_node(*it->second);
        freed.push_back(it->first);
      } else {
        std::erase(freed, it->first);
        cluster.remove_last();
        pools.forget_from(cluster.size());
      }
    }
    for (const auto& [node, before] : undone.nodes) {
      if (before) pools.note(node, now);
    }
    for (SavedJob& entry : saved) {
      if (!entry.was_there) continue;
      EngineJob& job = jobs.at(entry.job);
      job.record = std::move(entry.before);
      job.saved_in_turn = 0;
      attach(job);
    }
    if (undone.sharing) queues.share_as(*undone.sharing);
    if (!undone.queues.empty()) configure_queues(undone.queues);
    random.restore(undone.random);
    if (rounds.adopted_in == undone.number) rounds.awaited = rounds.adopted;  // told again
    while (!moves.empty() && moves.back().first >= undone.number) moves.pop_back();
    std::erase_if(ended, [&](const auto& entry) { return entry.first == undone.number; });
  }
  quota_freed = true;
}

// Its own time limit or its queue's, whichever is shorter.
std::optional<Duration> Engine::State::run_limit(const EngineJob& job) const {
  std::optional<Duration> limit;
  for (const Limit<Duration>& of :
       {job.record.spec->time_limit, queues.spec(job.queue).longest_run}) {
    if (!of.is_unlimited() && (!limit || of.bound() < *limit)) limit = of.bound();
  }
  return limit;
}

// The earliest of: its time limit, the restarts that wait for their time, when it
// may be evicted again, and when its repair is given up.
void Engine::State::set_timer(EngineJob& job) {
  const JobRecord& record = job.record;
  Instant due = Instant::never();
  const bool runs = record.state == JobState::kStarting || record.state == JobState::kRunning;
  const bool is_repaired = record.state == JobState::kPending && record.repairing;
  if (is_repaired && !GRIDFOLD_PLANTED_BUG(repair_never_given_up)) due = repair_until(record);
  if (const auto limit = run_limit(job); runs && limit && !record.started_at.is_never())
    due = record.started_at + *limit;
  if (runs) {
    for (const TaskRecord& task : record.tasks) {
      if (task.phase == TaskPhase::kBackoff) due = std::min(due, task.not_before);
    }
  }
  if (runs) due = std::min(due, role_deadline(record));
  if (runs && record.evictions > 0 && may_be_safe(job)) {
    const Instant safe = safe_until(record, options.eviction);
    if (safe > now) due = std::min(due, safe);
  }
  if (due == job.timer) return;
  if (!job.timer.is_never()) timers.erase({job.timer, record.id});
  job.timer = due;
  if (!due.is_never()) timers.insert({due, record.id});
}

}  // namespace gridfold
