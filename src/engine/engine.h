// The engine: a pure state machine that decides which job runs where and when.
//
//   Engine engine(options, make_policy("fgd", …));
//   const Decisions& decisions = engine.step(now, events);
//
// Time, ids and randomness come in, decisions with reasons go out; the same
// input gives the same decisions, byte for byte. It never executes anything.
//
// One step: apply events -> wake what they may have unblocked -> for each
// pending job in order: admit -> filter -> score -> place the gang whole on
// the room that is left, or earmark the room of fillers -> decisions.
//
// Decisions are tentative until TurnCommitted comes back; TurnRejected undoes
// the turn and those after it. One thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/backfill_options.h"
#include "engine/cluster.h"
#include "engine/filler_options.h"
#include "engine/idle_forecast.h"
#include "engine/placement.h"
#include "engine/placement_options.h"
#include "engine/round_policy.h"
#include "engine/run_times.h"
#include "model/decision.h"
#include "model/event.h"
#include "model/node_limits.h"

namespace gridfold {

// Whether every step ends with a recount of all derived state (and aborts on a
// difference): for tests, since it costs a look at every record.
enum class Verify : std::uint8_t { kOff, kEveryStep };

// What stopping a job costs, and how often it may be stopped.
struct EvictionOptions {
  // From a job's stop to where its next run works again.
  Duration restart_cost = Duration::seconds(30);
  // A job that was evicted may not be again before its next run has lasted as
  // long as the work that it lost then, and at least so long.
  Duration least_progress = Duration::minutes(10);
  // So often and no more. Both hold for work with rights to its place: a filler
  // has none, and only costs more the sooner it would be evicted again.
  std::int32_t max_evictions = 5;
  // Of a search for victims; beyond it the best set so far is taken.
  std::int64_t search_steps = 200'000;
};

// Moving work that can be moved, so that blocked jobs find room in one place.
enum class Consolidate : std::uint8_t { kOff, kOn };
struct ConsolidationOptions {
  Consolidate consolidate = Consolidate::kOff;
  // At most so many moves in an hour: the larger of a number and a share of the
  // jobs that run.
  std::int32_t moves_an_hour = 4;
  std::int32_t moved_per_cent_an_hour = 2;
  // A job that can start at once instead of later is worth its devices for so
  // long; moves that cost more are not made.
  Duration worth = Duration::minutes(10);
};

struct EngineOptions {
  std::uint64_t seed = 0;
  Verify verify = Verify::kOff;
  TieBreak tie_break = TieBreak::kLowestName;
  PlacementIndex placement_index = PlacementIndex::kTree;
  // A node with this many launch failures within the window is drained.
  std::int32_t launch_failures_to_drain = 2;
  Duration launch_failure_window = Duration::seconds(60);
  // For so long, from when it begins to wait, a gang that lost a node keeps the
  // places of its other tasks, and what it lost is found before fresh jobs of its
  // priority start; zero: it waits as others do.
  Duration gang_repair{};
  // Restarts in place wait backoff * 2^retries, at most this long.
  Duration max_backoff = Duration::minutes(5);
  // How the domains of each level are joined (topology/site_fabric.h checks it).
  std::vector<LevelLinks> fabric;
  BackfillOptions backfill;
  EvictionOptions eviction;
  ConsolidationOptions consolidation;
  FillerOptions fillers;
};

// What one queue holds.
struct QueueUsage {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  DeviceAmounts devices;  // by class, and by class and model
  // Where models have rates: by class, in thousandths of a work unit an hour.
  std::map<std::string, std::int64_t> work_units;
  std::int64_t running_jobs = 0;
  std::int64_t pending_jobs = 0;
  // Its dominant share by its weight, in millionths, where queues take turns.
  std::optional<std::int64_t> share;
};

// What decides: where jobs are placed when there is room, and, if there is one,
// a policy that decides in rounds about the training jobs that it takes.
struct Policies {
  std::unique_ptr<PlacementPolicy> placement;
  std::unique_ptr<RoundPolicy> rounds;
  std::unique_ptr<RunTimes> run_times;  // null: limits are all that is known
  std::unique_ptr<IdleForecast> idle;   // null: fillers are not let in by forecast

  template <std::derived_from<PlacementPolicy> Placement>
  Policies(std::unique_ptr<Placement> p, std::unique_ptr<RoundPolicy> r = nullptr)
      : placement(std::move(p)), rounds(std::move(r)) {}
};

class Engine {
 public:
  Engine(EngineOptions options, Policies policies);
  ~Engine();
  Engine(Engine&&) noexcept;

  // What it returns is valid until the next step.
  const Decisions& step(Instant now, std::span<const Event> events);

  // The next time at which step() has something to do without an event;
  // Instant::never() when nothing is timed.
  Instant next_wake() const;
  // When the policy of the rounds is asked next, at the earliest; never() while
  // there is nothing to ask it.
  Instant next_round() const;

  // --- Reading; valid until the next step ---

  // Null when there is no such job, or it has ended and its end is committed.
  const JobRecord* job(JobId id) const;
  // All jobs that are not gone, in order of id.
  std::vector<const JobRecord*> jobs() const;
  // All nodes, in order of registration (NodeId::value is the index).
  std::span<const NodeRecord> nodes() const;
  NodeRoom room(NodeId node) const;  // what a new task could take
  std::vector<QueueSpec> queues() const;
  QueueConfiguration queue_configuration() const;
  const QueueSpec* queue(std::string_view name) const;  // null: there is none
  QueueUsage usage(std::string_view queue) const;
  // What queues and tenants have held lately, as far as the records of jobs do not
  // tell it: of all, or of those of which it has changed since the last turn that
  // was committed. For the store, and for copies of the engine.
  std::vector<UsageRecord> usage_records() const;
  std::vector<UsageRecord> changed_usage() const;
  // Whether it makes anything of HistoryRestored.
  bool learns_from_history() const;
  const std::vector<NodeWindow>& windows() const;  // that are known
  const std::vector<NodePool>& pools() const;      // likewise
  // The first window of the node that is not over; null: there is none.
  const NodeWindow* next_window(NodeId node) const;

  // Every reason why a pending job does not run, the deciding one first, with
  // numbers of this moment. Of a job that was started: why a part of it is not
  // launched yet, if so.
  std::vector<Reason> explain(JobId id) const;
  // Of each role of a pending job, on how many nodes which limit binds now.
  std::vector<RoleLimits> limits(JobId id) const;
  // The deciding reason alone: cheap enough for every row of a list.
  std::optional<Reason> main_reason(JobId id) const;

  // Whether any node tells its links: else no time of communication is known.
  bool links_known() const;

  // What the steps so far have looked at: what their time grows with, whatever
  // the machine.
  struct Work {
    std::int64_t jobs_tried = 0;        // first jobs of groups whose turn came
    std::int64_t groups_looked_at = 0;  // parked ones, for whether to wake them
    std::int64_t groups_woken = 0;
  };
  const Work& work() const;

  // Recounts all derived state from the records; the first difference found,
  // or empty.
  std::optional<std::string> check_invariants() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gridfold
