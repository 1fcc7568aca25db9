#include "model/queue.h"

#include <algorithm>
#include <set>

#include "base/quote.h"

namespace gridfold {
namespace {

// What the queue has a right to, of "cpu", "memory", a device class or a model:
// of a class at least what it has of its models together.
std::int64_t right_of(const QueueSpec& queue, const std::string& resource) {
  if (resource == "cpu") return queue.guaranteed.cpu.value;
  if (resource == "memory") return queue.guaranteed.memory.value;
  const auto it = queue.guaranteed.devices.find(resource);
  const std::int64_t own = it == queue.guaranteed.devices.end() ? 0 : it->second;
  std::int64_t models = 0;
  for (const auto& [name, amount] : queue.guaranteed.devices) {
    if (name != resource && device_class_of(name) == resource) models += amount;
  }
  return std::max(own, models);
}

std::string parent_of(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? std::string() : name.substr(0, slash);
}

}  // namespace

std::string_view device_class_of(std::string_view device) {
  return device.substr(0, device.find(':'));
}

std::optional<std::int64_t> QueueLimit::of(std::string_view resource) const {
  const auto bound_of = [](const auto& limit) -> std::optional<std::int64_t> {
    return limit.is_unlimited() ? std::nullopt : std::optional(limit.bound().value);
  };
  if (resource == "cpu") return bound_of(cpu);
  if (resource == "memory") return bound_of(memory);
  if (resource == "running_jobs")
    return running_jobs.is_unlimited() ? std::nullopt : std::optional(running_jobs.bound());
  const auto it = devices.find(std::string(resource));
  return it == devices.end() ? std::nullopt : std::optional(it->second);
}

std::optional<BrokenGuarantee> broken_guarantee(std::span<const QueueSpec> queues) {
  std::set<std::string> names{"cpu", "memory"};
  for (const QueueSpec& queue : queues) {
    for (const auto& [device, amount] : queue.guaranteed.devices) {
      names.insert(device);
      names.insert(std::string(device_class_of(device)));
    }
  }
  for (const std::string& name : names) {
    for (std::size_t q = 0; q < queues.size(); ++q) {
      const QueueSpec& queue = queues[q];
      std::int64_t promised = 0;  // to those directly beneath
      for (const QueueSpec& other : queues) {
        if (!queue.name.empty() && parent_of(other.name) == queue.name)
          promised += right_of(other, name);
      }
      const auto limit = queue.limit.of(name);
      if (limit && right_of(queue, name) > *limit)
        return BrokenGuarantee{
            q, "queue " + quote(queue.name) + " is guaranteed more " + name + " than its limit"};
      if (limit && promised > *limit)
        return BrokenGuarantee{q, "the queues beneath " + quote(queue.name) +
                                      " are guaranteed more " + name + " together than its limit"};
      if (right_of(queue, name) > 0 && promised > right_of(queue, name))
        return BrokenGuarantee{q, "the queues beneath " + quote(queue.name) +
                                      " are guaranteed more " + name +
                                      " together than it is guaranteed itself"};
    }
  }
  return std::nullopt;
}

}  // namespace gridfold
