#include "model/queue.h"

#include <algorithm>
#include <set>

#include "base/quote.h"

namespace gridfold {
namespace {

// Amounts of one resource over all queues: "cpu", "memory", or a device class.
struct Resource {
  std::string name;

  std::int64_t right(const QueueSpec& queue) const {
    if (name == "cpu") return queue.guaranteed.cpu.value;
    if (name == "memory") return queue.guaranteed.memory.value;
    const auto it = queue.guaranteed.devices.find(name);
    return it == queue.guaranteed.devices.end() ? 0 : it->second;
  }
  std::optional<std::int64_t> limit(const QueueSpec& queue) const {
    const QueueLimit& limit = queue.limit;
    if (name == "cpu")
      return limit.cpu.is_unlimited() ? std::nullopt : std::optional(limit.cpu.bound().value);
    if (name == "memory")
      return limit.memory.is_unlimited() ? std::nullopt : std::optional(limit.memory.bound().value);
    const auto it = limit.devices.find(name);
    return it == limit.devices.end() ? std::nullopt : std::optional(it->second);
  }
};

std::string parent_of(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? std::string() : name.substr(0, slash);
}

}  // namespace

std::optional<BrokenGuarantee> broken_guarantee(std::span<const QueueSpec> queues) {
  std::set<std::string> names{"cpu", "memory"};
  for (const QueueSpec& queue : queues) {
    for (const auto& [device_class, amount] : queue.guaranteed.devices) names.insert(device_class);
  }
  for (const std::string& name : names) {
    const Resource resource{name};
    for (std::size_t q = 0; q < queues.size(); ++q) {
      const QueueSpec& queue = queues[q];
      std::int64_t promised = 0;  // to those directly beneath
      for (const QueueSpec& other : queues) {
        if (!queue.name.empty() && parent_of(other.name) == queue.name)
          promised += resource.right(other);
      }
      const auto limit = resource.limit(queue);
      if (limit && resource.right(queue) > *limit)
        return BrokenGuarantee{
            q, "queue " + quote(queue.name) + " is guaranteed more " + name + " than its limit"};
      if (limit && promised > *limit)
        return BrokenGuarantee{q, "the queues beneath " + quote(queue.name) +
                                      " are guaranteed more " + name + " together than its limit"};
      if (resource.right(queue) > 0 && promised > resource.right(queue))
        return BrokenGuarantee{q, "the queues beneath " + quote(queue.name) +
                                      " are guaranteed more " + name +
                                      " together than it is guaranteed itself"};
    }
  }
  return std::nullopt;
}

}  // namespace gridfold
