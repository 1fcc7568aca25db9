// Jobs that have no room now are promised some later, and nobody who starts in
// the meantime makes them later.
//
// A reservation names nodes and a time. It moves only forward, when something
// ends early, and back when something lasts longer than was expected or nodes
// are lost: so where jobs keep to their limits, no promise is broken. Jobs of a
// higher priority come first: they are planned as if those of a lower one had no
// reservation.
//
// Fillers have no reservation and stand in nobody's way: they are not counted
// among what is held, since they give it back.
#include <algorithm>
#include <bit>
#include <utility>

#include "base/planted.h"
#include "engine/device_fit.h"
#include "engine/state.h"

namespace gridfold {
namespace {

// A task that should have ended may still be stopping or clearing up. So long
// the job that was promised its room waits for it there; then it counts as held
// for as long again, and others are promised something else.
constexpr Duration kPatience = Duration::seconds(60);
// When reservations replaced by others must be replaced in turn: at most so
// often in one cycle.
constexpr int kMostRounds = 8;
// What is expected of a job that goes on is put off by at least so much.
constexpr Duration kLeastLonger = Duration::seconds(10);

// The classes and models of devices that the requests name.
using DeviceKinds = std::set<std::pair<std::uint16_t, std::vector<std::uint16_t>>>;
DeviceKinds kinds_of(std::span<const Request* const> requests) {
  DeviceKinds kinds;
  for (const Request* request : requests) {
    for (const DeviceNeed& need : request->devices) kinds.emplace(need.device_class, need.models);
  }
  return kinds;
}

}  // namespace

// --- How long ---

Duration Engine::State::planned_run(const JobRecord& record) const {
  Duration run = kForEver;
  const auto queue = queues.find(record.spec->queue);
  if (!record.spec->time_limit.is_unlimited()) {
    run = record.spec->time_limit.bound();
  } else if (!options.backfill.default_run.is_unlimited()) {
    run = options.backfill.default_run.bound();
  }
  if (queue && !queues.spec(*queue).longest_run.is_unlimited())
    run = std::min(run, queues.spec(*queue).longest_run.bound());
  if (record.expected_run.ns > 0) run = std::min(run, record.expected_run);
  return std::max(run, Duration::nanoseconds(1));
}

std::optional<Instant> Engine::State::expected_end(JobId id) const {
  const EngineJob* job = jobs.find(id);
  if (job == nullptr) return Instant::never();
  if (is_filler(*job)) return std::nullopt;
  const JobRecord& record = job->record;
  if (record.repairing && claiming.count(key_of(*job)) != 0) return repair_until(record);
  const Instant start = record.started_at.is_never() ? now : record.started_at;
  const Instant end = end_of(start, planned_run(record));
  const Duration patience = kPatience + record.spec->effective_stop().grace;
  return end < now && now - end > patience ? now + patience : end;
}

void Engine::State::predict_run_time(JobRecord& record) {
  if (!run_times) return;
  const std::optional<Duration> run = run_times->predict(*record.spec, Duration{});
  if (run) record.expected_run = std::max(*run, Duration::nanoseconds(1));
}

// Of a job that has ended for good.
void Engine::State::note_run_time(const JobRecord& record) {
  if (!run_times || record.started_at.is_never() || record.state == JobState::kCancelled) return;
  run_times->observe(*record.spec, record.ended_at - record.started_at);
}

// Jobs with the same run time, within a hundredth, are tried together.
std::uint32_t Engine::State::run_class(const JobRecord& record) const {
  if (options.backfill.mode == BackfillMode::kNone && windows.empty()) return 0;
  const auto run = static_cast<std::uint64_t>(planned_run(record).ns);
  const int shift = std::max(static_cast<int>(std::bit_width(run)) - 8, 0);
  return static_cast<std::uint32_t>(shift * 256 + static_cast<int>(run >> shift) + 1);
}

// How long a job that has outlasted what was thought may take in all: as history
// has it, else half as long again.
Duration Engine::State::longer_run(const EngineJob& job, Duration ran) const {
  std::optional<Duration> known;
  if (run_times) known = run_times->predict(*job.record.spec, ran);
  const Duration longer = known ? std::max(*known, ran + kLeastLonger)
                                : ran + std::max(Duration{ran.ns / 2}, Duration::minutes(1));
  const auto limit = run_limit(job);
  return limit ? std::min(longer, *limit) : longer;
}

// Of jobs on these nodes that run longer than was thought; true when there are
// any.
bool Engine::State::correct_run_times(const Reservation& plan) {
  std::set<JobId> late;
  for (const ReservedSeat& seat : plan.seats) {
    for (const Holding& holding : cluster.holdings(seat.node)) late.insert(holding.job);
  }
  bool any = false;
  for (const JobId id : late) {
    EngineJob& job = jobs.at(id);
    JobRecord& record = job.record;
    if (record.expected_run.ns == 0 || record.stopping != StopCause::kNone) continue;
    if (record.started_at.is_never() || record.started_at + record.expected_run > now) continue;
    const Duration ran = now - record.started_at;
    const Duration longer = longer_run(job, ran);
    if (longer <= ran) continue;  // its limit ends it now
    touch(job);
    record.expected_run = longer;
    for (const TaskRecord& task : record.tasks) {
      if (holds_allocation(task.phase)) plans.timeline.touch(task.allocation.node);
    }
    any = true;
  }
  return any;
}

// --- Reservations ---

std::vector<PlanPart> Engine::State::parts_of(const EngineJob& job) const {
  std::vector<PlanPart> parts;
  for (std::size_t r = 0; r < job.requests.size(); ++r)
    parts.push_back({job.requests[r], job.record.spec->roles[r].min});
  return parts;
}

// Not one of a record that was written by a daemon which backfilled, or is damaged.
bool Engine::State::keeps_reservation(const EngineJob& job) const {
  const auto& plan = job.record.reservation;
  if (!plan || options.backfill.mode == BackfillMode::kNone) return false;
  std::vector<std::int64_t> tasks(job.requests.size(), 0);
  for (const ReservedSeat& seat : plan->seats) {
    if (seat.role >= tasks.size() || seat.tasks < 1 || seat.node.value >= cluster.size())
      return false;
    tasks[seat.role] += seat.tasks;
  }
  const auto& roles = job.record.spec->roles;
  return std::equal(tasks.begin(), tasks.end(), roles.begin(), roles.end(),
                    [](std::int64_t seated, const Role& role) { return seated == role.min; });
}

void Engine::State::enter_reserved(EngineJob& job) {
  if (is_planned_with_care(*job.record.spec)) plans.careful.insert(key_of(job));
  plans.timeline.follow(now);
  plans.timeline.book(job.record.id, *job.record.reservation, parts_of(job));
  plans.reserved.insert(key_of(job));
}

void Engine::State::leave_reserved(EngineJob& job) {
  plans.timeline.unbook(job.record.id);
  plans.reserved.erase(key_of(job));
  plans.careful.erase(key_of(job));
  plans.over_quota.erase(key_of(job));
  if (!GRIDFOLD_PLANTED_BUG(promise_outlives_its_job)) job.record.reservation.reset();
  plans.changed = true;
}

// The earliest plan. One that would begin now although the room is still held
// shows that some jobs run longer than was thought.
Reservation Engine::State::plan_for(const EngineJob& job) {
  const std::vector<PlanPart> parts = parts_of(job);
  const PlanAsk ask{parts, &job.record.spec->topology, planned_run(job.record)};
  Reservation plan;
  for (int round = 0; round < kMostRounds; ++round) {
    plans.timeline.follow(now);
    plan = plans.timeline.plan(ask);
    if (plan.start > now) break;
    const bool is_free =
        std::all_of(plan.seats.begin(), plan.seats.end(), [&](const ReservedSeat& seat) {
          return slots(cluster.room(seat.node), *parts[seat.role].request) >= seat.tasks;
        });
    if (is_free || !correct_run_times(plan)) break;
  }
  return plan;
}

// Whether the job can only be backfilled, and the shortest of such go first.
bool Engine::State::goes_by_length(const EngineJob& job) const {
  return options.backfill.mode != BackfillMode::kNone &&
         options.backfill.order == BackfillOrder::kShortest && !plans.reserved.empty() &&
         !may_reserve(job);
}

// In easy mode who waits for one kind of device is not in the way of who waits
// for another (N06).
bool Engine::State::may_reserve(const EngineJob& job) const {
  if (options.backfill.mode == BackfillMode::kConservative)
    return plans.reserved.size() < options.backfill.most();
  const auto same_kinds = [&](const PendingKey& key) {
    const EngineJob& other = jobs.at(key.job);
    return kinds_of(job.requests) == kinds_of(other.requests);
  };
  const auto alike = std::count_if(plans.reserved.begin(), plans.reserved.end(), same_kinds);
  return static_cast<std::size_t>(alike) < options.backfill.most();
}

// A reservation for a job that has none, if one can be had; it leaves its group.
bool Engine::State::reserve(EngineJob& job) {
  if (!may_reserve(job)) return false;
  plans.timeline.follow(now);
  Reservation plan = plan_for(job);
  if (plan.start.is_never()) return false;
  touch(job);
  leave_queue(job);
  job.record.reservation = std::move(plan);
  enter_reserved(job);
  return true;
}

// Whether the node takes work at that time: after a start of the daemon nodes are
// not up at once.
bool Engine::State::takes_work(NodeId node, Instant at) const {
  const auto spans = windows.spans(node);
  return cluster.in_service(node) &&
         std::none_of(spans.begin(), spans.end(), [at](const NodeWindows::Span& span) {
           return span.from <= at && at < span.until;
         });
}

bool Engine::State::is_there(const Reservation& plan) const {
  const Instant start = std::max(now, plan.start);
  return std::all_of(plan.seats.begin(), plan.seats.end(),
                     [&](const ReservedSeat& seat) { return takes_work(seat.node, start); });
}

// Whether it is only a matter of nodes that are away that the job's reservation,
// which is not booked now, cannot be had: on the others it still has its room.
bool Engine::State::waits_for_nodes(const EngineJob& job) {
  Reservation there = *job.record.reservation;
  const Instant start = std::max(now, there.start);
  const auto away = std::erase_if(
      there.seats, [&](const ReservedSeat& seat) { return !takes_work(seat.node, start); });
  return away > 0 && plans.timeline.fits(there, parts_of(job));
}

// Puts a plan in place of the job's reservation, which is not booked now. Without
// a plan it keeps what it had, if that is only a matter of nodes that are away.
void Engine::State::move_reservation(EngineJob& job, Reservation plan) {
  if (plan.start.is_never() && waits_for_nodes(job)) plan = *job.record.reservation;
  if (plan.start.is_never()) {
    touch(job);
    leave_reserved(job);
    return enter_queue(job);
  }
  if (!(plan == *job.record.reservation)) {
    touch(job);
    job.record.reservation = std::move(plan);
    plans.changed = true;
  }
  plans.timeline.book(job.record.id, *job.record.reservation, parts_of(job));
}

// Of jobs of lower priority, or of this one's as well, while it is looked at.
std::vector<JobId> Engine::State::set_aside(const EngineJob& job, Aside whose) {
  std::vector<JobId> aside;
  const PendingKey mine = key_of(job);
  const auto goes = [&](const PendingKey& key) {
    return whose == Aside::kLower ? is_lower(key, mine) : !is_lower(mine, key);
  };
  for (auto it = plans.reserved.rbegin(); it != plans.reserved.rend() && goes(*it); ++it) {
    aside.push_back(it->job);
    plans.timeline.unbook(it->job);
  }
  std::reverse(aside.begin(), aside.end());
  return aside;
}

// In their order: at their old place where it is still theirs, else anew.
void Engine::State::book_again(const std::vector<JobId>& aside) {
  if (aside.empty()) return;
  plans.timeline.follow(now);
  for (const JobId id : aside) {
    EngineJob& job = jobs.at(id);
    if (!job.record.reservation) continue;
    narrow_to_plan(job);
    if (plans.timeline.fits(*job.record.reservation, parts_of(job))) {
      move_reservation(job, *job.record.reservation);
      continue;
    }
    Reservation plan = plan_for(job);
    move_reservation(job, std::move(plan));
  }
}

// --- Starting beside reservations ---

void Engine::State::take_back(const EngineJob& job, const Placement& placement) {
  for (auto it = placement.tasks.rbegin(); it != placement.tasks.rend(); ++it)
    cluster.give_back(it->allocation.node, {job.record.id, it->task});
}

// Whether nothing that is promised becomes later by it, should it start so much
// later. The books hold it.
bool Engine::State::keeps_promises(const EngineJob& job, const Placement& placement,
                                   Duration delay) {
  if (plans.reserved.empty() || is_filler(job)) return true;
  plans.timeline.follow(now);
  const Instant until = end_of(end_of(now, planned_run(job.record)), delay);
  return std::none_of(placement.tasks.begin(), placement.tasks.end(), [&](const Placed& at) {
    return plans.timeline.is_overbooked(at.allocation.node, until);
  });
}

// Binds devices on the plan's nodes; nothing when they are not all there yet.
Engine::State::Placement Engine::State::bind_plan(EngineJob& job, const Reservation& plan) {
  Placement placement;
  std::uint32_t first = 0;
  std::uint32_t role = 0;
  std::uint32_t task = 0;
  for (const ReservedSeat& seat : plan.seats) {
    for (; role < seat.role; ++role) {
      first += static_cast<std::uint32_t>(job.record.spec->roles[role].count);
      task = first;
    }
    const Request& request = *job.requests[role];
    for (std::int32_t i = 0; i < seat.tasks; ++i, ++task) {
      const NodeRoom room = cluster.room(seat.node);
      if (!cluster.usable(seat.node) || !fits(room, request)) {
        take_back(job, placement);
        return {};
      }
      const Choice choice = policy->choose(room, request);
      const Allocation at{seat.node, choice.devices, choose_start(room, request, choice.devices)};
      cluster.take(at, {job.record.id, task}, request);
      WhyHere why{DecidedBy::kPlan};
      why.score = choice.score;
      placement.tasks.push_back({task, at, why});
    }
  }
  return placement;
}

// Where the policy would have it, if that keeps all promises, else where the
// plan is. The job's own reservation is not booked.
Engine::State::Placement Engine::State::place_beside(EngineJob& job,
                                                     const std::vector<std::int64_t>& target,
                                                     const Reservation* plan) {
  look_ahead_for(job);
  return place_within_promises(job, target, plan, {});
}

Engine::State::Placement Engine::State::place_within_promises(
    EngineJob& job, const std::vector<std::int64_t>& target, const Reservation* plan,
    Duration delay) {
  // What a trial takes and gives back is no news.
  const std::set<JobId> shaken = plans.timeline.shaken();
  const bool had_gained = plans.timeline.has_gained();
  Placement placement = place(job, target);
  const bool kept = !placement.tasks.empty() && keeps_promises(job, placement, delay);
  if (!placement.tasks.empty() && !kept) take_back(job, placement);
  if (!kept) {
    placement = {};
    plans.timeline.follow(now);
    if (plan != nullptr) {
      placement = bind_plan(job, *plan);
    } else if (!plans.reserved.empty()) {
      const Reservation own = plan_for(job);
      if (own.start <= now) placement = bind_plan(job, own);
    }
  }
  plans.timeline.shaken() = shaken;
  if (!had_gained) plans.timeline.forget_gain();
  return placement;
}

// The job of a group whose turn it is: it starts, is promised room, or waits.
bool Engine::State::start_or_reserve(PendingGroup& group, EngineJob& job, bool room) {
  const std::vector<JobId> aside = set_aside(job, Aside::kLower);
  bool done = false;
  if (room) {
    plans.timeline.follow(now);
    const Placement placement = place_beside(job, wanted, nullptr);
    done = !placement.tasks.empty();
    if (done) start(job, placement);
  }
  if (!done && (filler_holdings > 0 || may_reclaim(job))) done = preempt_for(job);
  if (!done) done = boot_for(job);
  if (!done && !is_filler(job)) done = reserve(job);
  if (!done) park_for_room(group);
  book_again(aside);
  return done;
}

// --- Each cycle ---

// Those whose places are not free any more when they were to be.
void Engine::State::replan_shaken() {
  for (int round = 0; round < kMostRounds && !plans.timeline.shaken().empty(); ++round) {
    std::set<PendingKey> keys;
    for (const JobId id : plans.timeline.shaken()) keys.insert(key_of(jobs.at(id)));
    std::vector<JobId> order;
    for (const PendingKey& key : keys) {
      order.push_back(key.job);
      plans.timeline.unbook(key.job);
    }
    plans.timeline.shaken().clear();
    book_again(order);
  }
  plans.timeline.shaken().clear();
}

// A job whose plan begins now; its reservation is not booked.
bool Engine::State::start_or_evict(EngineJob& job, const std::vector<std::int64_t>& target,
                                   const Reservation& plan) {
  const Placement placement = place_beside(job, target, &plan);
  if (placement.tasks.empty()) return (filler_holdings > 0 || may_reclaim(job)) && preempt_for(job);
  start(job, placement);
  return true;
}

// Something ended early: each may have it, in their order, and begin earlier.
void Engine::State::pull_forward() {
  if (!plans.timeline.has_gained()) return;
  const std::vector<PendingKey> keys(plans.reserved.begin(), plans.reserved.end());
  std::vector<std::int64_t> target;
  for (const PendingKey& key : keys) {
    repair_ahead_of(&key);
    EngineJob& job = jobs.at(key.job);
    if (!job.record.reservation) continue;
    const Reservation old = *job.record.reservation;
    if (old.start <= now) continue;
    plans.timeline.unbook(key.job);
    narrow_to_plan(job);
    Reservation plan = plan_for(job);
    if (plan.start <= now && admit(job, target) && start_or_evict(job, target, plan)) continue;
    const bool is_earlier = plan.start < old.start;
    const bool still_fits = is_earlier || plans.timeline.fits(old, parts_of(job));
    move_reservation(job, is_earlier || !still_fits ? std::move(plan) : old);
  }
  plans.timeline.forget_gain();
}

// Whether its plan may be later than need be: see slot_need.h and timeline.h.
bool Engine::State::is_planned_with_care(const JobSpec& spec) {
  const auto with_care = [](const Role& role) {
    const std::vector<DeviceRequest>& devices = role.each.devices;
    return devices.size() > 1 ||
           std::any_of(devices.begin(), devices.end(), [](const DeviceRequest& group) {
             return !group.is_whole() || group.place != DevicePlace::kAny;
           });
  };
  return spec.roles.size() > 1 || spec.topology.segments || !spec.topology.spread.empty() ||
         with_care(spec.roles.front());
}

void Engine::State::note_freed_for_plans() {
  if (plans.careful.empty()) return;
  plans.freed.insert(plans.freed.end(), freed.begin(), freed.end());
  plans.quota_freed |= quota_freed;
}

// Jobs that find room which by the plans is still in use, or could have that of
// fillers.
void Engine::State::start_ahead_of_plans() {
  std::vector<NodeId> nodes = std::exchange(plans.freed, {});
  const bool quota = std::exchange(plans.quota_freed, false);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::vector<NodeId> all;
  if (quota && !plans.over_quota.empty()) {
    for (std::uint32_t n = 0; n < cluster.size(); ++n) all.emplace_back(n);
  }
  const std::vector<PendingKey> keys(plans.careful.begin(), plans.careful.end());
  for (const PendingKey& key : keys) {
    const bool anywhere = quota && plans.over_quota.count(key) != 0;
    if (!anywhere && nodes.empty()) continue;
    EngineJob& job = jobs.at(key.job);
    if (!job.record.reservation) continue;
    start_ahead_of_plan(job, anywhere ? all : nodes);
  }
}

bool Engine::State::start_ahead_of_plan(EngineJob& job, std::span<const NodeId> freed_nodes) {
  look_ahead_for(job);
  const bool room = has_slots(job);
  const bool reclaimable =
      (filler_holdings > 0 || may_reclaim(job)) && fits_without_victims(job, freed_nodes);
  if (!room && !reclaimable) return false;
  std::vector<std::int64_t> target;
  if (!admit(job, target)) {
    plans.over_quota.insert(key_of(job));
    return false;
  }
  plans.over_quota.erase(key_of(job));
  plans.timeline.unbook(job.record.id);
  const Placement placement = room ? place_beside(job, target, nullptr) : Placement{};
  if (!placement.tasks.empty()) {
    start(job, placement);
    return true;
  }
  if (reclaimable && preempt_for(job)) return true;
  book_again({job.record.id});
  return false;
}

// Those whose time has come.
void Engine::State::start_due() {
  std::vector<PendingKey> due_jobs;
  for (const PendingKey& key : plans.reserved) {
    if (jobs.at(key.job).record.reservation->start <= now) due_jobs.push_back(key);
  }
  std::vector<std::int64_t> target;
  for (const PendingKey& key : due_jobs) {
    repair_ahead_of(&key);
    EngineJob& job = jobs.at(key.job);
    if (!job.record.reservation || job.record.reservation->start > now) continue;
    if (!admit(job, target)) {  // its room is not kept for a quota that others have
      touch(job);
      leave_reserved(job);
      enter_queue(job);
      continue;
    }
    const Reservation due = *job.record.reservation;
    plans.timeline.unbook(key.job);
    if (start_or_evict(job, target, due)) continue;
    bool late = correct_run_times(due);
    for (const ReservedSeat& seat : due.seats) {
      if (now - due.start > kPatience) plans.timeline.touch(seat.node);
    }
    late |= !plans.timeline.fits(due, parts_of(job));
    Reservation plan = late ? plan_for(job) : due;
    move_reservation(job, std::move(plan));
  }
}

void Engine::State::follow_plans() {
  if (options.backfill.mode == BackfillMode::kNone) return;
  if (!plans.reserved.empty()) {
    plans.timeline.follow(now);
    replan_shaken();
    start_due();
    start_ahead_of_plans();
    pull_forward();
    replan_shaken();
  }
  if (!plans.changed) return;
  plans.changed = false;
  for (std::size_t i = parked.size(); i-- > 0;) {
    if (parked[i]->parked == PendingGroup::Parked::kForPlans) unpark(*parked[i]);
  }
  while (!ready.shut_kinds().empty()) ready.open(ready.shut_kinds().back());
}

void Engine::State::set_next_plan() {
  plans.next = Instant::never();
  for (const PendingKey& key : plans.reserved) {
    const Reservation& reservation = *jobs.at(key.job).record.reservation;
    const bool is_due = reservation.start <= now;
    if (is_due && !is_there(reservation)) continue;  // its nodes will be heard of
    plans.next = std::min(plans.next, is_due ? now + kPatience : reservation.start);
  }
}

// --- What is said of it ---

// The least certain of what the jobs on its nodes are expected to do.
std::string_view Engine::State::basis_of(const Reservation& plan) const {
  std::string_view basis = "limit";
  for (const ReservedSeat& seat : plan.seats) {
    for (const Holding& holding : cluster.holdings(seat.node)) {
      const JobRecord& other = jobs.at(holding.job).record;
      if (other.expected_run.ns > 0) return "history";
      if (other.spec->time_limit.is_unlimited()) basis = "default";
    }
  }
  return basis;
}

void Engine::State::add_plan_reasons(const EngineJob& job, std::vector<Reason>& reasons) const {
  if (const auto& plan = job.record.reservation) {
    std::set<NodeId> nodes;
    for (const ReservedSeat& seat : plan->seats) nodes.insert(seat.node);
    reasons.emplace_back(
        ReasonCode::kReserved,
        std::vector<Reason::Param>{{"at_ns", plan->start.ns},
                                   {"nodes", static_cast<std::int64_t>(nodes.size())},
                                   {"basis", std::string(basis_of(*plan))}});
    return;
  }
  if (!reasons.empty() || !found_no_room(job) || plans.reserved.empty()) return;
  // The first of those that want the same devices.
  const auto rival =
      std::find_if(plans.reserved.begin(), plans.reserved.end(), [&](const PendingKey& key) {
        return kinds_of(jobs.at(key.job).requests) == kinds_of(job.requests);
      });
  const PendingKey& named = rival != plans.reserved.end() ? *rival : *plans.reserved.begin();
  const JobRecord& first = jobs.at(named.job).record;
  reasons.emplace_back(
      ReasonCode::kWouldDelayReservation,
      std::vector<Reason::Param>{{"job", first.uid}, {"at_ns", first.reservation->start.ns}});
}

}  // namespace gridfold
