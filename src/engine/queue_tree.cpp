#include "engine/queue_tree.h"

#include <algorithm>
#include <utility>

#include "base/planted.h"

namespace gridfold {
namespace {

constexpr std::string_view kJobs = "running_jobs";

bool has_share(const QueueSpec& spec) { return spec.weight > 0 || !spec.guaranteed.empty(); }

// Amounts as they enter a mean: bytes are counted in MiB, so that no sum
// overflows.
constexpr std::int64_t kMiB = 1 << 20;

bool rules_models(const QueueSpec& spec) {
  return limits_models(spec) || names_models(spec.guaranteed.devices);
}

}  // namespace

bool names_models(const DeviceAmounts& amounts) {
  return std::any_of(amounts.begin(), amounts.end(), [](const auto& amount) {
    return amount.first.find(':') != std::string::npos;
  });
}

bool limits_models(const QueueSpec& spec) {
  return names_models(spec.limit.devices) || names_models(spec.each_tenant.devices);
}

// --- Places ---

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

QueueId QueueTree::place_of(std::string_view queue, std::string_view tenant) {
  const QueueId id = intern(queue);
  if (!tells_tenants_apart(queues_[id.value])) return id;
  const auto known = queues_[id.value].tenants.find(tenant);
  if (known != queues_[id.value].tenants.end()) return known->second;
  const QueueId place(static_cast<std::uint32_t>(queues_.size()));
  queues_.emplace_back();
  queues_.back().spec.name = std::string(tenant);
  queues_.back().parent = id;
  queues_.back().is_tenant = true;
  queues_[id.value].tenants.emplace(std::string(tenant), place);
  return place;
}

void QueueTree::configure(const QueueSpec& spec) {
  Queue& queue = queues_[intern(spec.name).value];
  shared_ -= has_share(queue.spec);
  guaranteed_ += !spec.guaranteed.empty() - !queue.spec.guaranteed.empty();
  preempting_ += spec.preempts - queue.spec.preempts;
  model_rules_ += rules_models(spec);
  model_rules_ -= rules_models(queue.spec);
  queue.spec = spec;
  queue.exists = true;
  shared_ += has_share(spec);
}

void QueueTree::remove(std::string_view name) {
  const auto id = find(name);
  if (!id) return;
  Queue& queue = queues_[id->value];
  shared_ -= has_share(queue.spec);
  queue.exists = false;
  preempting_ -= queue.spec.preempts;
  model_rules_ -= rules_models(queue.spec);
  guaranteed_ -= !queue.spec.guaranteed.empty();
  queue.spec = QueueSpec{};
  queue.spec.name = std::string(name);
}

bool QueueTree::takes_turns_with(std::span<const QueueChange> changes) const {
  std::size_t shared = shared_;
  for (const auto& [name, spec] : changes) {
    const auto known = find(name);
    shared -= known && has_share(queues_[known->value].spec);
    shared += spec && has_share(*spec);
  }
  return shared > 0;
}

void QueueTree::share_as(const QueueConfiguration& configuration) {
  // What was held up to now is remembered as it counted then.
  if (half_life_ > Duration{}) {
    for (Queue& place : queues_) remember(place);
  }
  half_life_ = configuration.usage_half_life;
  if (half_life_ <= Duration{}) {
    for (Queue& place : queues_) place.lately = DecayedUsage();
  }
  work_units_ = configuration.work_units;
}

bool QueueTree::shares_as(const QueueConfiguration& configuration) const {
  return half_life_ == configuration.usage_half_life && work_units_ == configuration.work_units;
}

QueueConfiguration QueueTree::sharing() const { return {{}, half_life_, work_units_}; }

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

std::optional<QueueSpec> QueueTree::configured(std::string_view name) const {
  const auto known = find(name);
  if (!known || !queues_[known->value].exists) return std::nullopt;
  return queues_[known->value].spec;
}

// --- Usage ---

bool QueueTree::has_limits(QueueId place) const {
  for (QueueId id = place; !id.is_none(); id = queues_[id.value].parent) {
    if (!limit_at(queues_[id.value]).empty()) return true;
  }
  return false;
}

QueueUsage QueueTree::usage(QueueId queue) const {
  const Usage& mine = queues_[queue.value].usage;
  QueueUsage usage;
  usage.cpu = mine.cpu;
  usage.memory = mine.memory;
  usage.running_jobs = mine.running_jobs;
  usage.pending_jobs = mine.pending_jobs;
  for (std::size_t i = 0; i < mine.classes.size(); ++i) {
    if (!mine.classes[i].charged) continue;
    const std::string name(cluster_.class_name(static_cast<std::uint16_t>(i)));
    usage.devices[name] = mine.classes[i].thousandths;
    if (!work_units_.by_model.empty()) usage.work_units[name] = worth(mine, i);
  }
  for (std::size_t m = 0; m < mine.models.size(); ++m) {
    if (mine.models[m] != 0) usage.devices[models_[m].name()] = mine.models[m];
  }
  return usage;
}

void QueueTree::count_jobs(QueueId place, int running, int pending) {
  if (running == 0 && pending == 0) return;
  for (QueueId id = place; !id.is_none(); id = queues_[id.value].parent) {
    queues_[id.value].usage.running_jobs += running;
    queues_[id.value].usage.pending_jobs += pending;
  }
}

void QueueTree::count_claiming(QueueId place, int jobs) {
  for (QueueId id = place; !id.is_none(); id = queues_[id.value].parent)
    queues_[id.value].usage.claiming_jobs += jobs;
}

// --- Limits ---

// Sums by resource: cpu, memory, the job itself, then each device class asked
// for.
std::vector<QueueTree::Need> QueueTree::needs_of(std::span<const Ask> asks) const {
  std::vector<Need> needs{{"cpu", std::nullopt, 0},
                          {"memory", std::nullopt, 0},
                          {std::string(kJobs), std::nullopt, 1, std::nullopt, true}};
  for (const Ask& ask : asks) {
    needs[0].amount += static_cast<__int128>(ask.request->cpu) * ask.tasks;
    needs[1].amount += static_cast<__int128>(ask.request->memory) * ask.tasks;
    for (const DeviceNeed& device : ask.request->devices) {
      Need* found = nullptr;
      for (Need& need : needs) {
        if (need.device_class == device.device_class) found = &need;
      }
      if (found == nullptr) {
        const std::string name(cluster_.class_name(device.device_class));
        found = &needs.emplace_back(Need{name, device.device_class, 0});
      }
      found->amount += static_cast<__int128>(device.charge()) * ask.tasks;
    }
  }
  return needs;
}

std::int64_t QueueTree::used_of(const Usage& usage, const Need& need) {
  if (need.resource == "cpu") return usage.cpu;
  if (need.resource == "memory") return usage.memory;
  if (need.model) return *need.model < usage.models.size() ? usage.models[*need.model] : 0;
  if (!need.device_class)
    return usage.running_jobs +
           (GRIDFOLD_PLANTED_BUG(claims_are_no_jobs) ? 0 : usage.claiming_jobs);
  const std::size_t index = *need.device_class;
  return index < usage.classes.size() ? usage.classes[index].thousandths : 0;
}

const QueueLimit& QueueTree::limit_at(const Queue& place) const {
  if (place.is_tenant && !GRIDFOLD_PLANTED_BUG(tenant_limits_of_the_queue))
    return queues_[place.parent.value].spec.each_tenant;
  return place.spec.limit;
}

std::optional<Reason> QueueTree::blocked(QueueId place, std::span<const Ask> asks,
                                         Against against) const {
  if (!has_limits(place)) return std::nullopt;
  for (const Need& need : needs_of(asks)) {
    if (auto reason = over(place, need, against)) return reason;
  }
  return blocked_by_models(place, asks, against);
}

// The first limit on the way up that the need breaks.
std::optional<Reason> QueueTree::over(QueueId place, const Need& need, Against against) const {
  if (need.amount == 0) return std::nullopt;
  for (QueueId id = place; !id.is_none(); id = queues_[id.value].parent) {
    const Queue& at = queues_[id.value];
    const auto limit = limit_at(at).of(need.resource);
    if (!limit) continue;
    const std::int64_t used = against == Against::kFree ? used_of(at.usage, need) : 0;
    const __int128 missing = need.amount + used - *limit;
    if (missing <= (GRIDFOLD_PLANTED_BUG(quota_off_by_one) ? 1000 : 0)) continue;
    std::vector<Reason::Param> params{{"queue", spec(id).name},
                                      {"resource", need.resource},
                                      {"need", static_cast<std::int64_t>(need.amount)},
                                      {"limit", *limit}};
    if (against == Against::kFree) {
      params.emplace_back("used", used);
      params.emplace_back("short", static_cast<std::int64_t>(missing));
    }
    if (at.is_tenant) params.emplace_back("tenant", at.spec.name);
    const bool never = against == Against::kLimit;
    if (at.is_tenant)
      return Reason(never ? ReasonCode::kExceedsTenantQuotaMax : ReasonCode::kTenantQuotaInUse,
                    std::move(params));
    return Reason(never ? ReasonCode::kExceedsQuotaMax : ReasonCode::kQuotaInUse,
                  std::move(params));
  }
  return std::nullopt;
}

// --- Turns by share ---

// Its decayed means, up to now: before what is held changes, and before it is
// looked at.
void QueueTree::remember(Queue& place) {
  held_.assign({place.usage.cpu, place.usage.memory / kMiB});
  for (std::size_t i = 0; i < place.usage.classes.size(); ++i)
    held_.push_back(worth(place.usage, i));
  place.lately.advance(now_, held_, half_life_);
}

void QueueTree::remember_before_change(QueueId id) {
  if (half_life_ <= Duration{} || charging_ == Charging::kRestored) return;
  Queue& place = queues_[id.value];
  remember(place);
  if (!std::exchange(place.usage_changed, true)) usage_changed_.push_back(id);
}

std::int64_t QueueTree::share_of(QueueId id) {
  constexpr std::int64_t kMillion = 1'000'000;
  Queue& place = queues_[id.value];
  const bool is_known = charging_ == Charging::kAnew || place.lately.has_begun();
  if (half_life_ > Duration{} && is_known) remember(place);
  const Supply& supply = cluster_.supply();
  __int128 most = 0;
  const auto consider = [&](std::int64_t used, std::size_t resource, std::int64_t of) {
    if (of > 0)
      most =
          std::max(most, static_cast<__int128>(used + place.lately.mean(resource)) * kMillion / of);
  };
  consider(place.usage.cpu, 0, supply.cpu);
  consider(place.usage.memory / kMiB, 1, supply.memory / kMiB);
  for (std::size_t i = 0; i < place.usage.classes.size() && i < supply.devices.size(); ++i)
    consider(worth(place.usage, i), i + 2, worth_of_supply(i));
  return static_cast<std::int64_t>(most / std::max(place.spec.weight, 1));
}

bool QueueTree::goes_before(QueueId a, QueueId b) {
  const Queue& left = queues_[a.value];
  const Queue& right = queues_[b.value];
  if (left.spec.priority != right.spec.priority) return left.spec.priority > right.spec.priority;
  const bool owed = is_owed(a);
  if (owed != is_owed(b)) return owed;
  const std::int64_t share = share_of(a);
  const std::int64_t other = share_of(b);
  return share != other ? share < other : left.spec.name < right.spec.name;
}

}  // namespace gridfold
