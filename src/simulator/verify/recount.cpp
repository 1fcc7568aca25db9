#include "simulator/verify/recount.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

#include "simulator/verify/device_rules.h"
#include "simulator/verify/window_check.h"

namespace gridfold::verify {
namespace {

bool has(const std::vector<Reason>& reasons, ReasonCode code) {
  return std::any_of(reasons.begin(), reasons.end(),
                     [&](const Reason& reason) { return reason.code == code; });
}

}  // namespace

Recount::Room Recount::room_of(const NodeSpec& spec, const NodeUse& use, std::uint64_t dirty) {
  Room room;
  room.spec = &spec;
  room.cpu = spec.cpu.value - use.cpu;
  room.memory = spec.memory.value - use.memory;
  for (std::size_t i = 0; i < spec.devices.size(); ++i) {
    Device device;
    device.spec = &spec.devices[i];
    device.usable = (dirty >> i & 1) == 0;
    if (spec.devices[i].memory.is_known())
      device.free_memory = spec.devices[i].memory.value().value;
    if (i < use.devices.size()) {
      device.free_share -= use.devices[i].share;
      device.holders = use.devices[i].holders;
      if (device.free_memory >= 0)
        device.free_memory =
            use.devices[i].whole > 0 ? 0 : device.free_memory - use.devices[i].memory;
      for (std::size_t slot = 0; slot < use.devices[i].slots.size(); ++slot)
        device.taken_slots |= std::uint32_t{use.devices[i].slots[slot] > 0} << slot;
    }
    room.devices.push_back(device);
  }
  return room;
}

Recount::Recount(const World& world, const Mirror& mirror, const std::vector<QueueSpec>& queues,
                 std::span<const NodeRecord> nodes, Instant now)
    : world_(world), mirror_(mirror), queues_(queues), now_is_(now) {
  // What the nodes will hold once all that leaves has left, claims included.
  std::vector<NodeUse>& planned = planned_use_;
  planned.resize(world.nodes.size());
  std::vector<NodeUse> for_good(world.nodes.size());  // fillers not counted
  std::vector<bool>& claimed = claimed_;
  claimed.resize(world.nodes.size());
  for (const std::uint64_t id : mirror.live()) {
    const MirrorJob& job = *mirror.job(id);
    for (std::size_t i = 0; i < job.tasks.size(); ++i) {
      const MirrorTask& task = job.tasks[i];
      if (holds(task.phase) && !leaves(job, task)) {
        const auto n = static_cast<std::size_t>(task.at.node);
        add_use(world.nodes[n], job.request(i), task.at.devices, task.at.start, +1, planned[n]);
        if (!job.filler())
          add_use(world.nodes[n], job.request(i), task.at.devices, task.at.start, +1, for_good[n]);
      }
      if (task.claim.node >= 0) {
        const auto n = static_cast<std::size_t>(task.claim.node);
        add_use(world.nodes[n], job.request(i), task.claim.devices, task.claim.start, +1,
                planned[n]);
        add_use(world.nodes[n], job.request(i), task.claim.devices, task.claim.start, +1,
                for_good[n]);
        claimed[n] = any_claim_ = true;
      }
    }
  }
  for (std::size_t n = 0; n < world.nodes.size(); ++n) {
    const NodeSpec& spec = world.nodes[n];
    const int node = static_cast<int>(n);
    empty_.push_back(room_of(spec, {}, mirror.dirty(node)));
    use_.push_back(mirror.node_use(node));
    Room room = room_of(spec, use_[n], mirror.dirty(node));
    for (const NodeRecord& record : nodes) {
      if (record.spec.name != spec.name) continue;
      room.known = true;
      room.up = record.up;
    }
    empty_.back().known = room.known;
    room.takes_tasks = room.known && room.up && !mirror.drained(node);
    serves_.push_back(room.takes_tasks);
    actual_.push_back(room);
    without_fillers_.push_back(room_of(spec, for_good[n], mirror.dirty(node)));
    without_fillers_.back().known = room.known;
    planned_.push_back(room_of(spec, planned[n], mirror.dirty(node)));
    planned_.back().known = room.known;
    now_.push_back(room_for_new(n));
  }
}

void Recount::look_at(const MirrorJob& job) {
  if (world_.windows.empty()) return;
  for (std::size_t n = 0; n < now_.size(); ++n) {
    actual_[n].takes_tasks = now_[n].takes_tasks =
        serves_[n] && closing(world_, queues_, *job.spec, n, now_is_) == nullptr;
  }
}

// Less what is earmarked by claims.
Recount::Room Recount::room_for_new(std::size_t n) const {
  const std::uint64_t dirty = mirror_.dirty(static_cast<int>(n));
  Room room = room_of(world_.nodes[n], use_[n], dirty);
  room.known = actual_[n].known;
  room.up = actual_[n].up;
  room.takes_tasks = actual_[n].takes_tasks;
  if (!claimed_[n]) return room;
  const Room then = room_of(world_.nodes[n], planned_use_[n], dirty);
  room.cpu = std::min(room.cpu, then.cpu);
  room.memory = std::min(room.memory, then.memory);
  for (std::size_t d = 0; d < room.devices.size(); ++d) {
    Device& device = room.devices[d];
    device.free_share = std::min(device.free_share, then.devices[d].free_share);
    device.free_memory = std::min(device.free_memory, then.devices[d].free_memory);
    device.holders = std::max(device.holders, then.devices[d].holders);
    device.taken_slots |= then.devices[d].taken_slots;
  }
  return room;
}

std::int64_t Recount::units(const Device& device, const DeviceRequest& group) {
  if (!device.usable || !suits(group, *device.spec)) return 0;
  if (!group.partition.empty())
    return partitions_at_once(*profile_named(*device.spec, group.partition), ~device.taken_slots);
  if (group.is_whole()) return device.holders == 0;
  std::int64_t n = std::numeric_limits<std::int32_t>::max();
  if (group.share.value > 0) n = std::min(n, device.free_share / group.share.value);
  if (group.memory.value > 0)
    n = std::min(n, device.free_memory < 0 ? 0 : device.free_memory / group.memory.value);
  return n;
}

std::uint64_t Recount::idle(const Room& room, const DeviceRequest& group) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < room.devices.size(); ++i)
    mask |= std::uint64_t{units(room.devices[i], group) > 0} << i;
  return mask;
}

std::int64_t Recount::slots(const Room& room, const TaskRequest& request) {
  if (!room.known) return 0;
  std::int64_t n = std::numeric_limits<std::int32_t>::max();
  if (request.cpu.value > 0) n = std::min(n, room.cpu / request.cpu.value);
  if (request.memory.value > 0) n = std::min(n, room.memory / request.memory.value);
  for (const DeviceRequest& group : request.devices) {
    if (group.is_whole()) {
      n = std::min(n, tasks_at_once(*room.spec, group, idle(room, group)));
      continue;
    }
    std::int64_t sum = 0;
    for (const Device& device : room.devices) sum += units(device, group);
    n = std::min(n, sum);
  }
  return std::max<std::int64_t>(n, 0);
}

// What is free of the resource, and the most of it that one task could get.
Recount::Amount Recount::axis(const Room& room, const TaskRequest& request,
                              const std::string& resource, bool as_wished) {
  if (resource == "cpu") return {room.cpu, room.cpu};
  if (resource == "memory") return {room.memory, room.memory};
  for (const DeviceRequest& group : request.devices) {
    const std::uint64_t open = idle(room, group);
    const std::int64_t count = std::popcount(open);
    if (resource == group.device_class)
      return {count, as_wished ? most_for_one(*room.spec, group, open) : count};
    std::int64_t share = 0;
    std::int64_t memory = 0;
    Amount in_slots;
    for (const Device& device : room.devices) {
      if (!device.usable || !suits(group, *device.spec)) continue;
      share = std::max(share, device.free_share);
      if (device.free_share >= group.share.value) memory = std::max(memory, device.free_memory);
      if (group.partition.empty()) continue;
      const PartitionProfile& profile = *profile_named(*device.spec, group.partition);
      std::uint32_t usable = 0;
      for (const PartitionProfile& any : device.spec->partitions) {
        for (const std::int32_t start : any.starts) usable |= slots_taken(any, start);
      }
      in_slots.free += std::popcount(usable & ~device.taken_slots);
      in_slots.largest = std::max(in_slots.largest, longest_run(profile, ~device.taken_slots));
    }
    if (resource == group.device_class + "_share") return {share, share};
    if (resource == group.device_class + "_memory") return {memory, memory};
    if (resource == group.device_class + "_partition") return in_slots;
  }
  return {-1, -1};
}

const QueueSpec* Recount::configured(const std::string& queue) const {
  for (const QueueSpec& spec : queues_) {
    if (spec.name == queue) return &spec;
  }
  return nullptr;
}

std::int32_t Recount::priority_of(const std::string& queue) const {
  const QueueSpec* spec = configured(queue);
  return spec == nullptr ? 0 : spec->priority;
}

std::map<std::string, std::int64_t> bounds_of(const QueueLimit& limit) {
  std::map<std::string, std::int64_t> bounds = limit.devices;
  if (!limit.cpu.is_unlimited()) bounds["cpu"] = limit.cpu.bound().value;
  if (!limit.memory.is_unlimited()) bounds["memory"] = limit.memory.bound().value;
  if (!limit.running_jobs.is_unlimited()) bounds["running_jobs"] = limit.running_jobs.bound();
  return bounds;
}

// The limits that the job's minimum breaks, by itself or on top of what is used.
std::vector<Recount::Quota> Recount::quotas(const MirrorJob& job, bool counting_use) const {
  QueueUse need;
  need.jobs = 1;
  for (const Role& role : job.spec->roles) {
    need.cpu += role.min * role.each.cpu.value;
    need.memory += role.min * role.each.memory.value;
    for (const DeviceRequest& device : role.each.devices) {
      need.devices[device.device_class] += role.min * queue_charge(device);
      for (const std::string& model : models_for(device))
        need.devices[device.device_class + ":" + model] += role.min * queue_charge(device);
    }
  }
  std::vector<Quota> broken;
  const auto compare = [&](const QueueSpec& queue, bool of_tenants) {
    const QueueUse& use = of_tenants ? mirror_.tenant_use(queue.name, job.spec->tenant)
                                     : mirror_.queue_use(queue.name);
    for (const auto& [resource, limit] : bounds_of(of_tenants ? queue.each_tenant : queue.limit)) {
      const std::int64_t used = counting_use ? use.of(resource) : 0;
      const std::int64_t asked = need.of(resource);
      if (asked > 0 && asked + used > limit)
        broken.push_back({queue.name, resource, of_tenants, asked, limit, used});
    }
  };
  for (const std::string& name : queue_and_above(job.spec->queue)) {
    const QueueSpec* queue = configured(name);
    if (queue == nullptr) continue;
    compare(*queue, false);
    if (name == job.spec->queue) compare(*queue, true);
  }
  return broken;
}

bool Recount::limits_models(const MirrorJob& job) const {
  for (const std::string& name : queue_and_above(job.spec->queue)) {
    const QueueSpec* queue = configured(name);
    if (queue == nullptr) continue;
    for (const DeviceAmounts* amounts : {&queue->limit.devices, &queue->each_tenant.devices}) {
      for (const auto& [device, limit] : *amounts) {
        if (device.find(':') != std::string::npos) return true;
      }
    }
  }
  return false;
}

// Those that it names, else all that the daemon has heard of.
std::vector<std::string> Recount::models_for(const DeviceRequest& group) const {
  if (!group.models.empty()) return group.models;
  std::set<std::string> models;
  for (std::size_t n = 0; n < world_.nodes.size(); ++n) {
    if (!actual_[n].known) continue;
    for (const DeviceSpec& device : world_.nodes[n].devices) {
      if (device.device_class == group.device_class) models.insert(device.model);
    }
  }
  return {models.begin(), models.end()};
}

std::optional<std::vector<Role>> Recount::within_quota(const MirrorJob& job,
                                                       bool counting_use) const {
  std::set<std::string> broken;
  for (const Quota& quota : quotas(job, counting_use)) {
    if (quota.resource.find(':') == std::string::npos) return std::nullopt;
    broken.insert(quota.resource);
  }
  std::vector<Role> roles = job.spec->roles;
  if (broken.empty()) return roles;
  for (Role& role : roles) {
    for (DeviceRequest& group : role.each.devices) {
      std::vector<std::string> left = models_for(group);
      const std::size_t all = left.size();
      std::erase_if(left, [&](const std::string& model) {
        return broken.contains(group.device_class + ":" + model);
      });
      if (left.empty()) return std::nullopt;
      if (left.size() < all) group.models = std::move(left);
    }
  }
  return roles;
}

// Use grows while a turn starts jobs. So what the job might have again beside all
// that is used now, itself counted, it might have then.
std::optional<JobSpec> Recount::placed_by(const MirrorJob& job) const {
  JobSpec spec = *job.spec;
  if (!limits_models(job)) return spec;
  auto ever = within_quota(job, false);
  if (!ever || within_quota(job, true) != ever) return std::nullopt;
  spec.roles = std::move(*ever);
  return spec;
}

// It names a limit that is in the way, with its numbers.
std::optional<std::string> Recount::untrue_quota(const MirrorJob& job, const Reason& reason) const {
  const bool in_use =
      reason.code == ReasonCode::kQuotaInUse || reason.code == ReasonCode::kTenantQuotaInUse;
  const bool of_tenants = reason.code == ReasonCode::kTenantQuotaInUse ||
                          reason.code == ReasonCode::kExceedsTenantQuotaMax;
  for (const Quota& quota : quotas(job, in_use)) {
    if (quota.queue == reason.text("queue") && quota.resource == reason.text("resource") &&
        quota.of_tenants == of_tenants && quota.need == reason.number("need") &&
        quota.limit == reason.number("limit") &&
        (!in_use || (quota.used == reason.number("used") &&
                     quota.need + quota.used - quota.limit == reason.number("short"))))
      return std::nullopt;
  }
  std::string mine;
  for (const Quota& quota : quotas(job, in_use))
    mine += " " + quota.queue + " " + quota.resource + " " + std::to_string(quota.need) + "/" +
            std::to_string(quota.limit);
  return "no such quota is in its way: " + to_json(reason) + ", but" + mine;
}

std::int64_t Recount::total(const std::vector<Room>& rooms, const TaskRequest& request,
                            bool usable) const {
  std::int64_t sum = 0;
  for (std::size_t n = 0; n < rooms.size(); ++n) {
    if (!usable || actual_[n].takes_tasks) sum += slots(rooms[n], request);
  }
  return sum;
}

TopologyReach Recount::reach(const JobSpec& spec, const std::vector<Room>& rooms,
                             bool usable) const {
  return topology_reach(world_, spec, [&](int node, const Role& role) -> std::int64_t {
    const auto n = static_cast<std::size_t>(node);
    return !usable || actual_[n].takes_tasks ? slots(rooms[n], role.each) : 0;
  });
}

std::optional<std::string> Recount::spread_unevenly(const MirrorJob& job) {
  const std::optional<JobSpec> spec = placed_by(job);
  if (!spec) return std::nullopt;
  MirrorJob placed = job;
  placed.spec = &*spec;
  look_at(job);
  return verify::spread_unevenly(world_, placed, [&](int node, const Role& role) -> std::int64_t {
    const auto n = static_cast<std::size_t>(node);
    return actual_[n].takes_tasks ? slots(now_[n], role.each) : 0;
  });
}

bool Recount::never(const MirrorJob& job) const {
  auto roles = within_quota(job, false);
  if (configured(job.spec->queue) == nullptr || !roles) return true;
  JobSpec spec = *job.spec;  // of the models alone that its queue may ever use for it
  spec.roles = std::move(*roles);
  if (has_hard_topology(spec)) {
    const TopologyReach ever = reach(spec, empty_, false);
    if (ever.tasks < ever.need) return true;
  }
  return std::any_of(spec.roles.begin(), spec.roles.end(),
                     [&](const Role& role) { return total(empty_, role.each, false) < role.min; });
}

// It counts the nodes that could hold a task and are closed to it, and names the
// first window.
std::optional<std::string> Recount::untrue_maintenance(const MirrorJob& job,
                                                       const Reason& reason) const {
  if (job.spec->roles.size() > 1) return std::nullopt;  // it does not say of which role it speaks
  std::int64_t nodes = 0;
  const NodeWindow* first = nullptr;
  for (std::size_t n = 0; n < now_.size(); ++n) {
    if (!serves_[n] || slots(empty_[n], job.spec->roles[0].each) == 0) continue;
    const NodeWindow* window = closing(world_, queues_, *job.spec, n, now_is_);
    if (window == nullptr) continue;
    ++nodes;
    if (first == nullptr || window->from < first->from) first = window;
  }
  if (nodes != reason.number("nodes"))
    return "Maintenance says nodes=" + std::to_string(reason.number("nodes")) + ", counted " +
           std::to_string(nodes);
  if (first->from.ns != reason.number("from_ns")) return "its first window begins at another time";
  auto run = known_run(world_, queues_, *job.spec);
  if (job.filler() || world_.goes_by_rounds(*job.spec)) run = Duration{};
  if (reason.number("run_ns") != (run.is_unlimited() ? -1 : run.bound().ns))
    return "it may run for another time";
  return std::nullopt;
}

// Some node has room for it as soon as all that leaves has left and the fillers
// are gone, but not with them. Only for one task: for several, the order in
// which places are chosen may leave too little for the last.
bool Recount::fillers_in_the_way(const MirrorJob& job) const {
  if (job.filler() || job.spec->roles.size() != 1 || job.spec->roles[0].min != 1) return false;
  const TaskRequest& request = job.spec->roles[0].each;
  const TopologyWish& wish = job.spec->topology;
  for (std::size_t n = 0; n < planned_.size(); ++n) {
    const auto lies_at = [&](const std::string& level) {
      return level.empty() || domain_at(world_.nodes[n], level).has_value();
    };
    if (!lies_at(wish.require) || !lies_at(wish.spread)) continue;
    // Others are promised it: then the job may wait for another, fillers or not.
    const bool promised =
        std::any_of(mirror_.live().begin(), mirror_.live().end(), [&](std::uint64_t id) {
          const MirrorJob& other = *mirror_.job(id);
          return id != job.id && other.plan && other.plan->nodes().count(static_cast<int>(n)) > 0;
        });
    if (promised) continue;
    // What still leaves will wake it: a filler may slip in until then.
    if (actual_[n].cpu != planned_[n].cpu) continue;
    // Nobody is stopped for the last minute before it is too late.
    if (closing(world_, queues_, *job.spec, n, now_is_, Duration::minutes(1)) != nullptr) continue;
    if (actual_[n].takes_tasks && slots(without_fillers_[n], request) > 0 &&
        slots(planned_[n], request) == 0)
      return true;
  }
  return false;
}

bool Recount::comes_before(const MirrorJob& a, const MirrorJob& b) const {
  const auto key = [&](const MirrorJob& job) {
    return std::tuple(-priority_of(job.spec->queue), job.filler(), -job.spec->priority, job.id);
  };
  return key(a) < key(b);
}

// Reasons that name a level: the best domain's numbers, and the sum over all.
std::optional<std::string> Recount::untrue_topology(const MirrorJob& job,
                                                    const Reason& reason) const {
  const bool ever = reason.code == ReasonCode::kUnsatisfiableTopology;
  const TopologyReach mine = ever ? reach(*job.spec, empty_, false) : reach(*job.spec, now_, true);
  const auto differs = [&](const char* param, std::int64_t counted) -> std::optional<std::string> {
    if (reason.number(param) == counted) return std::nullopt;
    return std::string(to_string(reason.code)) + " says " + param + "=" +
           std::to_string(reason.number(param)) + ", counted " + std::to_string(counted);
  };
  if (mine.tasks >= mine.need) return std::string(reason.text("domain")) + " would do";
  if (const auto wrong = differs("need", mine.need)) return wrong;
  if (const auto wrong = differs(ever ? "largest" : "have", mine.tasks)) return wrong;
  if (mine.domains.count(std::string(reason.text("domain"))) == 0)
    return std::string(reason.text("domain")) + " is not the best domain";
  if (reason.code != ReasonCode::kFragmented) return std::nullopt;
  std::int64_t in_all = 0;
  for (const Role& role : job.spec->roles) in_all += total(now_, role.each, true);
  return differs("in_all", in_all);
}

std::optional<std::string> Recount::untrue(const MirrorJob& job, const Reason& reason) const {
  if (!reason.text("level").empty()) return untrue_topology(job, reason);
  const auto counted = [&](std::string_view param,
                           std::int64_t mine) -> std::optional<std::string> {
    const std::int64_t said = reason.number(param);
    if (said == mine) return std::nullopt;
    return std::string(to_string(reason.code)) + " says " + std::string(param) + "=" +
           std::to_string(said) + ", counted " + std::to_string(mine);
  };
  // The role that the reason speaks of: by its need, where it does not say.
  const auto role = [&]() -> const Role& {
    for (const Role& candidate : job.spec->roles) {
      if (candidate.name == reason.text("role")) return candidate;
    }
    return job.spec->roles.front();
  }();
  const bool one_role = job.spec->roles.size() == 1;
  switch (reason.code) {
    case ReasonCode::kHeld: return job.held ? std::nullopt : std::optional("it is not held");
    case ReasonCode::kArrayLimit: {
      const Mirror::ArrayUse use = mirror_.array_use(job);
      if (!use.leaves_none(job.array_limit)) return "its array leaves room for it";
      if (const auto wrong = counted("limit", job.array_limit)) return wrong;
      if (const auto wrong = counted("started", use.started)) return wrong;
      return counted("ahead", use.ahead);
    }
    case ReasonCode::kQueueClosed:
      return configured(job.spec->queue) == nullptr ? std::nullopt
                                                    : std::optional("its queue is there");
    case ReasonCode::kExceedsQuotaMax:
    case ReasonCode::kQuotaInUse:
    case ReasonCode::kExceedsTenantQuotaMax:
    case ReasonCode::kTenantQuotaInUse: return untrue_quota(job, reason);
    case ReasonCode::kNoMatchingNode:
      for (const Role& each : job.spec->roles) {
        if (total(empty_, each.each, false) == 0) return std::nullopt;
      }
      return "some node could hold it";
    case ReasonCode::kExceedsCluster:
      for (const Role& each : job.spec->roles) {
        if (reason.number("need") == each.min &&
            reason.number("capacity") == total(empty_, each.each, false))
          return std::nullopt;
      }
      return "ExceedsCluster with other numbers than counted";
    case ReasonCode::kGangIncomplete:
      if (const auto wrong = counted("need", role.min)) return wrong;
      return counted("have", total(now_, role.each, true));
    case ReasonCode::kInsufficientFree: {
      if (!one_role) return std::nullopt;  // it does not say of which role it speaks
      std::int64_t sum = 0;
      std::int64_t largest = 0;
      for (std::size_t n = 0; n < now_.size(); ++n) {
        if (!actual_[n].takes_tasks) continue;
        const Amount amount = axis(now_[n], role.each, std::string(reason.text("resource")),
                                   !reason.text("within").empty());
        sum += amount.free;
        largest = std::max(largest, amount.largest);
      }
      if (const auto wrong = counted("free", sum)) return wrong;
      return counted("largest_block", largest);
    }
    case ReasonCode::kFragmented:
      if (one_role && total(now_, role.each, true) >= role.min) return "it fits somewhere";
      return std::nullopt;
    case ReasonCode::kReservedFor:
      return any_claim_ ? std::nullopt : std::optional("nothing is reserved");
    case ReasonCode::kPreemptionPending:
      return job.claims() ? std::nullopt : std::optional("no room is promised to it");
    case ReasonCode::kWaitsForRepair: {
      if (!job.repairing) return "its gang is whole";
      // Nodes that will be closed are looked at with other eyes for each job.
      if (!world_.windows.empty())
        return counted("until_ns", job.pending_since_ns + world_.gang_repair.ns);
      std::int64_t kept = 0;
      std::int64_t missing = 0;
      std::size_t index = 0;
      for (const Role& each : job.spec->roles) {
        std::int64_t of_role = 0;
        for (std::int32_t i = 0; i < each.count; ++i, ++index) {
          const int node = job.tasks[index].claim.node;
          of_role += node >= 0 && actual_[static_cast<std::size_t>(node)].takes_tasks;
        }
        kept += of_role;
        missing += std::max<std::int64_t>(each.min - of_role, 0);
      }
      if (const auto wrong = counted("kept", kept)) return wrong;
      if (const auto wrong = counted("tasks", missing)) return wrong;
      return counted("until_ns", job.pending_since_ns + world_.gang_repair.ns);
    }
    case ReasonCode::kReserved:
      if (!job.plan) return "no start is planned for it";
      if (const auto wrong = counted("at_ns", job.plan->start_ns)) return wrong;
      return counted("nodes", static_cast<std::int64_t>(job.plan->nodes().size()));
    case ReasonCode::kWouldDelayReservation:
      for (const std::uint64_t id : mirror_.live()) {
        const MirrorJob& other = *mirror_.job(id);
        if (other.uid == reason.text("job") && other.plan)
          return counted("at_ns", other.plan->start_ns);
      }
      return "nothing is promised to the job that it would delay";
    case ReasonCode::kBehindInQueue: {
      std::int64_t position = 1;
      for (const std::uint64_t id : mirror_.live()) {
        const MirrorJob& other = *mirror_.job(id);
        position += id != job.id && other.state == State::kPending && !other.held &&
                    other.waits_for.empty() && !other.claims() && comes_before(other, job) &&
                    !mirror_.waits_for_array(other) && !world_.goes_by_rounds(*other.spec) &&
                    (!takes_turns() || (other.spec->queue == job.spec->queue &&
                                        other.spec->tenant == job.spec->tenant));
      }
      return counted("position", position);
    }
    case ReasonCode::kMaintenance: return untrue_maintenance(job, reason);
    case ReasonCode::kWaitsForRound:
      return world_.goes_by_rounds(*job.spec) ? std::nullopt
                                              : std::optional("no round decides about it");
    case ReasonCode::kQueueTurn:
      return takes_turns() ? std::nullopt : std::optional("queues do not take turns");
    default: return std::nullopt;
  }
}

bool Recount::takes_turns() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const QueueSpec& queue) {
    return queue.weight > 0 || !queue.guaranteed.empty();
  });
}

std::optional<Recount::Wrong> Recount::check(const MirrorJob& job,
                                             const std::vector<Reason>& reasons) {
  look_at(job);
  if (reasons.empty()) return Wrong{"C8", "it waits without a reason"};
  for (const Reason& reason : reasons) {
    if (const auto why = untrue(job, reason)) return Wrong{"I13", *why};
  }
  const auto missing = [&](ReasonCode code, const char* fact) -> std::optional<Wrong> {
    if (has(reasons, code)) return std::nullopt;
    return Wrong{"I13", std::string(fact) + ", and no reason says so"};
  };
  if (job.held) {
    if (auto wrong = missing(ReasonCode::kHeld, "it is held")) return wrong;
  }
  if (!job.waits_for.empty()) {
    if (auto wrong = missing(ReasonCode::kDependencyPending, "it waits for jobs")) return wrong;
  }
  const bool closed = configured(job.spec->queue) == nullptr;
  if (closed) {
    if (auto wrong = missing(ReasonCode::kQueueClosed, "its queue is gone")) return wrong;
  }
  const bool in_array = mirror_.waits_for_array(job);
  if (in_array) {
    if (auto wrong = missing(ReasonCode::kArrayLimit, "its array has its number started"))
      return wrong;
  }
  if (job.repairing) return missing(ReasonCode::kWaitsForRepair, "places are kept for its gang");
  if (job.claims()) return missing(ReasonCode::kPreemptionPending, "room is promised to it");
  const std::optional<std::vector<Role>> roles = within_quota(job, true);
  const bool over = !roles;
  const bool says_so = has(reasons, ReasonCode::kExceedsQuotaMax) ||
                       has(reasons, ReasonCode::kQuotaInUse) ||
                       has(reasons, ReasonCode::kExceedsTenantQuotaMax) ||
                       has(reasons, ReasonCode::kTenantQuotaInUse);
  if (over && !says_so) return Wrong{"I13", "a quota is in its way, and no reason says so"};
  if (job.held || !job.waits_for.empty() || closed || over || in_array) return std::nullopt;
  const bool fits = std::all_of(roles->begin(), roles->end(), [&](const Role& role) {
    return total(now_, role.each, true) >= role.min;
  });
  const bool narrowed = *roles != job.spec->roles;
  if (narrowed && !says_so)
    return Wrong{"I13", "some models are not for it, and no reason says so"};
  if (narrowed && (!fits || has_hard_topology(*job.spec))) return std::nullopt;
  const TopologyReach now = reach(*job.spec, now_, true);
  const bool allowed = !has_hard_topology(*job.spec) || now.tasks >= now.need;
  // Room that others are promised soon is not for it.
  const bool planned_around =
      has(reasons, ReasonCode::kReserved) || has(reasons, ReasonCode::kWouldDelayReservation);
  if (fits && allowed && (planned_around || world_.goes_by_rounds(*job.spec))) return std::nullopt;
  // Roles that fit one by one need not fit together.
  if (fits && allowed && job.spec->roles.size() == 1)
    return Wrong{"I9", "it fits, nothing is in its way, and it does not start"};
  if (world_.goes_by_rounds(*job.spec)) return std::nullopt;
  if (fillers_in_the_way(job)) return Wrong{"I9", "fillers hold the room that it has a right to"};
  const bool only_place = std::all_of(reasons.begin(), reasons.end(), [](const Reason& reason) {
    return reason.code == ReasonCode::kReserved || reason.code == ReasonCode::kBehindInQueue ||
           reason.code == ReasonCode::kNotYetConsidered || reason.code == ReasonCode::kQueueTurn;
  });
  if (only_place) return Wrong{"C8", "it does not fit, and no reason says so"};
  return std::nullopt;
}

}  // namespace gridfold::verify
