// Whether the reasons that a waiting job shows are true: room, quotas and
// places in the queue, counted anew from the mirror of the store.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/decision.h"
#include "model/node_limits.h"
#include "model/reason.h"
#include "model/record.h"
#include "simulator/verify/mirror.h"
#include "simulator/verify/topology_check.h"

namespace gridfold::verify {

// Its limits by resource: "cpu", "memory", "running_jobs", device classes.
std::map<std::string, std::int64_t> bounds_of(const QueueLimit& limit);

class Recount {
 public:
  // `nodes`: as the engine tells them, for whether they are up; `now`: of its
  // last step.
  Recount(const World& world, const Mirror& mirror, const std::vector<QueueSpec>& queues,
          std::span<const NodeRecord> nodes, Instant now);

  struct Wrong {
    std::string invariant;  // "I13", "C8" or "I9"
    std::string text;
  };
  std::optional<Wrong> check(const MirrorJob& job, const std::vector<Reason>& reasons);

  // Whether each node is counted once, under the first limit that binds on it.
  std::optional<Wrong> check(const MirrorJob& job, const std::vector<RoleLimits>& limits);

  // Whether what the turn that was just stored says of its launches is true. They
  // are taken back, last first, so that each is judged by the room it found: no
  // use for anything else afterwards.
  std::optional<Wrong> check_launches(const Decisions& decisions);

  // Whether the job can never start on this grid under these queues.
  bool never(const MirrorJob& job) const;

  // The job has just started, and its tasks could be spread more evenly.
  std::optional<std::string> spread_unevenly(const MirrorJob& job);

 private:
  struct Device {
    const DeviceSpec* spec = nullptr;
    bool usable = true;
    std::int64_t free_share = 1000;
    std::int64_t free_memory = -1;
    std::int64_t holders = 0;
    std::uint32_t taken_slots = 0;  // of a split device
  };
  struct Room {
    const NodeSpec* spec = nullptr;
    bool known = false;  // the daemon has heard of the node
    bool up = false;
    bool takes_tasks = false;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::vector<Device> devices;
  };
  Room room_for_new(std::size_t node) const;
  // From now on nodes that are closed to this job take no tasks.
  void look_at(const MirrorJob& job);
  static Room room_of(const NodeSpec& spec, const NodeUse& use, std::uint64_t dirty);
  static std::int64_t units(const Device& device, const DeviceRequest& group);
  static std::int64_t slots(const Room& room, const TaskRequest& request);
  // Devices that suit the group and can take at least one unit of it.
  static std::uint64_t idle(const Room& room, const DeviceRequest& group);
  struct Amount {
    std::int64_t free = 0;
    std::int64_t largest = 0;
  };
  static Amount axis(const Room& room, const TaskRequest& request, const std::string& resource,
                     bool as_wished);

  // recount_limits.cpp
  using Limit = std::tuple<std::string, std::string, std::string>;  // limit, resource, wish
  Limit limit_on(std::size_t node, const TaskRequest& request) const;
  bool within_reach(const MirrorJob& job, std::size_t node) const;

  // recount_launches.cpp
  std::optional<std::map<std::uint64_t, MirrorJob>> repaired_in(const Decisions& decisions) const;
  void keep_again(const MirrorJob& gang);
  std::int64_t feasible_nodes(const TaskRequest& request) const;
  std::int64_t room_in(const std::string& domain, const TaskRequest& request) const;
  std::optional<std::string> untrue_choice(const MirrorJob& job, std::size_t task) const;
  std::optional<std::string> untrue_tie(const MirrorWhy& why, int node) const;
  std::optional<std::string> not_best_fit(const MirrorTask& task, const TaskRequest& request) const;
  std::optional<std::string> untrue_in_domain(const MirrorJob& job, std::size_t task) const;
  std::optional<std::string> untrue_home(const MirrorJob& job) const;

  // A limit in the job's way: of a queue, or of its tenants.
  struct Quota {
    std::string queue, resource;
    bool of_tenants = false;
    std::int64_t need = 0, limit = 0, used = 0;
  };
  // Of a model (resource "gpu:H100") as if all tasks that accept it got it.
  std::vector<Quota> quotas(const MirrorJob& job, bool counting_use) const;
  std::optional<std::string> untrue_maintenance(const MirrorJob& job, const Reason& reason) const;
  std::vector<std::string> models_for(const DeviceRequest& group) const;
  bool limits_models(const MirrorJob& job) const;
  // What the job asks, less the models whose quotas are in its way; none: some
  // other quota is in its way, or there is a group with no model left.
  std::optional<std::vector<Role>> within_quota(const MirrorJob& job, bool counting_use) const;
  // What a job that has just started was placed by: what it asks, less the models
  // that are not for it whatever is used; none: it depends on what was used then.
  std::optional<JobSpec> placed_by(const MirrorJob& job) const;
  std::optional<std::string> untrue_quota(const MirrorJob& job, const Reason& reason) const;
  const QueueSpec* configured(const std::string& queue) const;
  std::int64_t total(const std::vector<Room>& rooms, const TaskRequest& request, bool usable) const;
  std::optional<std::string> untrue(const MirrorJob& job, const Reason& reason) const;
  bool fillers_in_the_way(const MirrorJob& job) const;
  TopologyReach reach(const JobSpec& spec, const std::vector<Room>& rooms, bool usable) const;
  std::optional<std::string> untrue_topology(const MirrorJob& job, const Reason& reason) const;
  bool comes_before(const MirrorJob& a, const MirrorJob& b) const;
  bool takes_turns() const;
  std::int32_t priority_of(const std::string& queue) const;

  const World& world_;
  const Mirror& mirror_;
  const std::vector<QueueSpec>& queues_;
  // By node of the world: empty; for new tasks; less all that is held; once all
  // that leaves has left; and without fillers as well.
  std::vector<Room> empty_, now_, actual_, planned_, without_fillers_;
  std::vector<bool> serves_;  // by node: up and not drained
  Instant now_is_{};
  bool any_claim_ = false;
  std::vector<NodeUse> use_, planned_use_;  // by node of the world
  std::vector<bool> claimed_;
};

}  // namespace gridfold::verify
