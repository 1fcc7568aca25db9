// The queues, their limits, and what is held and claimed beneath each. "a/b"
// lies beneath "a": what b holds counts against a as well. Where tenants of a
// queue are told apart, each has a place beneath it, and their jobs are
// charged there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster.h"
#include "engine/decayed_usage.h"
#include "engine/engine.h"
#include "engine/turn.h"
#include "model/queue.h"
#include "model/reason.h"

namespace gridfold {

class QueueTree {
 public:
  // The cluster outlives it.
  explicit QueueTree(const Cluster& cluster) : cluster_(cluster) {}

  // Index of the queue of this name; made (as one that does not exist) when it
  // is not known, so that a job whose queue was removed still has one.
  QueueId intern(std::string_view name);
  // Where jobs of this tenant are charged: its place beneath the queue, or the
  // queue itself where tenants are not told apart.
  QueueId place_of(std::string_view queue, std::string_view tenant);
  // Charges stay where they are: jobs whose place this changes (see
  // takes_turns_with) are detached before and attached anew after it.
  void configure(const QueueSpec& spec);
  void remove(std::string_view name);

  // Of the place's queue.
  bool exists(QueueId place) const { return queue_at(place).exists; }
  const QueueSpec& spec(QueueId place) const { return queue_at(place).spec; }
  QueueId queue_of(QueueId place) const {
    return queues_[place.value].is_tenant ? queues_[place.value].parent : place;
  }
  // Whether it or what lies above limits anything.
  bool has_limits(QueueId place) const;
  QueueUsage usage(QueueId queue) const;
  std::int64_t cpu_used(QueueId place) const { return queues_[place.value].usage.cpu; }
  std::optional<QueueId> find(std::string_view name) const;
  // Whether `inner` is `outer` or lies beneath it.
  bool contains(QueueId outer, QueueId inner) const;
  // The queue or its nearest ancestor whose order may be enforced by stopping
  // work (QueueSpec::preempts); none: there is none.
  QueueId preempting(QueueId queue) const;
  bool any_preempts() const { return preempting_ > 0; }
  std::vector<QueueSpec> specs() const;
  // Its configuration; none: there is no such queue.
  std::optional<QueueSpec> configured(std::string_view name) const;

  // One task's holding or claim, added (count +1) or taken off (-1), here and
  // above.
  void charge(QueueId place, const Request& request, int count);
  void count_jobs(QueueId place, int running, int pending);
  void count_claiming(QueueId place, int jobs);

  // A request and how many tasks of it.
  struct Ask {
    const Request* request = nullptr;
    std::int64_t tasks = 0;
  };
  enum class Against : std::uint8_t { kLimit, kFree };
  // Why one job of these `asks` breaks a limit of its place or above: by itself
  // (kLimit: ExceedsQuotaMax) or on top of what is used (kFree: QuotaInUse).
  // Empty: it does not.
  std::optional<Reason> blocked(QueueId place, std::span<const Ask> asks, Against against) const;

  // --- Turns by share ---

  // Whether queues take turns by what they hold, rather than in the order of
  // submission: some queue has a weight or a guarantee. Whether it would be so
  // after these changes, of different queues.
  bool takes_turns() const { return shared_ > 0; }
  bool takes_turns_with(std::span<const QueueChange> changes) const;
  // How what is held enters a share, from now on: all of the configuration but
  // its queues.
  void share_as(const QueueConfiguration& configuration);
  bool shares_as(const QueueConfiguration& configuration) const;
  QueueConfiguration sharing() const;  // without queues
  // The time from which on changes are made; not before the last.
  void set_time(Instant now) { now_ = now; }

  // Which of two places beneath the same queue is served first: the higher
  // priority; who holds less than guaranteed to it; the smaller share a weight;
  // by name.
  bool goes_before(QueueId a, QueueId b);
  // The largest of its parts of what there is, by resource, held now and on
  // decayed average (half-life) together, in millionths, divided by its weight:
  // the dominant share of Ghodsi et al., Dominant Resource Fairness (NSDI 2011),
  // level by level as in Bhattacharya et al. (SoCC 2013).
  std::int64_t share_of(QueueId place);
  // Whether it holds less of something than it is guaranteed of it.
  bool is_owed(QueueId place) const;

  // --- Guarantees against each other (reclaim.cpp) ---

  struct Amounts {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::vector<std::int64_t> classes;  // thousandths, by device class
    void add(const Request& request);
  };
  bool any_guaranteed() const { return guaranteed_ > 0; }
  // The lowest place that is, or lies above, both; none: there is none.
  QueueId common(QueueId a, QueueId b) const;
  // Of the places from `place` up the one right beneath `above`.
  QueueId beneath(QueueId above, QueueId place) const;
  // The lowest place from `place` up with a guarantee; none: there is none.
  QueueId nearest_guaranteed(QueueId place) const;
  // Whether `asks` on top of what is held are within the guarantees of the places
  // from `place` up to `top`, one of which has one. What a guarantee does not
  // name counts only where a device is asked for: then that must be named.
  bool is_within_guarantee(QueueId place, QueueId top, std::span<const Ask> asks) const;
  // Whether each place from `place` up, and beneath `above`, holds more of
  // something than it is guaranteed.
  bool borrows(QueueId place, QueueId above) const;
  // Whether it holds what it is guaranteed without these, of what they hold.
  bool keeps_guarantee(QueueId place, const Amounts& gone) const;
  QueueId parent(QueueId place) const { return queues_[place.value].parent; }

 private:
  // As QueueUsage, device classes by number.
  struct Usage {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::int64_t running_jobs = 0;
    std::int64_t pending_jobs = 0;
    std::int64_t claiming_jobs = 0;
    struct Class {
      std::int64_t thousandths = 0;
      bool charged = false;  // ever
    };
    std::vector<Class> classes;
  };
  struct Need {
    std::string resource;
    std::optional<std::uint16_t> device_class;  // none: cpu, memory or jobs
    __int128 amount = 0;
  };
  std::vector<Need> needs_of(std::span<const Ask> asks) const;
  static std::int64_t used_of(const Usage& usage, const Need& need);

  struct Queue {
    QueueSpec spec;  // of a tenant's place: only the name, which is the tenant's
    Usage usage;
    DecayedUsage lately;
    QueueId parent = QueueId::none();
    std::map<std::string, QueueId, std::less<>> tenants;
    bool is_tenant = false;
    bool exists = false;
  };
  bool asks_within(const Queue& place, std::span<const Need> needs) const;
  const Queue& queue_at(QueueId place) const { return queues_[queue_of(place).value]; }
  // What limits this place itself.
  const QueueLimit& limit_at(const Queue& place) const;
  bool tells_tenants_apart(const Queue& queue) const {
    return shared_ > 0 || !queue.spec.each_tenant.empty();
  }
  void remember(Queue& place);

  const Cluster& cluster_;
  std::vector<Queue> queues_;
  std::int32_t preempting_ = 0;  // queues that preempt
  std::int32_t guaranteed_ = 0;  // queues with a guarantee
  std::map<std::string, QueueId, std::less<>> by_name_;
  std::size_t shared_ = 0;  // queues that have a weight or a guarantee
  Duration half_life_{};
  WorkUnits work_units_;
  Instant now_{};
  std::vector<std::int64_t> held_;  // of remember(), kept for its memory
};

}  // namespace gridfold
