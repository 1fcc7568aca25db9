// The engine's inside: records, and everything derived from them. Not part of
// the interface; the files that it names share it.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "engine/cluster.h"
#include "engine/communication_cost.h"
#include "engine/domain_slots.h"
#include "engine/engine.h"
#include "engine/eviction_rights.h"
#include "engine/gang_placement.h"
#include "engine/group_kinds.h"
#include "engine/idle_devices.h"
#include "engine/job_table.h"
#include "engine/node_pools.h"
#include "engine/node_windows.h"
#include "engine/pending_key.h"
#include "engine/plans.h"
#include "engine/queue_tree.h"
#include "engine/request_axes.h"
#include "engine/rounds.h"
#include "engine/score_table.h"
#include "engine/turn.h"
#include "engine/turn_order.h"
#include "engine/victims.h"

namespace gridfold {

// Pending jobs that are interchangeable for fitting: same queue, same roles.
// When the first of them cannot start, none can: the whole group is parked on
// what would wake it, or its kind is shut.
struct PendingGroup {
  // kForPlans: it may be that a reservation is in the way, or that one was to be
  // had: looked at again when these change, and for room.
  // kForLength: within a cycle, until those that may be promised room had their
  // turn.
  enum class Parked : std::uint8_t { kNo, kForRoom, kForQuota, kForPlans, kForLength };
  QueueId queue;  // its place in the tree
  bool filler = false;
  std::vector<QueueTree::Ask> asks;  // by role, tasks = the role's count
  std::vector<std::int32_t> mins;    // by role
  std::set<PendingKey> jobs;
  std::uint32_t ask_number = 0;  // what it asks for, whatever its queue
  std::uint32_t run_class = 0;
  TurnOrder::Kind kind = TurnOrder::kAlone;  // while it is not parked
  // The last try was for some of the models that its tasks accept: quota that is
  // given back may let it go to others.
  bool narrowed = false;
  Parked parked = Parked::kNo;
  std::size_t parked_at = 0;  // while parked: its place among the parked groups
};

// What jobs of the same queue and the same roles share. Made once and kept,
// like the requests it names.
struct JobShape {
  std::vector<const Request*> requests;  // by role
  PendingGroup group;
};

struct EngineJob {
  JobRecord record;
  JobShape* shape = nullptr;
  QueueId queue = QueueId::none();
  // By role, what is looked for now: what it asks, which the shape has, or of the
  // models that it accepts those that its queue may still use (model_limits.cpp).
  std::span<const Request* const> requests;
  std::vector<const Request*> narrowed;
  PendingGroup* group = nullptr;  // the shape's, while it waits for room
  Instant timer = Instant::never();
  std::uint64_t saved_in_turn = 0;  // journalled already in this turn
  bool by_rounds = false;
  bool admitted = false;  // of an array with a limit: it may wait for room, or has it
  // What it has reported, while this engine lives.
  std::shared_ptr<const TrainingHistory> history;

  // Becomes as new, but keeps its memory, unless that is large.
  void forget();
};

struct Engine::State {
  State(EngineOptions o, Policies p)
      : options(o),
        policy(std::move(p.placement)),
        scores(cluster, *policy,
               {.tie_break = o.tie_break, .seed = o.seed, .index = o.placement_index}),
        domains(cluster, *policy),
        communication(cluster, o.fabric),
        gangs(cluster, domains, o.tie_break, o.seed, &communication),
        random(o.seed, "engine.ties"),
        plans(cluster, domains) {
    run_times = std::move(p.run_times);
    idle_forecast = std::move(p.idle);
    if (!idle_forecast && options.fillers.admission == FillerAdmission::kForecast)
      options.fillers.admission = FillerAdmission::kAny;
    plans.timeline.heed(windows);
    plans.ends.ask = [this](JobId job) { return expected_end(job); };
    rounds.policy = std::move(p.rounds);
    policy->prepare(cluster);
  }

  EngineOptions options;
  std::unique_ptr<PlacementPolicy> policy;
  Cluster cluster;
  NodeWindows windows{cluster};
  NodePools pools{cluster, options.max_backoff};
  ScoreTable scores;
  DomainSlots domains;
  CommunicationCost communication;
  GangPlacer gangs;
  std::map<TopologyWish, std::uint32_t> wishes;  // numbered, for the keys of shapes
  QueueTree queues{cluster};
  RandomStream random;

  // Records and their index. Ids only grow, so their order is submission.
  JobTable<EngineJob> jobs;
  std::map<std::vector<std::uint32_t>, std::unique_ptr<JobShape>> shapes;
  // Jobs may share their specification: the shapes of those seen lately, by
  // their address, which stays theirs while a weak pointer holds it.
  struct RecentShape {
    std::weak_ptr<const JobSpec> spec;
    JobShape* shape = nullptr;
    std::uint32_t run_class = 0;
  };
  std::unordered_map<const JobSpec*, RecentShape> recent_shapes;
  std::vector<PendingGroup*> parked;  // in no order
  // By request: whether a node of those freed has room for it, as of `asked`.
  struct Fit {
    std::uint64_t asked = 0;
    bool free = false;
    bool free_of_fillers = false;
  };
  std::vector<Fit> fits_freed;
  std::uint64_t asked_freed = 0;
  TurnOrder ready{queues};  // groups not parked
  GroupKinds kinds{ready};
  std::set<PendingKey> claiming;                 // jobs that room is promised to
  std::set<PendingKey> repairs;                  // of these, gangs to repair in this cycle
  std::map<JobId, std::vector<JobId>> children;  // by parent: jobs with an edge to it
  std::set<std::pair<Instant, JobId>> timers;
  std::map<NodeId, std::deque<Instant>> launch_failures;
  std::int64_t filler_holdings = 0;
  std::uint64_t solves = 0;             // handed out so far
  std::uint64_t awaited_plan = 0;       // which of them answers policy->problem(); 0: none
  std::uint64_t awaited_run_times = 0;  // and which run_times->problem()
  Rounds rounds;
  std::unique_ptr<RunTimes> run_times;          // may be null
  std::unique_ptr<IdleForecast> idle_forecast;  // null: fillers are not let in by it
  IdleDevices idle_devices{cluster};            // followed where fillers are let in by forecast
  Instant fillers_due = Instant::never();       // when those held back are looked at again
  std::vector<std::int64_t> noted_idle;         // by pool: what the forecast was told last
  Plans<PendingKey> plans;

  // This turn.
  Instant now{};
  std::uint64_t turn_number = 0;
  std::unique_ptr<Turn> turn = std::make_unique<Turn>();
  Decisions out;
  std::vector<NodeId> freed;            // nodes with more room than at the turn's start
  std::vector<RoomBound> freed_bounds;  // beside them, of wake_groups
  bool quota_freed = false;
  std::vector<NodeId> idle_due;  // of pools: without work for long enough, if still so

  Work work;

  std::deque<std::unique_ptr<Turn>> journal;           // not yet committed, oldest first
  std::vector<std::unique_ptr<Turn>> spare_turns;      // a few, emptied
  std::vector<std::pair<std::uint64_t, JobId>> ended;  // by turn: dropped on its commit
  std::vector<JobId> reported_jobs;  // what they said is stored with the next turn that stores

  // The policy has learned something: all scores are out of date.
  void forget_scores() {
    scores.forget_scores();
    domains.forget_scores();
  }

  // --- engine.cpp: records, journal ---
  EngineJob* find(JobId id);
  void touch(EngineJob& job);
  void commit_until(std::uint64_t turn);
  JobShape& shape_of(const JobRecord& record);
  void touch_node(NodeId node);
  void attach(EngineJob& job);
  void detach(EngineJob& job);
  void undo_from(std::uint64_t turn);
  void set_timer(EngineJob& job);
  std::optional<Duration> run_limit(const EngineJob& job) const;
  PendingKey key_of(const EngineJob& job) const;
  const Request& request_of(const EngineJob& job, std::uint32_t task) const;

  // --- lifecycle.cpp: what events and timers do to jobs, tasks and nodes ---
  void apply(const Event& event);
  void fire_timers();
  void task_lost(EngineJob& job, std::uint32_t task, Reason reason);
  void node_fault(NodeId node, const std::string& message);

  // --- job_states.cpp: from one state of a job to the next ---
  void launch(EngineJob& job, std::uint32_t task, std::int32_t feasible, std::int64_t score);
  void begin_stop(EngineJob& job, StopCause cause, Reason reason);
  void shed(EngineJob& job, std::span<const std::uint32_t> tasks, Reason reason);
  void settle(EngineJob& job);
  void end(EngineJob& job, JobState state, Reason reason);
  void change_state(EngineJob& job, JobState to, Reason reason);

  // --- allocations.cpp: what tasks hold and are promised ---
  void hold(EngineJob& job, std::uint32_t task);     // books its allocation
  void release(EngineJob& job, std::uint32_t task);  // frees it in the books
  void vacate(EngineJob& job, std::uint32_t task);   // it has left: release, and tell the policy
  void let_go(EngineJob& job, std::uint32_t task);
  void book_claim(EngineJob& job, std::uint32_t task);  // the claim on its record
  void unbook_claim(EngineJob& job, std::uint32_t task);
  void drop_claims(EngineJob& job);
  void begin_claiming(EngineJob& job);
  void end_claiming(EngineJob& job);

  // --- queue_changes.cpp: other configurations of the queues ---
  void save_queue(const std::string& name);
  void take_over(const QueueConfiguration& configuration);
  void configure_queues(std::span<const QueueChange> changes);

  // --- history.cpp: what is learned from jobs ---
  // Of a job that has come, and what its roles ask for; true when scores are to be
  // computed anew.
  bool tell_policy(const JobSpec& spec, std::span<const Request* const> requests);
  void learn_from(const std::vector<JobRecord>& ended);

  // --- arrays.cpp: so many jobs of an array at a time ---
  std::map<JobId, std::set<JobId>> arrays;  // with a limit: jobs not ended, by the first of all
  std::set<JobId> arrays_changed;
  void enter_array(EngineJob& job);
  void leave_array(EngineJob& job);
  void array_changes(const EngineJob& job);
  void follow_arrays();
  bool waits_for_array(const EngineJob& job) const;
  Reason array_reason(const EngineJob& job) const;

  // --- job_change.cpp: what a user changes about a job ---
  void change_job(const JobChangeRequested& change);
  void change_class(EngineJob& job, WorkloadClass to);
  void limit_array(const EngineJob& job, std::int32_t limit);

  // --- reports.cpp ---
  void take_report(EngineJob& job, std::uint32_t task, const TaskReport& report);
  // For the policy of the rounds; kept while this engine lives.
  void remember_report(EngineJob& job, const TaskReport& report);

  // --- schedule.cpp: the cycle ---
  void enter_queue(EngineJob& job);
  void leave_queue(EngineJob& job);
  struct Placed {
    std::uint32_t task = 0;
    Allocation allocation;
    WhyHere why;
  };
  struct Placement {
    std::vector<Placed> tasks;  // none: there is no room
    std::shared_ptr<const WhyDomain> why_domain = nullptr;
    // Of a step at just these places, and at the best of the others, where
    // places were weighed.
    std::optional<StepTime> expected = std::nullopt;
    std::optional<StepTime> otherwise = std::nullopt;
  };
  Cluster::Scratch room_without_fillers(NodeId node) const;
  bool fits_without_victims(const EngineJob& job, std::span<const NodeId> nodes) const;
  void wake_groups();
  Fit fit_on_freed(const Request& request, std::span<const Cluster::Scratch> reclaimable) const;
  void run_cycle();
  void fulfil_claims();
  std::vector<std::int64_t> wanted;  // of try_start by role, kept for its memory
  bool try_start(PendingGroup& group, EngineJob& job);
  // Whether each role by itself finds its minimum.
  bool has_slots(const EngineJob& job);
  // Groups set aside by a first job that goes by length (kForLength), by it.
  std::map<std::pair<PendingKey, Duration>, PendingGroup*, ShorterFirst> by_length;
  void try_ready();
  void start(EngineJob& job, const Placement& placement);
  TurnOrder::Kind kind_of(const PendingGroup& group);
  void enter_order(PendingGroup& group);
  void leave_order(PendingGroup& group, const PendingKey& first);
  void change_first(PendingGroup& group, const PendingKey& from);
  void regroup();
  void park(PendingGroup& group, PendingGroup::Parked why);
  void park_for_room(PendingGroup& group);
  void unpark(PendingGroup& group);
  void leave_parked(PendingGroup& group);
  bool found_no_room(const EngineJob& job) const;
  Placement place(EngineJob& job, const std::vector<std::int64_t>& target);
  void trim_to_multiples(const EngineJob& job, std::vector<Placed>& placed);
  Placement place_anywhere(EngineJob& job, const std::vector<std::int64_t>& target);

  // --- maintenance.cpp: windows in which nodes are closed ---
  void plan_windows(const std::vector<NodeWindow>& list);
  void follow_windows();
  // Until when the job would hold its place if it started now; now: it may be
  // stopped at any time.
  Instant lasts_until(const EngineJob& job) const;
  // Closes what is closed to the job, if it starts after so long a delay. To be
  // called before the job is placed; the end of the cycle undoes it.
  void look_ahead_for(const EngineJob& job, Duration delay = {});
  // So much later starts who waits for victims to leave, more or less.
  static constexpr Duration kVictimsTake = Duration::minutes(1);
  bool is_open_to(const EngineJob& job, NodeId node) const;
  Reason maintenance_of(const EngineJob& job, const std::vector<NodeId>& nodes) const;

  // --- boot.cpp: pools of nodes that are booted when work needs them ---
  struct Bootable {
    std::vector<NodeId> coming;  // boot already
    std::vector<NodeId> off;
    Duration takes{};  // the longest of their boots
  };
  void plan_pools(const std::vector<NodePool>& list);
  void set_power(NodeId node, NodePower power, std::int32_t failures);
  void boot(NodeId node, JobId job);
  void boot_failed(NodeId node);
  void give_node_back(NodeId node, ReleaseCause cause);
  void follow_boots();
  void give_idle_back();
  Bootable bootable_for(const EngineJob& job) const;
  std::vector<Placed> place_with(EngineJob& job, const Bootable& bootable, std::size_t count);
  // Earmarks room for the job on nodes that are up or will be, and has those
  // booted that are off; false if there are not enough.
  bool boot_for(EngineJob& job);
  bool is_still_promised(const EngineJob& job, NodeId node) const;
  std::optional<Reason> boot_reason(const EngineJob& job) const;
  Reason boot_failure_of(const std::vector<NodeId>& nodes) const;

  // --- repair.cpp: gangs that lost a node ---
  bool may_be_repaired(const EngineJob& job) const;
  Instant repair_until(const JobRecord& record) const;
  void keep_place(EngineJob& job, std::uint32_t task);
  void lift_claims(EngineJob& job);
  void put_claims_back(EngineJob& job);
  void end_repair(EngineJob& job);
  void give_up_repair(EngineJob& job);
  void forget_places(NodeId node);
  void gather_repairs();
  void repair_ahead_of(const PendingKey* fresh);
  bool repair(EngineJob& job);
  std::vector<EngineJob*> lift_claims_for(const EngineJob& by);
  bool may_take_claims(const EngineJob& by, const EngineJob& of) const;
  void keep_claims_left(const std::vector<EngineJob*>& lifted);
  std::int64_t missing_tasks(const EngineJob& job) const;
  Reason repair_reason(const EngineJob& job) const;

  // --- role_order.cpp: roles that start after others ---
  const Role* awaited_role(const EngineJob& job, std::uint32_t task) const;
  bool is_awaited(const EngineJob& job, std::uint32_t task) const;
  bool starts_later(const EngineJob& job, std::uint32_t task) const;
  void launch_followers(EngineJob& job);
  Instant role_deadline(const JobRecord& record) const;
  bool stop_if_role_is_down(EngineJob& job);
  std::optional<Reason> role_reason(const EngineJob& job) const;

  // --- fillers.cpp: who is let in ---
  void follow_idle();
  void note_idle();
  std::vector<std::int64_t> spare_devices();
  static std::int64_t least_devices(const EngineJob& job, std::uint16_t device_class);
  bool has_spare_for(const EngineJob& job, std::span<const std::int64_t> spare) const;
  std::optional<Reason> held_back(const EngineJob& job);
  Placement place_filler(EngineJob& job);
  void wake_held_back();

  // --- gang_schedule.cpp: jobs that are placed by the tree of domains ---
  bool goes_by_tree(const EngineJob& job);
  Placement place_by_tree(EngineJob& job, const std::vector<std::int64_t>& target);
  std::shared_ptr<const WhyDomain> in_words(const HomeChoice& home);

  // --- job_communication.cpp: what jobs send ---
  void note_expected(EngineJob& job, const Placement& placement);
  void begin_sending(const JobRecord& record);
  void end_sending(const JobRecord& record);

  // --- gang_reasons.cpp ---
  // What the job's topology has against its start, if anything.
  std::optional<Reason> topology_reason(const EngineJob& job);
  // By node: whether it lies in a domain in which the job's topology could be met
  // now. Empty where the topology asks for nothing.
  std::vector<bool> within_reach(const EngineJob& job);

  // --- model_limits.cpp ---
  std::vector<const Request*> within_models(const EngineJob& job,
                                            const std::vector<std::int64_t>& tasks);
  void narrow(EngineJob& job, std::vector<std::int64_t>& target);
  void narrow_to_plan(EngineJob& job);
  NodeId put_node(const NodeRecord& record);

  // --- node_limits.cpp ---
  LimitCount limit_on(const EngineJob& job, NodeId node, const Request& request,
                      std::span<const Axis> axes) const;

  // --- eviction_rights.cpp ---
  EvictionRight right_by_order(const EngineJob& by, const EngineJob& victim) const;
  EvictionRight right_to_evict(const EngineJob& by, const EngineJob& victim) const;
  bool may_evict_by_priority(const EngineJob& by) const;
  // Whether having been evicted may keep the job from being so again.
  bool may_be_safe(const EngineJob& job) const;

  // --- reclaim.cpp ---
  std::vector<QueueTree::Ask> least_asks(const EngineJob& job) const;
  bool may_reclaim(const EngineJob& by) const;
  EvictionRight right_to_reclaim(const EngineJob& by, const EngineJob& victim) const;
  bool leaves_guarantees(const EngineJob& by, std::span<const std::uint32_t> victims) const;
  using Accepts = std::function<bool(std::span<const std::uint32_t>)>;
  std::optional<VictimAnswer> find_victims_within_rights(const EngineJob& job,
                                                         const Accepts& keeps);

  // --- preempt.cpp ---
  // One task's holding, as it is off the books while a plan is tried out.
  struct Leaver {
    TaskId task;
    Allocation at;
    const Request* request = nullptr;
  };
  class Absence;
  VictimSearch victim_search{cluster, domains};
  VictimPool pool;              // of the plan being made; kept for their memory
  std::vector<Leaver> leavers;  // likewise: what leaves already
  std::vector<JobId> holders;   // likewise: who holds anything

  // Whether there may be someone whom the job has a right to stop.
  bool may_evict(const EngineJob& job) const;
  // Earmarks room of victims for the job and stops them; false if that is not
  // enough.
  bool preempt_for(EngineJob& job);
  bool evict_for(EngineJob& job);
  enum class Stop : std::uint8_t { kToWait, kToMove };
  void gather_victims(const std::function<bool(const EngineJob&)>& may_stop, Stop stop);
  void add_candidates(const EngineJob& job, Stop stop);
  std::optional<VictimAnswer> find_victims(
      const EngineJob& job, std::function<bool(std::span<const std::uint32_t>)> accepts);
  std::vector<Leaver> leaving_with(std::span<const std::uint32_t> victims) const;
  std::vector<Placed> place_without(EngineJob& job, std::span<const std::uint32_t> victims);
  std::optional<Reason> safe_victims(const EngineJob& job);
  void claim_places(EngineJob& job, const std::vector<Placed>& placed);
  void stop_victims(const EngineJob& by, std::span<const std::uint32_t> victims,
                    const std::set<JobId>& taken_back);
  void evict(EngineJob& job, Reason reason);

  // --- consolidate.cpp ---
  struct Moves {
    std::vector<Placed> own;                                    // of the job that gains
    std::vector<std::pair<JobId, std::vector<Placed>>> places;  // of each victim
  };
  std::deque<std::pair<std::uint64_t, Instant>> moves;  // of the last hour: turn and time
  std::int64_t moves_left();
  // Moves others so that the job finds room; false if that cannot be, or does
  // not pay.
  bool consolidate_for(EngineJob& job);
  Moves rehearse_moves(EngineJob& job, std::span<const std::uint32_t> victims);
  bool quota_allows_moves(EngineJob& job, const Moves& plan);
  void move_to(EngineJob& job, const std::vector<Placed>& places, const EngineJob& by);
  void wake_first_to_consolidate();

  // --- backfill.cpp: promises to jobs that wait ---
  Duration planned_run(const JobRecord& record) const;
  std::optional<Instant> expected_end(JobId job) const;
  void predict_run_time(JobRecord& record);
  void note_run_time(const JobRecord& record);
  std::uint32_t run_class(const JobRecord& record) const;
  Duration longer_run(const EngineJob& job, Duration ran) const;
  bool correct_run_times(const Reservation& plan);
  std::vector<PlanPart> parts_of(const EngineJob& job) const;
  bool keeps_reservation(const EngineJob& job) const;
  void enter_reserved(EngineJob& job);
  void leave_reserved(EngineJob& job);
  Reservation plan_for(const EngineJob& job);
  bool may_reserve(const EngineJob& job) const;
  bool goes_by_length(const EngineJob& job) const;
  bool reserve(EngineJob& job);
  bool takes_work(NodeId node, Instant at) const;
  bool is_there(const Reservation& plan) const;
  bool waits_for_nodes(const EngineJob& job);
  void move_reservation(EngineJob& job, Reservation plan);
  enum class Aside : std::uint8_t { kLower, kEqualAndLower };
  std::vector<JobId> set_aside(const EngineJob& job, Aside whose);
  void book_again(const std::vector<JobId>& aside);
  void take_back(const EngineJob& job, const Placement& placement);
  bool keeps_promises(const EngineJob& job, const Placement& placement, Duration delay);
  Placement bind_plan(EngineJob& job, const Reservation& plan);
  Placement place_beside(EngineJob& job, const std::vector<std::int64_t>& target,
                         const Reservation* plan);
  Placement place_within_promises(EngineJob& job, const std::vector<std::int64_t>& target,
                                  const Reservation* plan, Duration delay);
  bool start_or_reserve(PendingGroup& group, EngineJob& job, bool room);
  bool admit(EngineJob& job, std::vector<std::int64_t>& target);
  void replan_shaken();
  bool start_or_evict(EngineJob& job, const std::vector<std::int64_t>& target,
                      const Reservation& plan);
  void pull_forward();
  void start_due();
  static bool is_planned_with_care(const JobSpec& spec);
  void note_freed_for_plans();
  void start_ahead_of_plans();
  bool start_ahead_of_plan(EngineJob& job, std::span<const NodeId> freed_nodes);
  void follow_plans();
  void set_next_plan();
  void add_plan_reasons(const EngineJob& job, std::vector<Reason>& reasons) const;
  std::string_view basis_of(const Reservation& plan) const;

  // --- rounds.cpp: jobs that a policy decides about in rounds ---
  bool goes_by_rounds(const JobSpec& spec) const;
  bool may_move(const EngineJob& job) const;
  // Device-nanoseconds of the task's holding in this run.
  std::int64_t executed_ns(const EngineJob& job, std::uint32_t task) const;
  void hold_round();
  bool exceeds_limits(const EngineJob& job) const;
  RoundView round_view() const;
  void drop_stale_claims();
  void adopt_round(const RoundAnswer& answer);
  std::vector<RoundChange> changes_of(const RoundAnswer& answer);
  bool bind_changes(std::vector<RoundChange>& changes);
  std::optional<Reason> bind(RoundChange& change, std::map<NodeId, Cluster::Scratch>& books,
                             std::set<JobId>& doomed);
  std::optional<Reason> bind_tasks(RoundChange& change, std::int64_t tasks,
                                   std::map<NodeId, Cluster::Scratch>& books,
                                   std::set<JobId>& doomed);
  bool make_room(NodeId node, Cluster::Scratch& book, const Request& request,
                 const std::set<JobId>& doomed, std::vector<JobId>& victims);
  void evict_fillers_for(const RoundChange& change);
  void change_places(RoundChange& change);
  bool quota_allows(const EngineJob& job, std::int64_t tasks);
  // Of a pending job that waits for a round, at this place among its reasons,
  // behind what no waiting will change.
  void add_round_reasons(const EngineJob& job, std::vector<Reason>& reasons,
                         std::size_t place) const;

  // --- explain.cpp ---
  std::vector<Reason> room_reasons(const EngineJob& job);
};

// Whether the job has been started and has not ended.
inline bool is_active(JobState state) { return !is_terminal(state) && state != JobState::kPending; }

// Whether the job sends what it says that it exchanges.
inline bool is_sending(const JobRecord& record) {
  return record.spec->communication &&
         (record.state == JobState::kStarting || record.state == JobState::kRunning);
}

// Whether room is earmarked for the job.
inline bool has_claim(const JobRecord& record) {
  for (const TaskRecord& task : record.tasks) {
    if (!task.claim.node.is_none()) return true;
  }
  return false;
}

// A job that was lost through no fault of its own starts again, but a job that
// kills its node each time must not go round for ever.
inline constexpr std::int32_t kMaxLosses = 5;

// Whether a run that is lost with a node is followed by another.
inline bool goes_on_after_loss(const JobRecord& record) {
  const std::vector<RetryCause>& on = record.spec->retry.on;
  return record.losses < kMaxLosses &&
         std::find(on.begin(), on.end(), RetryCause::kNodeLost) != on.end();
}

// Whether the task has come to its own end: another run would do it once more.
inline bool has_ended(const TaskRecord& task) {
  return task.phase == TaskPhase::kDone ||
         (task.phase == TaskPhase::kCleaning && task.not_before.is_never());
}

// Whether what the task holds will be free before long, for others to have.
inline bool is_leaving(const JobRecord& record, const TaskRecord& task) {
  if (task.shed) return true;
  if (record.repairing) return false;
  return record.stopping != StopCause::kNone ||
         (task.phase == TaskPhase::kCleaning && task.not_before.is_never());
}

// Why a job ends whose parent ended in a way that its edge does not accept.
Reason never_met(const JobRecord& parent, DependencyCondition condition);

// Whether nothing but room keeps the job from starting.
inline bool waits_for_room(const JobRecord& record) {
  return record.state == JobState::kPending && !record.held && record.waits_for.empty();
}

// The number of the first job of its array.
inline JobId array_of(const JobRecord& record) {
  return JobId(record.id.value - static_cast<std::uint64_t>(record.spec->array_position));
}

// Whether the job gives its place back whenever others need it.
inline bool is_filler(const EngineJob& job) {
  return job.record.spec->workload_class == WorkloadClass::kFiller;
}

}  // namespace gridfold
