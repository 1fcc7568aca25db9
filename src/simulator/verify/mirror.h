// The checker's own picture of the store, kept up to date transaction by
// transaction: what each job's record says, and what each node and queue
// therefore gives away. Read from the stored bytes; it shares no code with the
// engine, the control loop or their records.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "control/store.h"
#include "simulator/verify/world.h"

namespace gridfold::verify {

enum class Phase : std::uint8_t {
  kIdle,
  kHeld,
  kRunning,
  kStopping,
  kCleaning,
  kBackoff,
  kDone,
  kWaiting
};
enum class State : std::uint8_t {
  kPending,
  kStarting,
  kRunning,
  kStopping,
  kSucceeded,
  kFailed,
  kCancelled,
};
constexpr bool holds(Phase phase) { return phase != Phase::kIdle && phase != Phase::kDone; }
constexpr bool ended(State state) { return state >= State::kSucceeded; }

struct Place {
  int node = -1;  // index in World::nodes; -1: none
  std::uint64_t devices = 0;
  std::int32_t start = -1;  // slot of the partition; -1: none
  friend bool operator==(const Place&, const Place&) = default;
};

// Why a task, or a gang's domain, was chosen, as the record says.
struct MirrorWhy {
  std::string by;  // empty: it does not say
  std::int64_t feasible = 0;
  std::int64_t score = 0;
  int runner_up = -1;  // index in World::nodes; -1: none
  std::int64_t runner_up_score = 0;
};
struct MirrorHome {
  std::string domain, by, runner_up;
  std::int64_t feasible = 0;
  std::int64_t value = 0;
  std::int64_t runner_up_value = 0;
};

struct MirrorTask {
  Phase phase = Phase::kIdle;
  std::uint32_t attempt = 0;
  Place at;
  Place claim;
  bool restarts = false;  // in place, once it is clean
  bool shed = false;      // it gives its place up, whatever its gang does
  std::optional<ExitStatus> exit;
  MirrorWhy why;
};

// What a waiting job is promised: so many tasks of a role on a node.
struct MirrorPlan {
  struct Seat {
    int node = -1;
    std::size_t role = 0;
    std::int64_t tasks = 0;
  };
  std::int64_t start_ns = 0;
  std::int64_t run_ns = 0;
  std::vector<Seat> seats;

  std::set<int> nodes() const;
  bool covers(std::int64_t at_ns) const { return at_ns >= start_ns && at_ns - start_ns < run_ns; }
};

struct MirrorJob {
  std::uint64_t id = 0;
  std::string uid;
  const JobSpec* spec = nullptr;  // the world's own
  State state = State::kPending;
  std::string stopping;
  bool held = false;
  bool in_history = false;
  bool repairing = false;  // keeps its places for a time, though it lost a node
  std::int64_t pending_since_ns = 0;
  std::int64_t runs = 0;
  std::int64_t evictions = 0;
  std::int64_t losses = 0;
  std::int64_t array_limit = 0;  // so many jobs of its array at a time; 0: any number
  std::vector<std::uint64_t> waits_for;
  std::vector<MirrorTask> tasks;
  std::optional<MirrorHome> home;
  std::optional<MirrorPlan> plan;

  const TaskRequest& request(std::size_t task) const {
    return spec->role_of(static_cast<std::uint32_t>(task)).each;
  }
  bool filler() const { return spec->workload_class == WorkloadClass::kFiller; }
  bool claims() const;
  bool has_started() const { return (state != State::kPending && !ended(state)) || claims(); }
  // Only room, or its array, keeps it from starting.
  bool could_start() const {
    return state == State::kPending && !held && waits_for.empty() && !claims();
  }
  std::uint64_t array() const;  // the number of the first job of its array
};
// Whether what the task holds will go by itself: its job is being stopped, and
// keeps nothing, or it has ended.
bool leaves(const MirrorJob& job, const MirrorTask& task);

// Sums over one node's devices, or over one queue's jobs.
struct DeviceUse {
  std::int64_t share = 0;   // thousandths
  std::int64_t memory = 0;  // bytes held by slices
  std::int64_t holders = 0;
  std::int64_t whole = 0;                                // of them, those that hold it whole
  std::array<std::int32_t, kMaxPartitionSlots> slots{};  // of a split one: partitions on each
};
struct NodeUse {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::vector<DeviceUse> devices;
};
struct QueueUse {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::int64_t jobs = 0;  // that run or have room promised
  std::map<std::string, std::int64_t> devices;

  void add(const QueueUse& other, int sign);
  // Of "cpu", "memory", "running_jobs", a device class or a model ("gpu:H100").
  std::int64_t of(const std::string& resource) const;
};

struct MirrorJob;
// What the job's holdings and claims count for in its queue.
QueueUse use_of(const World& world, const MirrorJob& job);
// Likewise, without what is being stopped, added to `use`.
void add_staying(const World& world, const MirrorJob& job, QueueUse& use);

// Which device group of the request each device of the mask serves, adding
// `sign` times its use to `use`. False when mask and start are not what was
// asked for.
bool add_use(const NodeSpec& node, const TaskRequest& request, std::uint64_t devices,
             std::int32_t start, int sign, NodeUse& use);
// The node's use is within what it has; else what is exceeded.
std::optional<std::string> exceeds(const NodeSpec& node, const NodeUse& use);
// "a", then "a/b": the queue and all above it.
std::vector<std::string> queue_and_above(const std::string& queue);
std::int64_t queue_charge(const DeviceRequest& device);

class Mirror {
 public:
  explicit Mirror(const World& world);

  // Takes the transaction in. A problem with the records themselves: text.
  std::optional<std::string> apply(const Transaction& transaction, Revision revision);

  // Jobs whose record the last transaction changed, with the record before (id
  // 0: there was none), nodes whose use it changed, queues likewise.
  struct Changed {
    MirrorJob before;
    std::uint64_t id = 0;
  };
  const std::vector<Changed>& changed() const { return changed_; }
  const std::set<int>& changed_nodes() const { return changed_nodes_; }

  const std::map<std::uint64_t, MirrorJob>& jobs() const { return jobs_; }  // ended ones, too
  const MirrorJob* job(std::uint64_t id) const;
  const std::set<std::uint64_t>& live() const { return live_; }
  // Of the jobs of the same array as this one, which has a limit: those that are
  // started, and those before it that could start.
  struct ArrayUse {
    std::int64_t started = 0;
    std::int64_t ahead = 0;
    bool leaves_none(std::int64_t limit) const { return started + ahead >= limit; }
  };
  ArrayUse array_use(const MirrorJob& job) const;
  // Whether the limit of its array, and nothing of its own, keeps it from starting.
  bool waits_for_array(const MirrorJob& job) const;
  const NodeUse& node_use(int node) const { return node_use_[static_cast<std::size_t>(node)]; }
  const QueueUse& queue_use(const std::string& queue) const;
  const std::map<std::string, QueueUse>& queue_uses() const { return queue_use_; }
  // By queue and tenant, without the queues beneath.
  const std::map<std::pair<std::string, std::string>, QueueUse>& tenant_uses() const {
    return tenant_use_;
  }
  // Of the queue's own jobs, this tenant's.
  const QueueUse& tenant_use(const std::string& queue, const std::string& tenant) const;
  int node_index(std::string_view name) const;
  bool drained(int node) const { return drained_[static_cast<std::size_t>(node)]; }
  bool known(int node) const { return known_[static_cast<std::size_t>(node)]; }
  std::uint64_t dirty(int node) const { return dirty_[static_cast<std::size_t>(node)]; }
  Revision revision() const { return revision_; }
  // Jobs by the world's name: more than one is a duplicate.
  const std::map<std::string, std::set<std::uint64_t>>& by_name() const { return by_name_; }

 private:
  void account(const MirrorJob& job, int sign);
  void replace(MirrorJob job);

  const World& world_;
  std::unordered_map<std::string, const JobSpec*> specs_;
  std::unordered_map<std::string, int> node_index_;
  std::map<std::uint64_t, MirrorJob> jobs_;
  std::map<std::uint64_t, std::string> names_;  // from live/spec, before the record is read
  std::set<std::uint64_t> live_;
  std::map<std::string, std::set<std::uint64_t>> by_name_;
  std::vector<NodeUse> node_use_;
  std::map<std::string, QueueUse> queue_use_;
  std::map<std::pair<std::string, std::string>, QueueUse> tenant_use_;
  std::vector<bool> drained_, known_;
  std::vector<std::uint64_t> dirty_;
  Revision revision_ = 0;
  std::vector<Changed> changed_;
  std::set<int> changed_nodes_;
  std::string trouble_;
};

}  // namespace gridfold::verify
