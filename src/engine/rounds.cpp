// Training jobs that a policy decides about in rounds. At each boundary the
// policy is given the state as a value; its plan comes back as an answer and is
// compared with what is held. Whoever stays is left alone. The others are
// stopped as for a checkpoint, their new places are claimed as exact devices,
// and they start there when the room is free.
//
// The world has moved on when the answer comes: what can no longer be had is
// left out with a reason, and decided in the next round.
#include "engine/rounds.h"

#include <algorithm>
#include <bit>

#include "base/planted.h"
#include "engine/device_fit.h"
#include "engine/state.h"

namespace gridfold {
namespace {

// Behind the last place, or as a part of it.
void append(std::vector<RoundPlace>& places, const RoundPlace& next) {
  if (next.tasks == 0) return;
  if (!places.empty() && places.back().node == next.node) {
    places.back().tasks += next.tasks;
  } else {
    places.push_back(next);
  }
}

// Of this run, in the order of its tasks.
std::vector<RoundPlace> places_of(const JobRecord& record) {
  std::vector<RoundPlace> places;
  for (const TaskRecord& task : record.tasks) {
    if (holds_allocation(task.phase)) append(places, {task.allocation.node, 1});
  }
  return places;
}

// No node twice in a row.
std::vector<RoundPlace> compact(const std::vector<RoundPlace>& given) {
  std::vector<RoundPlace> places;
  for (const RoundPlace& place : given) append(places, place);
  return places;
}

std::int64_t tasks_in(const std::vector<RoundPlace>& places) {
  std::int64_t tasks = 0;
  for (const RoundPlace& place : places) tasks += place.tasks;
  return tasks;
}

bool may_have(const Role& role, std::int64_t tasks) {
  return tasks == 0 || (tasks >= role.min && tasks <= role.count && tasks % role.multiple_of == 0);
}

Reason no_room(const NodeRecord& node) {
  return Reason(ReasonCode::kRoundMissed, {{"problem", "room"}, {"node", node.spec.name}});
}

// Devices that a job of the rounds could get, of the class and model of the
// node's first.
std::int32_t free_devices(const NodeRoom& room) {
  const auto& first = room.devices[0];
  std::int32_t free = 0;
  for (const DeviceRoom& device : room.devices) {
    free += device.usable && device.table == 0 && device.holders == 0 &&
            device.free_share == kWholeDevice.value && device.device_class == first.device_class &&
            device.model == first.model;
  }
  return free;
}

}  // namespace

std::shared_ptr<const SolveAnswer> RoundProblem::solve() const {
  if (!answer_) {
    auto answer = std::make_shared<RoundAnswer>();
    answer->plan = policy_->plan(view_);
    for (const RoundJob& job : view_.jobs) answer->viewed.push_back(job.id);
    steps_ = policy_->steps();
    answer_ = std::move(answer);
  }
  return answer_;
}

bool Engine::State::goes_by_rounds(const JobSpec& spec) const {
  if (spec.workload_class != WorkloadClass::kTrain || spec.roles.size() != 1) return false;
  const std::vector<DeviceRequest>& devices = spec.roles.front().each.devices;
  if (devices.size() != 1 || !devices.front().is_whole()) return false;
  if (devices.front().place != DevicePlace::kAny || !spec.topology.empty()) return false;
  return rounds.policy->takes(spec);
}

// Whether the next round may decide about the job.
bool Engine::State::may_move(const EngineJob& job) const {
  const JobRecord& record = job.record;
  if (!job.by_rounds || is_terminal(record.state) || record.held || !record.waits_for.empty())
    return false;
  if (record.stopping != StopCause::kNone || has_claim(record)) return false;
  return std::none_of(record.tasks.begin(), record.tasks.end(), [this](const TaskRecord& task) {
    return has_ended(task) ||
           (holds_allocation(task.phase) && !cluster.record(task.allocation.node).up);
  });
}

std::int64_t Engine::State::executed_ns(const EngineJob& job, std::uint32_t task) const {
  const Instant since = job.record.started_at;
  if (since.is_never() || since > now) return 0;
  return (now - since).ns * std::popcount(job.record.tasks[task].allocation.devices);
}

// --- Asking ---

// Boundaries are the multiples of the round's length; none is waited for while
// no job goes by rounds.
void Engine::State::hold_round() {
  Rounds& r = rounds;
  if (r.jobs.empty()) {
    r.due = Instant::never();
    return;
  }
  const std::int64_t length = r.policy->round().ns;
  if (r.due.is_never()) {
    const std::int64_t next = (now.ns + length - 1) / length;
    r.due = Instant{std::max(next, r.last + 1) * length};
  }
  if (r.due > now) return;
  r.last = now.ns / length;
  r.due = Instant{(r.last + 1) * length};
  if (r.awaited != 0) return;  // it is still thinking
  // At a start no node has been heard of yet: that says nothing of claims.
  const auto takes_tasks = [](const NodeRecord& node) { return node.up && !node.drained; };
  if (std::none_of(cluster.records().begin(), cluster.records().end(), takes_tasks)) {
    r.due = Instant::never();  // the next event may change that
    return;
  }
  drop_stale_claims();
  RoundView view = round_view();
  if (view.jobs.empty() || view.nodes.empty()) {
    r.due = Instant::never();  // the next event may change that
    return;
  }
  view.round = ++r.views;
  r.awaited = ++solves;
  out.solves.push_back({r.awaited, std::make_shared<RoundProblem>(r.policy, std::move(view))});
}

// Whether its queues will never let it have its minimum: then no share is to be
// kept for it.
bool Engine::State::exceeds_limits(const EngineJob& job) const {
  const QueueTree::Ask least{job.requests.front(), job.record.spec->roles.front().min};
  return queues.blocked(job.queue, {&least, 1}, QueueTree::Against::kLimit).has_value();
}

RoundView Engine::State::round_view() const {
  RoundView view;
  view.now = now;
  std::vector<std::size_t> index(cluster.size(), SIZE_MAX);
  for (std::uint32_t n = 0; n < cluster.size(); ++n) {
    const NodeId node(n);
    const std::vector<DeviceSpec>& devices = cluster.record(node).spec.devices;
    if (devices.empty() || !cluster.usable(node)) continue;
    index[n] = view.nodes.size();
    const std::int32_t free = filler_holdings > 0 ? free_devices(room_without_fillers(node).room())
                                                  : free_devices(cluster.room(node));
    view.nodes.push_back({node, devices.front().device_class, devices.front().model, free});
  }
  for (const JobId id : rounds.jobs) {
    const EngineJob& job = jobs.at(id);
    if (!may_move(job) || exceeds_limits(job)) continue;
    RoundJob seen;
    seen.id = id;
    seen.spec = job.record.spec;
    seen.submitted_at = job.record.submitted_at;
    seen.starts = job.record.runs;
    seen.executed_ns = job.record.executed_ns;
    seen.history = job.history;
    for (std::uint32_t i = 0; i < job.record.tasks.size(); ++i) {
      const TaskRecord& task = job.record.tasks[i];
      if (!holds_allocation(task.phase)) continue;
      seen.executed_ns += executed_ns(job, i);
      if (const std::size_t at = index[task.allocation.node.value]; at != SIZE_MAX)
        view.nodes[at].devices += std::popcount(task.allocation.devices);
    }
    for (const RoundPlace& place : places_of(job.record)) {
      if (index[place.node.value] != SIZE_MAX) seen.places.push_back(place);
    }
    view.jobs.push_back(std::move(seen));
  }
  return view;
}

// Claims that will not be fulfilled: on a node that takes no tasks, or of room
// that is free and may not be used, for nobody is on the way out any more. The
// next plan is made without them.
void Engine::State::drop_stale_claims() {
  bool leaving = false;
  std::vector<EngineJob*> claimants;
  for (const JobId id : rounds.jobs) {
    EngineJob& job = jobs.at(id);
    leaving |= job.record.stopping == StopCause::kResize;
    if (job.record.state == JobState::kPending && has_claim(job.record)) claimants.push_back(&job);
  }
  for (EngineJob* job : claimants) {
    std::map<NodeId, Cluster::Scratch> books;
    bool usable = true;
    bool free = true;
    for (const TaskRecord& task : job->record.tasks) {
      const Allocation& claim = task.claim;
      if (claim.node.is_none()) continue;
      usable &= cluster.usable(claim.node);
      const auto [book, fresh] = books.try_emplace(claim.node);
      if (fresh) cluster.actual(claim.node, book->second);
      const Request& request = *job->requests.front();
      free = free && Cluster::fits_exactly(book->second.room(), request, claim);
      if (free) Cluster::take_out(book->second, request, claim.devices, claim.start);
    }
    if (usable && (leaving || !free)) continue;
    touch(*job);
    drop_claims(*job);
  }
}

// --- Carrying out ---

void Engine::State::adopt_round(const RoundAnswer& answer) {
  std::vector<RoundChange> changes = changes_of(answer);
  while (!bind_changes(changes)) continue;
  // All that leaves first, so that what it leaves can be claimed.
  for (RoundChange& change : changes) {
    EngineJob& job = *change.job;
    // Who runs goes on as it is; who waits is told once what is in the way.
    if (change.missed && (change.from > 0 || job.record.reason == change.missed)) continue;
    touch(job);
    if (change.missed) {
      job.record.reason = change.missed;
      out.list.emplace_back(
          JobChanged{job.record.id, JobState::kPending, JobState::kPending, *change.missed});
    } else if (change.from > 0) {
      begin_stop(job, StopCause::kResize,
                 Reason(ReasonCode::kResized, {{"from", change.from}, {"to", change.to}}));
    }
  }
  for (RoundChange& change : changes) {
    if (!change.missed && change.to > 0) change_places(change);
  }
  for (RoundChange& change : changes) {
    if (!change.missed && !change.victims.empty()) evict_fillers_for(change);
  }
}

// What differs, in the order of the plan; those that are to wait come first.
std::vector<RoundChange> Engine::State::changes_of(const RoundAnswer& answer) {
  std::map<JobId, const RoundAssignment*> assigned;
  for (const RoundAssignment& assignment : answer.plan.assignments)
    assigned.emplace(assignment.job, &assignment);

  std::vector<RoundChange> changes;
  std::map<JobId, RoundChange> placed;
  for (const JobId id : answer.viewed) {
    EngineJob* job = find(id);
    if (job == nullptr || !may_move(*job)) continue;
    const auto found = assigned.find(id);
    RoundChange change;
    change.job = job;
    if (found != assigned.end()) change.places = compact(found->second->places);
    const std::vector<RoundPlace> held = places_of(job->record);
    if (change.places == held) continue;
    change.from = tasks_in(held);
    change.to = tasks_in(change.places);
    if (change.places.empty()) {
      changes.push_back(std::move(change));
    } else {
      placed.emplace(id, std::move(change));
    }
  }
  for (const RoundAssignment& assignment : answer.plan.assignments) {
    const auto found = placed.find(assignment.job);
    if (found == placed.end()) continue;
    changes.push_back(std::move(found->second));
    placed.erase(found);
  }
  return changes;
}

// Finds devices for every change, as if all that changes had left. False when
// a job that runs cannot have its new places: it stays, and all is bound anew.
bool Engine::State::bind_changes(std::vector<RoundChange>& changes) {
  std::map<NodeId, Cluster::Scratch> books;
  std::set<JobId> doomed;  // fillers
  const auto is_bound = [](const RoundChange& change) {
    return !change.missed || change.from == 0;
  };
  // Tasks of a running job, taken off (sign -1) or on.
  const auto charge = [this](const RoundChange& change, std::span<const Allocation> places,
                             int sign) {
    if (places.empty()) return;
    const QueueId queue = change.job->queue;
    for (const Allocation& at : places)
      queues.charge(queue, *change.job->requests.front(), at, sign);
    queues.count_jobs(queue, sign, 0);
  };
  const auto held = [](const RoundChange& change) {
    std::vector<Allocation> places;
    for (const TaskRecord& task : change.job->record.tasks) {
      if (holds_allocation(task.phase)) places.push_back(task.allocation);
    }
    return places;
  };
  for (const RoundChange& change : changes) {
    if (!is_bound(change)) continue;
    const std::vector<Allocation> places = held(change);
    charge(change, places, -1);
    for (const Allocation& at : places) {
      const auto [book, fresh] = books.try_emplace(at.node);
      if (fresh) cluster.planned(at.node, book->second);
      Cluster::add_back(book->second, *change.job->requests.front(), at.devices, at.start);
    }
  }
  bool done = true;
  std::vector<const RoundChange*> charged;
  for (RoundChange& change : changes) {
    if (!is_bound(change) || change.to == 0) continue;
    change.missed = bind(change, books, doomed);
    if (!change.missed) {
      charge(change, change.at, +1);
      charged.push_back(&change);
    } else if (change.from > 0) {
      charge(change, held(change), +1);
      done = false;
      break;
    }
  }
  for (const RoundChange* change : charged) charge(*change, change->at, -1);
  for (const RoundChange& change : changes) {
    if (is_bound(change)) charge(change, held(change), +1);
  }
  return done;
}

std::optional<Reason> Engine::State::bind(RoundChange& change,
                                          std::map<NodeId, Cluster::Scratch>& books,
                                          std::set<JobId>& doomed) {
  const EngineJob& job = *change.job;
  if (!may_have(job.record.spec->roles.front(), change.to) ||
      std::any_of(change.places.begin(), change.places.end(), [this](const RoundPlace& place) {
        return place.tasks < 0 || place.node.value >= cluster.size();
      })) {
    return Reason(ReasonCode::kRoundMissed, {{"problem", "number"}, {"tasks", change.to}});
  }
  if (!queues.exists(job.queue))
    return Reason(ReasonCode::kQueueClosed, {{"queue", job.record.spec->queue}});
  std::optional<Reason> missed;
  for (std::int64_t tasks = change.to; tasks > 0;) {
    missed = bind_tasks(change, tasks, books, doomed);
    if (!missed) break;
    // One that waits begins with fewer, rather than not at all.
    if (change.from > 0) return missed;
    do --tasks;
    while (tasks > 0 && !may_have(job.record.spec->roles.front(), tasks) &&
           !GRIDFOLD_PLANTED_BUG(round_cuts_gangs));
  }
  if (!missed) change.to = static_cast<std::int64_t>(change.at.size());
  return missed;
}

// The first so many of its tasks that find room.
std::optional<Reason> Engine::State::bind_tasks(RoundChange& change, std::int64_t tasks,
                                                std::map<NodeId, Cluster::Scratch>& books,
                                                std::set<JobId>& doomed) {
  const EngineJob& job = *change.job;
  const Request& request = *job.requests.front();
  change.at.clear();
  change.victims.clear();
  const QueueTree::Ask ask{&request, tasks};
  if (auto over = queues.blocked(job.queue, {&ask, 1}, QueueTree::Against::kFree)) return over;

  std::optional<Reason> missed;
  std::map<NodeId, Cluster::Scratch> taken;  // instead of `books`, once all is found
  for (const RoundPlace& place : change.places) {
    const auto [entry, fresh] = taken.try_emplace(place.node);
    Cluster::Scratch& book = entry->second;
    if (const auto known = books.find(place.node); fresh && known != books.end()) {
      book = known->second;
    } else if (fresh) {
      cluster.planned(place.node, book);
    }
    for (std::int32_t i = 0; i < place.tasks && tasks > 0; ++i) {
      if (!cluster.usable(place.node) ||
          !make_room(place.node, book, request, doomed, change.victims)) {
        missed = no_room(cluster.record(place.node));
        break;
      }
      --tasks;
      const std::uint64_t devices = policy->choose(book.room(), request).devices;
      change.at.push_back({place.node, devices});
      Cluster::take_out(book, request, devices, kNoPartition);
    }
  }
  if (tasks > 0) return missed;
  std::vector<QueueTree::Chosen> chosen;
  for (const Allocation& at : change.at) chosen.push_back({&request, at});
  if (auto over = queues.blocked_at(job.queue, chosen)) return over;
  for (auto& [node, book] : taken) books[node] = std::move(book);
  doomed.insert(change.victims.begin(), change.victims.end());
  return std::nullopt;
}

// Whether the task fits into the book, once the fewest fillers of the node have
// left it, those that lose least first; they are added to `victims`.
bool Engine::State::make_room(NodeId node, Cluster::Scratch& book, const Request& request,
                              const std::set<JobId>& doomed, std::vector<JobId>& victims) {
  if (fits(book.room(), request)) return true;
  if (filler_holdings == 0) return false;
  std::vector<std::pair<const Holding*, const JobRecord*>> fillers;
  for (const Holding& holding : cluster.holdings(node)) {
    const EngineJob& other = jobs.at(holding.job);
    const bool leaves = holding.leaves || doomed.count(holding.job) != 0 ||
                        std::find(victims.begin(), victims.end(), holding.job) != victims.end();
    if (is_filler(other) && !leaves) fillers.emplace_back(&holding, &other.record);
  }
  std::sort(fillers.begin(), fillers.end(), [](const auto& a, const auto& b) {
    const JobRecord& x = *a.second;
    const JobRecord& y = *b.second;
    if (x.spec->priority != y.spec->priority) return x.spec->priority < y.spec->priority;
    if (x.started_at != y.started_at) return x.started_at > y.started_at;
    return b.first->task() < a.first->task();
  });
  const Cluster::Scratch before = book;
  const auto request_of_holding = [this](const Holding& holding) -> const Request& {
    return cluster.request(holding.request);
  };
  std::size_t used = 0;
  while (!fits(book.room(), request) && used < fillers.size()) {
    const Holding& holding = *fillers[used++].first;
    Cluster::add_back(book, request_of_holding(holding), holding.devices, holding.start());
  }
  if (!fits(book.room(), request)) {
    book = before;
    return false;
  }
  // Who turns out not to be needed stays, the most valued first.
  for (std::size_t i = used; i-- > 0;) {
    const Holding& holding = *fillers[i].first;
    Cluster::take_out(book, request_of_holding(holding), holding.devices, holding.start());
    if (fits(book.room(), request)) continue;
    Cluster::add_back(book, request_of_holding(holding), holding.devices, holding.start());
    victims.push_back(holding.job);
  }
  return true;
}

void Engine::State::evict_fillers_for(const RoundChange& change) {
  std::vector<JobId> victims = change.victims;
  std::sort(victims.begin(), victims.end());
  victims.erase(std::unique(victims.begin(), victims.end()), victims.end());
  out.list.emplace_back(Preempted{change.job->record.id, victims});
  for (const JobId id : victims) {
    EngineJob& victim = jobs.at(id);
    touch(victim);
    begin_stop(victim, StopCause::kPreempt,
               Reason(ReasonCode::kPreempted, {{"by", change.job->record.uid}}));
  }
}

void Engine::State::change_places(RoundChange& change) {
  EngineJob& job = *change.job;
  for (std::uint32_t i = 0; i < change.at.size(); ++i) {
    job.record.tasks[i].claim = change.at[i];
    book_claim(job, i);
    freed.push_back(change.at[i].node);  // perhaps it can start at once
  }
  if (job.record.state == JobState::kPending) begin_claiming(job);
}

void Engine::State::add_round_reasons(const EngineJob& job, std::vector<Reason>& reasons,
                                      std::size_t place) const {
  const JobRecord& record = job.record;
  if (!job.by_rounds || record.held || !record.waits_for.empty() || has_claim(record)) return;
  while (place < reasons.size() && is_never(reasons[place].code)) ++place;
  std::vector<Reason> waits;
  if (!rounds.due.is_never())
    waits.emplace_back(ReasonCode::kWaitsForRound,
                       std::vector<Reason::Param>{{"at_ns", rounds.due.ns}});
  // What became of it in the last one.
  if (record.reason && (record.reason->code == ReasonCode::kResized ||
                        record.reason->code == ReasonCode::kRoundMissed))
    waits.push_back(*record.reason);
  reasons.insert(reasons.begin() + static_cast<std::ptrdiff_t>(place), waits.begin(), waits.end());
}

// Whether its queues bear so many tasks of the job now, beside what is held.
// What jobs of the rounds claim does not count: each of them is asked this when
// it starts.
bool Engine::State::quota_allows(const EngineJob& job, std::int64_t tasks) {
  if (!queues.has_limits(job.queue)) return true;
  const auto charge_claims = [this](int sign) {
    for (const JobId id : rounds.jobs) {
      const EngineJob& other = jobs.at(id);
      for (const TaskRecord& task : other.record.tasks) {
        if (!task.claim.node.is_none())
          queues.charge(other.queue, *other.requests.front(), task.claim, sign);
      }
      if (other.record.state == JobState::kPending && has_claim(other.record))
        queues.count_claiming(other.queue, sign);
    }
  };
  charge_claims(-1);
  const QueueTree::Ask ask{job.requests.front(), tasks};
  std::vector<QueueTree::Chosen> chosen;
  for (const TaskRecord& task : job.record.tasks) {
    if (!task.claim.node.is_none()) chosen.push_back({job.requests.front(), task.claim});
  }
  const bool allowed = !queues.blocked(job.queue, {&ask, 1}, QueueTree::Against::kFree) &&
                       !queues.blocked_at(job.queue, chosen);
  charge_claims(+1);
  return allowed;
}

}  // namespace gridfold
