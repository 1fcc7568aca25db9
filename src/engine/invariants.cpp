// Recounts the derived state from the records. Slow and plain on purpose: it
// shares no code with what it checks but the vocabulary.
#include <algorithm>

#include "engine/state.h"

namespace gridfold {
namespace {

std::string node_text(const Cluster& cluster, NodeId node) {
  return "node " + cluster.record(node).spec.name;
}

bool same_room(const NodeRoom& a, const NodeRoom& b) {
  if (a.cpu != b.cpu || a.memory != b.memory || a.devices.size() != b.devices.size()) return false;
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    const DeviceRoom& x = a.devices[i];
    const DeviceRoom& y = b.devices[i];
    if (x.free_share != y.free_share || x.holders != y.holders || x.free_memory != y.free_memory ||
        x.usable != y.usable || x.free_slots != y.free_slots)
      return false;
  }
  return true;
}

// Partitions begin where they may and share no slot, and whole devices lie to
// each other as they were asked for: by the specs, not by the books.
std::optional<std::string> broken_choice(const Cluster& cluster, NodeId node) {
  const std::vector<DeviceSpec>& devices = cluster.record(node).spec.devices;
  std::map<std::size_t, std::uint32_t> slots;  // taken, by device
  for (const Holding& holding : cluster.holdings(node)) {
    for (const DeviceRequest& group : cluster.request(holding.request).source.devices) {
      if (group.partition.empty() && group.place != DevicePlace::kSingleNuma) continue;
      std::set<std::int32_t> numa;
      for (std::size_t i = 0; i < devices.size(); ++i) {
        if (!(holding.devices >> i & 1) || devices[i].device_class != group.device_class) continue;
        numa.insert(devices[i].numa);
        for (const PartitionProfile& profile : devices[i].partitions) {
          if (profile.name != group.partition) continue;
          const auto& starts = profile.starts;
          if (std::find(starts.begin(), starts.end(), holding.start()) == starts.end())
            return "a partition begins where it may not";
          for (std::int32_t s = holding.start(); s < holding.start() + profile.length; ++s) {
            if ((slots[i] >> s & 1) != 0) return "two partitions share a slot";
            slots[i] |= std::uint32_t{1} << s;
          }
        }
      }
      if (group.place == DevicePlace::kSingleNuma && group.count > 1 &&
          (numa.size() != 1 || numa.contains(-1)))
        return "devices that were to be on one NUMA node are not";
    }
  }
  return std::nullopt;
}

// The node's domain of the level, by its path; the node itself for kNodeLevel.
std::string domain_of(const NodeRecord& node, const std::string& level) {
  if (level == kNodeLevel) return node.spec.name;
  std::string path;
  for (const DomainStep& step : node.spec.domains) {
    path += "/" + step.name;
    if (step.level == level) return path;
  }
  return {};
}

}  // namespace

std::optional<std::string> Engine::check_invariants() const {
  State& s = *state_;
  const Cluster& cluster = s.cluster;

  // No device, core or byte is given out twice.
  Cluster::Scratch book;
  for (std::uint32_t n = 0; n < cluster.size(); ++n) {
    const NodeId node(n);
    cluster.actual(node, book);
    if (book.cpu < 0) return node_text(cluster, node) + ": more CPU held than there is";
    if (book.memory < 0) return node_text(cluster, node) + ": more memory held than there is";
    for (const DeviceRoom& device : book.room().devices) {
      if (device.free_share < 0 || device.holders < 0 ||
          (device.table == 0 && device.memory >= 0 && device.free_memory < 0))
        return node_text(cluster, node) + ": a device is held beyond its whole";
    }
    if (cluster.claims(node).empty() && !same_room(book.room(), cluster.room(node)))
      return node_text(cluster, node) + ": its room is not its capacity less its holdings";
    for (const Holding& holding : cluster.holdings(node)) {
      const EngineJob* job = s.find(holding.job);
      if (job == nullptr || holding.index >= job->record.tasks.size())
        return node_text(cluster, node) + ": held by a task that is not there";
      const TaskRecord& task = job->record.tasks[holding.index];
      if (!holds_allocation(task.phase) || task.allocation.node != node ||
          task.allocation.devices != holding.devices || task.allocation.start != holding.start())
        return node_text(cluster, node) + ": its books and the task's record differ";
    }
  }

  for (std::uint32_t n = 0; n < cluster.size(); ++n) {
    if (const auto broken = broken_choice(cluster, NodeId(n)))
      return node_text(cluster, NodeId(n)) + ": " + *broken;
  }

  for (std::uint32_t n = 0; n < cluster.size(); ++n) {
    const NodeSpec& node = cluster.record(NodeId(n)).spec;
    const bool in_window = std::any_of(
        s.windows.planned().begin(), s.windows.planned().end(), [&](const NodeWindow& window) {
          return window.from <= s.now && s.now < window.until && window.where.matches(node);
        });
    if (in_window != cluster.is_closed(NodeId(n)))
      return node_text(cluster, NodeId(n)) + ": closed outside its windows, or open in one";
  }

  std::map<std::uint32_t, std::int64_t> cpu_by_queue;
  std::size_t pending = 0;
  for (const EngineJob* at : s.jobs.in_order()) {
    const EngineJob& job = *at;
    const JobRecord& record = job.record;
    const std::string name = "job " + std::to_string(record.id.value);
    std::uint32_t index = 0;
    std::int64_t holding = 0;
    for (const Role& role : record.spec->roles) {
      std::int64_t present = 0;
      for (std::int32_t i = 0; i < role.count; ++i, ++index) {
        const TaskRecord& task = record.tasks[index];
        present += task.phase != TaskPhase::kIdle;
        if (holds_allocation(task.phase)) {
          ++holding;
          cpu_by_queue[job.queue.value] += s.request_of(job, index).cpu;
        }
        if (!task.claim.node.is_none())
          cpu_by_queue[job.queue.value] += s.request_of(job, index).cpu;
      }
      const bool runs = record.state == JobState::kStarting || record.state == JobState::kRunning;
      if (runs && present < role.min) return name + ": a gang runs below its minimum";
      if (runs && job.by_rounds && present % role.multiple_of != 0)
        return name + ": the number of its tasks is not a multiple of what it must be";
    }
    if (const std::string& level = record.spec->topology.require; !level.empty()) {
      std::set<std::string> used;
      for (const TaskRecord& task : record.tasks) {
        if (holds_allocation(task.phase))
          used.insert(domain_of(cluster.record(task.allocation.node), level));
      }
      if (used.size() > 1 || used.count("") != 0)
        return name + ": crosses the domain that it requires";
    }
    if (record.state == JobState::kPending && holding != 0) return name + ": pending, yet holds";
    if (is_terminal(record.state) && holding != 0) return name + ": ended, yet holds";
    if ((record.state == JobState::kStopping) != (record.stopping != StopCause::kNone))
      return name + ": state and stop cause differ";
    const bool claims = s.claiming.count(s.key_of(job)) != 0;
    const bool reserved = s.plans.reserved.count(s.key_of(job)) != 0;
    if (reserved != (record.reservation && s.plans.timeline.is_booked(record.id)))
      return name + ": its reservation is not in the plans";
    const bool waits = record.state == JobState::kPending && !record.held &&
                       record.waits_for.empty() && !claims && !reserved && !job.by_rounds &&
                       (record.array_limit == 0 || job.admitted);
    const bool in_rounds = s.rounds.jobs.count(record.id) != 0;
    if (in_rounds != (job.by_rounds && !is_terminal(record.state)))
      return name + ": goes by rounds, yet is not among their jobs, or the other way round";
    if (claims != (record.state == JobState::kPending && has_claim(record)))
      return name + ": room is promised to it, yet it does not wait for it";
    if (record.repairing && !claims && record.stopping != StopCause::kNodeLost)
      return name + ": is being repaired, yet keeps no place";
    if (waits != (job.group != nullptr)) return name + ": waits for room, yet is in no group";
    pending += job.group != nullptr;
  }
  for (const auto& [queue, cpu] : cpu_by_queue) {
    (void)cpu;
    if (s.queues.cpu_used(QueueId(queue)) < cpu) return "queue usage below the sum of its jobs";
  }

  std::vector<CommunicationCost::Running> sending;
  for (const EngineJob* job : s.jobs.in_order()) {
    if (is_sending(job->record))
      sending.push_back({job->record.id, job->record.spec, communicating_tasks(job->record)});
  }
  if (auto broken = s.communication.check(sending)) return broken;

  std::size_t grouped = 0;
  std::size_t parked = 0;
  for (const auto& [key, shape] : s.shapes) {
    const PendingGroup& group = shape->group;
    const bool is_parked = group.parked != PendingGroup::Parked::kNo;
    grouped += group.jobs.size();
    parked += is_parked;
    if (group.jobs.empty()) {
      if (is_parked) return "a group without jobs is parked";
      continue;
    }
    const bool ready = s.ready.has(group.queue, group.kind, *group.jobs.begin(), &group);
    if (ready == is_parked) return "a group is parked and ready at once, or neither";
  }
  if (parked != s.parked.size()) return "the list of parked groups is not that of the groups";
  if (grouped != pending) return "groups and jobs disagree on who waits";
  return std::nullopt;
}

}  // namespace gridfold
