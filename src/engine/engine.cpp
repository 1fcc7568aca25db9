// The engine's frame: one step, the journal that can undo it, and the records'
// bookkeeping. What events do is in lifecycle.cpp, the cycle in schedule.cpp.
#include "engine/engine.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>

#include "engine/state.h"

namespace gridfold {

Engine::Engine(EngineOptions options, std::unique_ptr<PlacementPolicy> policy)
    : state_(std::make_unique<State>(options, std::move(policy))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;

Decisions Engine::step(Instant now, std::span<const Event> events) {
  State& s = *state_;
  s.now = now;
  s.turn = State::Turn{};
  s.turn.number = ++s.turn_number;
  s.turn.random = s.random.state();
  s.out = Decisions{};
  s.out.turn = s.turn.number;

  for (const Event& event : events) s.apply(event);
  s.fire_timers();
  // Placing and evicting may itself give room back; then others are woken.
  do {
    s.fulfil_claims();
    s.wake_groups();
    s.freed.clear();
    s.quota_freed = false;
    s.run_cycle();
  } while (!s.freed.empty() || s.quota_freed);

  if (!s.solve_awaited) {
    if (auto problem = s.policy->problem()) {
      s.solve_awaited = true;
      s.out.solves.push_back({++s.solves, std::move(problem)});
    }
  }
  for (const auto& [id, before] : s.turn.jobs) s.out.changed_jobs.push_back(id);
  for (const auto& [id, before] : s.turn.nodes) s.out.changed_nodes.push_back(id);
  std::sort(s.out.changed_jobs.begin(), s.out.changed_jobs.end());
  std::sort(s.out.changed_nodes.begin(), s.out.changed_nodes.end());
  if (!s.turn.empty()) s.journal.push_back(std::move(s.turn));
  if (s.options.verify == Verify::kEveryStep) {
    if (const auto broken = check_invariants()) {
      std::fprintf(stderr, "engine invariant broken: %s\n", broken->c_str());
      std::abort();
    }
  }
  return std::move(s.out);
}

Instant Engine::next_wake() const {
  return state_->timers.empty() ? Instant::never() : state_->timers.begin()->first;
}

const JobRecord* Engine::job(JobId id) const {
  const EngineJob* job = state_->find(id);
  return job == nullptr ? nullptr : &job->record;
}

std::vector<const JobRecord*> Engine::jobs() const {
  std::vector<const JobRecord*> all;
  all.reserve(state_->jobs.size());
  for (const auto& [id, job] : state_->jobs) all.push_back(&job.record);
  return all;
}

std::span<const NodeRecord> Engine::nodes() const { return state_->cluster.records(); }
NodeRoom Engine::room(NodeId node) const { return state_->cluster.room(node); }
std::vector<QueueSpec> Engine::queues() const { return state_->queues.specs(); }

QueueUsage Engine::usage(std::string_view queue) const {
  const auto id = state_->queues.find(queue);
  return id ? state_->queues.usage(*id) : QueueUsage{};
}

// --- Records and the journal ---

EngineJob* Engine::State::find(JobId id) {
  const auto it = jobs.find(id);
  return it == jobs.end() ? nullptr : &it->second;
}

void Engine::State::touch(EngineJob& job) {
  if (job.saved_in_turn == turn_number) return;
  job.saved_in_turn = turn_number;
  turn.jobs.emplace_back(job.record.id, job.record);
}

void Engine::State::touch_node(NodeId node) {
  for (const auto& [id, before] : turn.nodes) {
    if (id == node) return;
  }
  turn.nodes.emplace_back(node, cluster.record(node));
}

PendingKey Engine::State::key_of(const EngineJob& job) const {
  return {queues.spec(job.queue).priority, is_filler(job), job.record.spec->priority,
          job.record.id};
}

const Request& Engine::State::request_of(const EngineJob& job, std::uint32_t task) const {
  const auto& roles = job.record.spec->roles;
  for (std::size_t r = 0; r < roles.size(); ++r) {
    if (task < static_cast<std::uint32_t>(roles[r].count)) return *job.requests[r];
    task -= static_cast<std::uint32_t>(roles[r].count);
  }
  return *job.requests.back();
}

namespace {

bool waits_for_room(const JobRecord& record) {
  return record.state == JobState::kPending && !record.held && record.waits_for.empty();
}

}  // namespace

// Puts everything that follows from the record into the derived state.
void Engine::State::attach(EngineJob& job) {
  const JobRecord& record = job.record;
  job.queue = queues.intern(record.spec->queue);
  job.requests.clear();
  for (const Role& role : record.spec->roles) job.requests.push_back(&cluster.compile(role.each));
  for (std::uint32_t i = 0; i < record.tasks.size(); ++i) {
    if (holds_allocation(record.tasks[i].phase)) hold(job, i);
    if (!record.tasks[i].claim.node.is_none()) book_claim(job, i);
  }
  queues.count_jobs(job.queue, is_active(record.state), record.state == JobState::kPending);
  for (const DependencyRecord& edge : record.waits_for) children[edge.parent].push_back(record.id);
  if (has_claim(record)) {
    claiming.insert(key_of(job));
  } else if (waits_for_room(record)) {
    enter_queue(job);
  }
  set_timer(job);
}

void Engine::State::detach(EngineJob& job) {
  const JobRecord& record = job.record;
  leave_queue(job);
  claiming.erase(key_of(job));
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

// Newest first, so that each record ends as it was before the rejected turn.
void Engine::State::undo_from(std::uint64_t from) {
  while (!journal.empty() && journal.back().number >= from) {
    Turn undone = std::move(journal.back());
    journal.pop_back();
    for (auto it = undone.jobs.rbegin(); it != undone.jobs.rend(); ++it) {
      EngineJob* job = find(it->first);
      assert(job != nullptr);
      detach(*job);
      if (!it->second) jobs.erase(it->first);
    }
    for (auto it = undone.nodes.rbegin(); it != undone.nodes.rend(); ++it) {
      if (it->second) {
        cluster.put(*it->second);
        freed.push_back(it->first);
      } else {
        std::erase(freed, it->first);
        cluster.remove_last();
      }
    }
    for (auto it = undone.queues.rbegin(); it != undone.queues.rend(); ++it) {
      it->second ? queues.configure(*it->second) : queues.remove(it->first);
    }
    for (auto& [id, before] : undone.jobs) {
      if (!before) continue;
      EngineJob& job = jobs.at(id);
      job.record = std::move(*before);
      job.saved_in_turn = 0;
      attach(job);
    }
    random.restore(undone.random);
    std::erase_if(ended, [&](const auto& entry) { return entry.first == undone.number; });
  }
  quota_freed = true;
}

// The earliest of: its time limit, and the restarts that wait for their time.
void Engine::State::set_timer(EngineJob& job) {
  const JobRecord& record = job.record;
  Instant due = Instant::never();
  const bool runs = record.state == JobState::kStarting || record.state == JobState::kRunning;
  if (runs && !record.spec->time_limit.is_unlimited() && !record.started_at.is_never())
    due = record.started_at + record.spec->time_limit.bound();
  if (runs) {
    for (const TaskRecord& task : record.tasks) {
      if (task.phase == TaskPhase::kBackoff) due = std::min(due, task.not_before);
    }
  }
  if (due == job.timer) return;
  if (!job.timer.is_never()) timers.erase({job.timer, record.id});
  job.timer = due;
  if (!due.is_never()) timers.insert({due, record.id});
}

}  // namespace gridfold
