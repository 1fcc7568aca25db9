// The queues, their limits, and what is held and claimed beneath each. "a/b"
// lies beneath "a": what b holds counts against a as well.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster.h"
#include "engine/engine.h"
#include "model/node.h"
#include "model/reason.h"

namespace gridfold {

class QueueTree {
 public:
  // Index of the queue of this name; made (as one that does not exist) when it
  // is not known, so that a job whose queue was removed still has one.
  QueueId intern(std::string_view name);
  void configure(const QueueSpec& spec);
  void remove(std::string_view name);

  bool exists(QueueId queue) const { return queues_[queue.value].exists; }
  const QueueSpec& spec(QueueId queue) const { return queues_[queue.value].spec; }
  // Whether the queue or an ancestor limits anything.
  bool has_limits(QueueId queue) const;
  QueueUsage usage(QueueId queue, const Cluster& cluster) const;
  std::int64_t cpu_used(QueueId queue) const { return queues_[queue.value].usage.cpu; }
  std::optional<QueueId> find(std::string_view name) const;
  // Whether `inner` is `outer` or lies beneath it.
  bool contains(QueueId outer, QueueId inner) const;
  // The queue or its nearest ancestor whose order may be enforced by stopping
  // work (QueueSpec::preempts); none: there is none.
  QueueId preempting(QueueId queue) const;
  bool any_preempts() const { return preempting_ > 0; }
  std::vector<QueueSpec> specs() const;

  // One task's holding or claim, added (count +1) or taken off (-1), here and
  // in every ancestor.
  void charge(QueueId queue, const Request& request, int count);
  void count_jobs(QueueId queue, int running, int pending);

  // A request and how many tasks of it.
  struct Ask {
    const Request* request = nullptr;
    std::int64_t tasks = 0;
  };
  enum class Against : std::uint8_t { kLimit, kFree };
  // Why `asks` together break a limit of the queue or an ancestor: by
  // themselves (kLimit: ExceedsQuotaMax) or on top of what is used (kFree:
  // QuotaInUse). Empty: they do not.
  std::optional<Reason> blocked(QueueId queue, const Cluster& cluster, std::span<const Ask> asks,
                                Against against) const;

 private:
  // As QueueUsage, device classes by number.
  struct Usage {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::int64_t running_jobs = 0;
    std::int64_t pending_jobs = 0;
    struct Class {
      std::int64_t thousandths = 0;
      bool charged = false;  // ever
    };
    std::vector<Class> classes;
  };
  struct Need {
    std::string resource;
    std::optional<std::uint16_t> device_class;  // none: cpu or memory
    __int128 amount = 0;
  };
  static std::vector<Need> needs_of(const Cluster& cluster, std::span<const Ask> asks);
  static std::int64_t used_of(const Usage& usage, const Need& need);

  struct Queue {
    QueueSpec spec;
    Usage usage;
    QueueId parent = QueueId::none();
    bool exists = false;
  };
  std::vector<Queue> queues_;
  std::int32_t preempting_ = 0;  // queues that preempt
  std::map<std::string, QueueId, std::less<>> by_name_;
};

}  // namespace gridfold
