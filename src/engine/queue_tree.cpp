#include "engine/queue_tree.h"

#include "base/planted.h"

namespace gridfold {
namespace {

std::optional<std::int64_t> limit_of(const QueueSpec& spec, const std::string& resource) {
  if (resource == "cpu")
    return spec.cpu.is_unlimited() ? std::nullopt : std::optional(spec.cpu.bound().value);
  if (resource == "memory")
    return spec.memory.is_unlimited() ? std::nullopt : std::optional(spec.memory.bound().value);
  const auto it = spec.devices.find(resource);
  return it == spec.devices.end() ? std::nullopt : std::optional(it->second);
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
  preempting_ += spec.preempts - queue.spec.preempts;
  queue.spec = spec;
  queue.exists = true;
}

void QueueTree::remove(std::string_view name) {
  const auto id = find(name);
  if (!id) return;
  Queue& queue = queues_[id->value];
  queue.exists = false;
  preempting_ -= queue.spec.preempts;
  queue.spec = QueueSpec{};
  queue.spec.name = std::string(name);
}

std::optional<QueueId> QueueTree::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

bool QueueTree::contains(QueueId outer, QueueId inner) const {
  for (QueueId id = inner; !id.is_none(); id = queues_[id.value].parent) {
    if (id == outer) return true;
  }
  return false;
}

QueueId QueueTree::preempting(QueueId queue) const {
  if (preempting_ == 0) return QueueId::none();
  for (QueueId id = queue; !id.is_none(); id = queues_[id.value].parent) {
    if (queues_[id.value].spec.preempts) return id;
  }
  return QueueId::none();
}

std::vector<QueueSpec> QueueTree::specs() const {
  std::vector<QueueSpec> specs;
  for (const auto& [name, id] : by_name_) {
    if (queues_[id.value].exists) specs.push_back(queues_[id.value].spec);
  }
  return specs;
}

void QueueTree::charge(QueueId queue, const Request& request, int count) {
  for (QueueId id = queue; !id.is_none(); id = queues_[id.value].parent) {
    Usage& usage = queues_[id.value].usage;
    usage.cpu += count * request.cpu;
    usage.memory += count * request.memory;
    for (const DeviceNeed& need : request.devices) {
      if (need.device_class >= usage.classes.size()) usage.classes.resize(need.device_class + 1u);
      Usage::Class& used = usage.classes[need.device_class];
      used.thousandths += count * need.charge();
      used.charged = true;
    }
  }
}

bool QueueTree::has_limits(QueueId queue) const {
  for (QueueId id = queue; !id.is_none(); id = queues_[id.value].parent) {
    const QueueSpec& spec = queues_[id.value].spec;
    if (!spec.cpu.is_unlimited() || !spec.memory.is_unlimited() || !spec.devices.empty())
      return true;
  }
  return false;
}

QueueUsage QueueTree::usage(QueueId queue, const Cluster& cluster) const {
  const Usage& mine = queues_[queue.value].usage;
  QueueUsage usage{mine.cpu, mine.memory, {}, mine.running_jobs, mine.pending_jobs};
  for (std::size_t i = 0; i < mine.classes.size(); ++i) {
    if (!mine.classes[i].charged) continue;
    const std::string name(cluster.class_name(static_cast<std::uint16_t>(i)));
    usage.devices[name] = mine.classes[i].thousandths;
  }
  return usage;
}

void QueueTree::count_jobs(QueueId queue, int running, int pending) {
  if (running == 0 && pending == 0) return;
  for (QueueId id = queue; !id.is_none(); id = queues_[id.value].parent) {
    queues_[id.value].usage.running_jobs += running;
    queues_[id.value].usage.pending_jobs += pending;
  }
}

// Sums by resource: cpu, memory, then each device class asked for.
std::vector<QueueTree::Need> QueueTree::needs_of(const Cluster& cluster,
                                                 std::span<const Ask> asks) {
  std::vector<Need> needs{{"cpu", std::nullopt, 0}, {"memory", std::nullopt, 0}};
  for (const Ask& ask : asks) {
    needs[0].amount += static_cast<__int128>(ask.request->cpu) * ask.tasks;
    needs[1].amount += static_cast<__int128>(ask.request->memory) * ask.tasks;
    for (const DeviceNeed& device : ask.request->devices) {
      Need* found = nullptr;
      for (Need& need : needs) {
        if (need.device_class == device.device_class) found = &need;
      }
      if (found == nullptr) {
        const std::string name(cluster.class_name(device.device_class));
        found = &needs.emplace_back(Need{name, device.device_class, 0});
      }
      found->amount += static_cast<__int128>(device.charge()) * ask.tasks;
    }
  }
  return needs;
}

std::int64_t QueueTree::used_of(const Usage& usage, const Need& need) {
  if (!need.device_class) return need.resource == "cpu" ? usage.cpu : usage.memory;
  const std::size_t index = *need.device_class;
  return index < usage.classes.size() ? usage.classes[index].thousandths : 0;
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
      const std::int64_t used = against == Against::kFree ? used_of(at.usage, need) : 0;
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
