#include "engine/queue_tree.h"

#include "base/planted.h"

namespace gridfold {
namespace {

struct Need {
  std::string resource;
  __int128 amount = 0;
};

// Sums by resource: cpu, memory, then each device class asked for.
std::vector<Need> needs_of(const Cluster& cluster, std::span<const QueueTree::Ask> asks) {
  std::vector<Need> needs{{"cpu", 0}, {"memory", 0}};
  for (const QueueTree::Ask& ask : asks) {
    needs[0].amount += static_cast<__int128>(ask.request->cpu) * ask.tasks;
    needs[1].amount += static_cast<__int128>(ask.request->memory) * ask.tasks;
    for (const DeviceNeed& device : ask.request->devices) {
      const std::string name(cluster.class_name(device.device_class));
      Need* found = nullptr;
      for (Need& need : needs) {
        if (need.resource == name) found = &need;
      }
      if (found == nullptr) found = &needs.emplace_back(Need{name, 0});
      found->amount += static_cast<__int128>(device.charge()) * ask.tasks;
    }
  }
  return needs;
}

std::optional<std::int64_t> limit_of(const QueueSpec& spec, const std::string& resource) {
  if (resource == "cpu")
    return spec.cpu.is_unlimited() ? std::nullopt : std::optional(spec.cpu.bound().value);
  if (resource == "memory")
    return spec.memory.is_unlimited() ? std::nullopt : std::optional(spec.memory.bound().value);
  const auto it = spec.devices.find(resource);
  return it == spec.devices.end() ? std::nullopt : std::optional(it->second);
}

std::int64_t used_of(const QueueUsage& usage, const std::string& resource) {
  if (resource == "cpu") return usage.cpu;
  if (resource == "memory") return usage.memory;
  const auto it = usage.devices.find(resource);
  return it == usage.devices.end() ? 0 : it->second;
}

}  // namespace

QueueId QueueTree::intern(std::string_view name) {
  if (const auto known = find(name)) return *known;
  QueueId parent = QueueId::none();
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos)
    parent = intern(name.substr(0, slash));
  const QueueId id(static_cast<std::uint32_t>(queues_.size()));
  queues_.emplace_back();
  queues_.back().spec.name = std::string(name);
  queues_.back().parent = parent;
  by_name_.emplace(std::string(name), id);
  return id;
}

void QueueTree::configure(const QueueSpec& spec) {
  Queue& queue = queues_[intern(spec.name).value];
  queue.spec = spec;
  queue.exists = true;
}

void QueueTree::remove(std::string_view name) {
  const auto id = find(name);
  if (!id) return;
  Queue& queue = queues_[id->value];
  queue.exists = false;
  queue.spec = QueueSpec{};
  queue.spec.name = std::string(name);
}

std::optional<QueueId> QueueTree::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

std::vector<QueueSpec> QueueTree::specs() const {
  std::vector<QueueSpec> specs;
  for (const auto& [name, id] : by_name_) {
    if (queues_[id.value].exists) specs.push_back(queues_[id.value].spec);
  }
  return specs;
}

void QueueTree::charge(QueueId queue, const Cluster& cluster, const Request& request, int count) {
  for (QueueId id = queue; !id.is_none(); id = queues_[id.value].parent) {
    QueueUsage& usage = queues_[id.value].usage;
    usage.cpu += count * request.cpu;
    usage.memory += count * request.memory;
    for (const DeviceNeed& need : request.devices) {
      usage.devices[std::string(cluster.class_name(need.device_class))] += count * need.charge();
    }
  }
}

void QueueTree::count_jobs(QueueId queue, int running, int pending) {
  for (QueueId id = queue; !id.is_none(); id = queues_[id.value].parent) {
    queues_[id.value].usage.running_jobs += running;
    queues_[id.value].usage.pending_jobs += pending;
  }
}

std::optional<Reason> QueueTree::blocked(QueueId queue, const Cluster& cluster,
                                         std::span<const Ask> asks, Against against) const {
  bool limited = false;
  for (QueueId id = queue; !id.is_none(); id = queues_[id.value].parent) {
    const QueueSpec& spec = queues_[id.value].spec;
    limited |= !spec.cpu.is_unlimited() || !spec.memory.is_unlimited() || !spec.devices.empty();
  }
  if (!limited) return std::nullopt;
  for (const Need& need : needs_of(cluster, asks)) {
    for (QueueId id = queue; !id.is_none(); id = queues_[id.value].parent) {
      const Queue& at = queues_[id.value];
      const auto limit = limit_of(at.spec, need.resource);
      if (!limit) continue;
      const std::int64_t used = against == Against::kFree ? used_of(at.usage, need.resource) : 0;
      const __int128 missing = need.amount + used - *limit;
      if (need.amount == 0 || missing <= (GRIDFOLD_PLANTED_BUG(quota_off_by_one) ? 1000 : 0))
        continue;
      std::vector<Reason::Param> params{{"queue", at.spec.name},
                                        {"resource", need.resource},
                                        {"need", static_cast<std::int64_t>(need.amount)},
                                        {"limit", *limit}};
      if (against == Against::kLimit)
        return Reason(ReasonCode::kExceedsQuotaMax, std::move(params));
      params.emplace_back("used", used);
      params.emplace_back("short", static_cast<std::int64_t>(missing));
      return Reason(ReasonCode::kQuotaInUse, std::move(params));
    }
  }
  return std::nullopt;
}

}  // namespace gridfold
