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
#include "model/usage_record.h"

namespace gridfold {

// Whether some amount is of a model rather than a class.
bool names_models(const DeviceAmounts& amounts);
// Whether the queue, or what each tenant of it may have, is limited by models.
bool limits_models(const QueueSpec& spec);

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
  // above. Taken off as it was added: while something is charged for a node, its
  // devices stay of their models.
  void charge(QueueId place, const Request& request, const Allocation& at, int count);
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
  // Empty: it does not. Where devices may be of several models, it is blocked once
  // none of these leaves enough for all of its tasks; where they would do together,
  // what each leaves is told as well (`models`).
  std::optional<Reason> blocked(QueueId place, std::span<const Ask> asks, Against against) const;

  // --- Models of devices (queue_models.cpp) ---

  // Whether it or what lies above limits a model of devices.
  bool limits_models(QueueId place) const;
  // Of the models that the need (of one of these asks) accepts, those whose limits
  // leave enough now for all tasks that accept them, or else would if nothing were
  // used; none: all of them, or not one.
  std::optional<std::vector<std::string>> models_within(QueueId place, std::span<const Ask> asks,
                                                        const DeviceNeed& need) const;
  // Why each model is left out by that, one reason a model.
  std::vector<Reason> models_blocked(QueueId place, std::span<const Ask> asks) const;
  // A task's place, as far as it is chosen.
  struct Chosen {
    const Request* request = nullptr;
    Allocation at;
  };
  // Why these places, on top of what is used, break a limit of a model.
  std::optional<Reason> blocked_at(QueueId place, std::span<const Chosen> chosen) const;

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

  // --- What is remembered, for the store (queue_usage.cpp) ---

  enum class Remembered : std::uint8_t { kAll, kChanged };
  // What places have held lately, as of the last change of what they hold: of all,
  // or of those that have changed since usage_is_stored().
  std::vector<UsageRecord> usage_records(Remembered which) const;
  void usage_is_stored();
  // As told by an earlier usage_records(): what is held from that time on is what
  // will be charged. Of a tenant that is not told apart any more: nothing.
  void restore_usage(const UsageRecord& record);
  // Restored: what is charged has been held all along, so nothing is remembered of
  // the time before.
  enum class Charging : std::uint8_t { kAnew, kRestored };
  void set_charging(Charging charging) { charging_ = charging; }

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

  // --- Guarantees against each other (queue_guarantees.cpp; see reclaim.cpp) ---

  struct Amounts {
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    std::vector<std::int64_t> classes;  // thousandths, by device class
    std::vector<std::int64_t> models;   // thousandths, by number of the model
  };
  void add(const Request& request, const Allocation& at, Amounts& amounts) const;
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
  // A model of one device class, numbered here as they come.
  using ModelNumber = std::uint16_t;
  struct Model {
    std::string device_class, model;
    std::string name() const { return device_class + ':' + model; }
  };
  // As QueueUsage, device classes and models by number.
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
    std::vector<std::int64_t> models;  // thousandths
  };
  struct Need {
    std::string resource;
    std::optional<std::uint16_t> device_class;  // none: cpu, memory, jobs or a model
    __int128 amount = 0;
    std::optional<ModelNumber> model = std::nullopt;
    bool is_job = false;
  };
  std::vector<Need> needs_of(std::span<const Ask> asks) const;
  static std::int64_t used_of(const Usage& usage, const Need& need);
  std::optional<Reason> over(QueueId place, const Need& need, Against against) const;

  ModelNumber model_named(std::string_view device_class, std::string_view model) const;
  ModelNumber model_number(std::uint16_t device_class, std::uint16_t model) const;
  // By model, what the task's devices count for: calls add(number, thousandths).
  template <class Add>
  void each_model(const Request& request, const Allocation& at, Add add) const;
  std::vector<ModelNumber> accepted(const DeviceNeed& need) const;
  Need need_of_model(std::span<const Ask> asks, ModelNumber model) const;
  std::optional<std::int64_t> left_of_model(QueueId place, ModelNumber model,
                                            Against against) const;
  std::string left_together(QueueId place, std::span<const Ask> asks,
                            std::span<const ModelNumber> models, Against against) const;
  std::optional<Reason> blocked_by_models(QueueId place, std::span<const Ask> asks,
                                          Against against) const;
  std::int64_t models_held(const Usage& usage, ModelNumber model) const {
    return model < usage.models.size() ? usage.models[model] : 0;
  }
  // Of a class, in thousandths of a device, or of a work unit an hour where models
  // have rates.
  std::int64_t worth(const Usage& usage, std::size_t device_class) const;
  std::int64_t worth_of_supply(std::size_t device_class) const;
  std::int64_t rate_of(const std::string& model) const;

  struct Queue {
    QueueSpec spec;  // of a tenant's place: only the name, which is the tenant's
    Usage usage;
    DecayedUsage lately;
    QueueId parent = QueueId::none();
    std::map<std::string, QueueId, std::less<>> tenants;
    bool is_tenant = false;
    bool exists = false;
    bool usage_changed = false;  // since it was stored
  };
  bool asks_within(const Queue& place, std::span<const Need> needs,
                   std::span<const Ask> asks) const;
  bool models_within_right(const Queue& place, std::uint16_t device_class,
                           std::span<const Ask> asks) const;
  // Of a class or a model, by its name.
  std::int64_t devices_held(const Usage& usage, const std::string& device) const;
  std::int64_t devices_gone(const Amounts& gone, const std::string& device) const;
  bool borrows_models(const Queue& place, std::string_view device_class) const;
  const Queue& queue_at(QueueId place) const { return queues_[queue_of(place).value]; }
  // What limits this place itself.
  const QueueLimit& limit_at(const Queue& place) const;
  bool tells_tenants_apart(const Queue& queue) const {
    return shared_ > 0 || !queue.spec.each_tenant.empty();
  }
  void remember(Queue& place);
  void remember_before_change(QueueId place);

  const Cluster& cluster_;
  std::vector<Queue> queues_;
  std::int32_t preempting_ = 0;  // queues that preempt
  std::int32_t guaranteed_ = 0;  // queues with a guarantee
  std::map<std::string, QueueId, std::less<>> by_name_;
  std::size_t shared_ = 0;       // queues that have a weight or a guarantee
  std::size_t model_rules_ = 0;  // queues that limit or guarantee models
  // By ModelNumber; numbers are given as names are met, also while reading.
  mutable std::vector<Model> models_;
  mutable std::map<std::string, ModelNumber> model_names_;
  mutable std::map<std::pair<std::uint16_t, std::uint16_t>, ModelNumber> model_ids_;
  Duration half_life_{};
  WorkUnits work_units_;
  Instant now_{};
  Charging charging_ = Charging::kAnew;
  std::vector<QueueId> usage_changed_;        // places, each once
  std::vector<std::int64_t> held_;            // of remember(), kept for its memory
  std::vector<std::int64_t> models_charged_;  // of charge(), likewise
};

}  // namespace gridfold
