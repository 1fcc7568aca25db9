// Why something is so: a stable code with numbers, never prose. Texts in
// English and Chinese are made where people read them (apps, web) from the
// same codes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gridfold {

enum class ReasonCode : std::uint8_t {
  // Never, on this grid as it is.
  kExceedsCluster,  // {resource, need, capacity}: even empty, the nodes are too few
  // {constraint, need, largest, [within | profile]}: no node could ever hold one task
  kNoMatchingNode,
  kExceedsQuotaMax,  // {queue, resource, need, limit}
  kQueueClosed,      // {queue}
  // Waiting.
  // {resource, need, free, largest_block}, and for devices that must lie near to
  // each other `within` (a DevicePlace), for a partition `profile`: then the
  // amounts are slots, the block those in a row from a legal start.
  kInsufficientFree,
  kQuotaInUse,           // {queue, resource, limit, used, need, short}
  kFragmented,           // {need, have | roles}: each resource (each role) would do on some node,
                         // all of them together on none. {need, have, level, domain, in_all}: so
                         // many tasks would fit in all, but in no domain of the level
  kGangIncomplete,       // {have, need}: so many tasks of the gang would fit now; with {level,
                         // domain}: in the domain of that level that holds the most
  kBehindInQueue,        // {position}
  kDependencyPending,    // {job}
  kHeld,                 // {by}
  kNodeDraining,         // {node}
  kPreemptionPending,    // {victims}
  kBackoffAfterFailure,  // {until_ns, attempt}
  kReservedFor,          // {job}: the free room is earmarked
  kNotYetConsidered,     // the next cycle will
  // Starts, ends and stops.
  kPlaced,   // {tasks}: room was found, the launch is ordered
  kStarted,  // the backend says that it runs
  kCompleted,
  kTaskFailed,          // {task, exit_code | signal}
  kLaunchFailed,        // {task, message}
  kNodeLost,            // {node}
  kOutOfMemory,         // {task}
  kTimeLimit,           // {limit_ns}
  kCancelledBy,         // {by}
  kPreempted,           // {by}
  kRequeued,            // {by}
  kDependencyNeverMet,  // {job, condition}
  kLaunchFailures,      // {count, window_ns, message}: of the last; a node was drained
  kDrainedBy,           // {by}
  kDeviceDirty,         // {device}
  // Added since; a code keeps its number, which decisions are hashed by.
  // Even empty, no domain of the level is enough: {level, need, largest, domain}, in tasks.
  kUnsatisfiableTopology,
  // A policy that decides in rounds.
  kWaitsForRound,  // {at_ns}: it is considered again then
  kResized,        // {from, to}: tasks; to 0: others go first, from = to: other places
  // {problem, node | tasks}: what the round gave it could not be had. Problem "room": taken or gone
  // meanwhile on the node; "number": so many tasks it cannot have.
  kRoundMissed,
  // As ExceedsQuotaMax and QuotaInUse, of what each tenant of a queue may have:
  // {tenant, queue, resource, need, limit} and {..., used, short}.
  kExceedsTenantQuotaMax,
  kTenantQuotaInUse,
  // Queues take turns: {queue, share} with its dominant share in millionths.
  kQueueTurn,
  // Room is promised: {at_ns, nodes, basis}, by time limits (basis "limit"), by what a job
  // without one is taken to run ("default"), or by what earlier runs tell ("history").
  kReserved,
  // It would fit now, but for so long that the start of another is put off: {job, at_ns}.
  kWouldDelayReservation,
  kMoved,        // {by}: stopped to start elsewhere, so that job `by` finds room in one place
  kShed,         // {by, tasks}: so many tasks beyond the gang's minimum were stopped for `by`
  kVictimsSafe,  // {victims, until_ns}: it may stop them, but not before they have made progress
  // A filler waits though there is room: {device_class, need, free, held_back, guaranteed_ns}, so
  // many of the free devices may be needed by other work within its guaranteed time; or
  // {problem: "none_let_in"}.
  kHeldBack,
  kReclaimed,  // {by, queue}: stopped for a job whose queue is guaranteed what this one borrowed
  // Maintenance. Of a job that waits: {window, nodes, from_ns, until_ns, run_ns}: so many nodes are
  // closed to it from then, before it would have ended; the first of their windows. run_ns is
  // absent where unknown, 0 where it may run until then. Of one stopped: {window, node, until_ns}.
  kMaintenance,
  // Its gang lost a node: {tasks, kept, until_ns}, the places of so many tasks are kept for it
  // until then, and so many are missing at least.
  kWaitsForRepair,
  kRepairGivenUp,  // {after_ns}: the places that were kept for it are no longer
  // A part of the gang holds its room and is launched later: {tasks, role}, once this role runs.
  kWaitsForRole,
  kRoleDown,  // {role, after_ns}: others start after it, and it did not run for so long
  // So many nodes of a pool boot for it and are expected by then: {nodes, pool, at_ns}.
  kWaitsForBoot,
  // Nodes of a pool would do, but a boot has failed, so often in a row: it is tried again at the
  // time, {pool, failures, until_ns}.
  kBootFailed,
  // So many jobs of its array may be started at a time: {limit, started, ahead}, and so many are,
  // and wait before it.
  kArrayLimit,
};
// "ExceedsCluster", …: the API's word.
std::string_view to_string(ReasonCode code);
std::optional<ReasonCode> parse_reason_code(std::string_view text);
// True for the codes that no waiting will change.
bool is_never(ReasonCode code);

struct Reason {
  using Param = std::pair<std::string, std::variant<std::int64_t, std::string>>;

  ReasonCode code = ReasonCode::kNotYetConsidered;
  std::vector<Param> params;

  Reason() = default;
  explicit Reason(ReasonCode c) : code(c) {}
  Reason(ReasonCode c, std::vector<Param> p) : code(c), params(std::move(p)) {}
  friend bool operator==(const Reason&, const Reason&) = default;

  // The parameter's number, or `fallback` when there is none of this name.
  std::int64_t number(std::string_view name, std::int64_t fallback = -1) const;
  // The parameter's text, or "" when there is none of this name.
  std::string_view text(std::string_view name) const;
};

// {"code": "InsufficientFree", "params": {"resource": "gpu", "need": 8}}
std::string to_json(const Reason& reason);

}  // namespace gridfold
