// Models of devices in the tree of queues: what is held of each, limits of them,
// and what a device of one is worth beside another.
//
// What a job holds is counted by what it got. Before it starts it is looked at
// what it could get: where a limit of a model leaves too little for all of its
// tasks that accept the model, none of them goes there. So no limit is ever
// exceeded; a gang that would fit by taking some of each model may wait.
#include <algorithm>
#include <bit>

#include "engine/queue_tree.h"

namespace gridfold {

QueueTree::ModelNumber QueueTree::model_named(std::string_view device_class,
                                              std::string_view model) const {
  Model fresh{std::string(device_class), std::string(model)};
  const auto number = static_cast<ModelNumber>(models_.size());
  const auto [it, is_new] = model_names_.emplace(fresh.name(), number);
  if (is_new) models_.push_back(std::move(fresh));
  return it->second;
}

QueueTree::ModelNumber QueueTree::model_number(std::uint16_t device_class,
                                               std::uint16_t model) const {
  const auto known = model_ids_.find({device_class, model});
  if (known != model_ids_.end()) return known->second;
  const ModelNumber number =
      model_named(cluster_.class_name(device_class), cluster_.model_name(model));
  model_ids_[{device_class, model}] = number;
  return number;
}

// --- What is held ---

template <class Add>
void QueueTree::each_model(const Request& request, const Allocation& at, Add add) const {
  if (request.devices.empty()) return;
  const std::span<const DeviceKind> kinds = cluster_.room(at.node).devices.kinds();
  for (const DeviceNeed& need : request.devices) {
    std::int32_t left = need.count;
    for (std::uint64_t rest = at.devices; rest != 0 && left > 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      if (i >= kinds.size()) break;
      if (kinds[i].device_class != need.device_class || !need.accepts(kinds[i].model)) continue;
      --left;
      add(model_number(kinds[i].device_class, kinds[i].model), need.charge() / need.count);
    }
  }
}

void QueueTree::charge(QueueId place, const Request& request, const Allocation& at, int count) {
  models_charged_.clear();
  each_model(request, at, [this](ModelNumber model, std::int64_t thousandths) {
    models_charged_.resize(std::max(models_charged_.size(), model + std::size_t{1}));
    models_charged_[model] += thousandths;
  });
  for (QueueId id = place; !id.is_none(); id = queues_[id.value].parent) {
    remember_before_change(id);
    Usage& usage = queues_[id.value].usage;
    usage.cpu += count * request.cpu;
    usage.memory += count * request.memory;
    for (const DeviceNeed& need : request.devices) {
      if (need.device_class >= usage.classes.size()) usage.classes.resize(need.device_class + 1u);
      Usage::Class& used = usage.classes[need.device_class];
      used.thousandths += count * need.charge();
      used.charged = true;
    }
    if (usage.models.size() < models_charged_.size()) usage.models.resize(models_charged_.size());
    for (std::size_t m = 0; m < models_charged_.size(); ++m)
      usage.models[m] += count * models_charged_[m];
  }
}

void QueueTree::add(const Request& request, const Allocation& at, Amounts& amounts) const {
  amounts.cpu += request.cpu;
  amounts.memory += request.memory;
  for (const DeviceNeed& need : request.devices) {
    if (need.device_class >= amounts.classes.size()) amounts.classes.resize(need.device_class + 1u);
    amounts.classes[need.device_class] += need.charge();
  }
  each_model(request, at, [&](ModelNumber model, std::int64_t thousandths) {
    if (model >= amounts.models.size()) amounts.models.resize(model + 1u);
    amounts.models[model] += thousandths;
  });
}

// --- Limits ---

bool QueueTree::limits_models(QueueId place) const {
  if (model_rules_ == 0) return false;
  for (QueueId id = place; !id.is_none(); id = queues_[id.value].parent) {
    if (names_models(limit_at(queues_[id.value]).devices)) return true;
  }
  return false;
}

// In the order in which the job names them, else by name.
std::vector<QueueTree::ModelNumber> QueueTree::accepted(const DeviceNeed& need) const {
  std::vector<ModelNumber> models;
  for (const std::uint16_t model : need.models)
    models.push_back(model_number(need.device_class, model));
  if (!need.models.empty()) return models;
  for (const Supply::Model& there : cluster_.supply().models) {
    if (there.device_class == need.device_class)
      models.push_back(model_number(there.device_class, there.model));
  }
  std::sort(models.begin(), models.end(),
            [this](ModelNumber a, ModelNumber b) { return models_[a].model < models_[b].model; });
  return models;
}

// What all tasks that accept the model ask, if all of them got it.
QueueTree::Need QueueTree::need_of_model(std::span<const Ask> asks, ModelNumber model) const {
  Need need{models_[model].name(), std::nullopt, 0, model};
  for (const Ask& ask : asks) {
    for (const DeviceNeed& device : ask.request->devices) {
      const std::vector<ModelNumber> models = accepted(device);
      if (std::find(models.begin(), models.end(), model) != models.end())
        need.amount += static_cast<__int128>(device.charge()) * ask.tasks;
    }
  }
  return need;
}

// What limits leave of the model at this place; none: nothing limits it.
std::optional<std::int64_t> QueueTree::left_of_model(QueueId place, ModelNumber model,
                                                     Against against) const {
  std::optional<std::int64_t> left;
  for (QueueId id = place; !id.is_none(); id = queues_[id.value].parent) {
    const Queue& at = queues_[id.value];
    const auto limit = limit_at(at).of(models_[model].name());
    if (!limit) continue;
    const std::int64_t used = against == Against::kFree ? models_held(at.usage, model) : 0;
    left = std::min(left.value_or(INT64_MAX), std::max<std::int64_t>(*limit - used, 0));
  }
  return left;
}

// Where the models that are left would do together, though none alone: what is
// left of each, "gpu:A=2,gpu:H=1.5".
std::string QueueTree::left_together(QueueId place, std::span<const Ask> asks,
                                     std::span<const ModelNumber> models, Against against) const {
  std::string text;
  __int128 sum = 0;
  __int128 need = 0;
  for (const ModelNumber model : models) {
    const std::int64_t left = left_of_model(place, model, against).value_or(0);
    need = std::max(need, need_of_model(asks, model).amount);
    sum += left;
    if (left > 0)
      text += (text.empty() ? "" : ",") + models_[model].name() + "=" + to_text(MilliCores(left));
  }
  return sum >= need ? text : std::string();
}

std::optional<Reason> QueueTree::blocked_by_models(QueueId place, std::span<const Ask> asks,
                                                   Against against) const {
  if (!limits_models(place)) return std::nullopt;
  for (const Ask& ask : asks) {
    if (ask.tasks == 0) continue;
    for (const DeviceNeed& device : ask.request->devices) {
      std::optional<Reason> first;
      bool any = false;
      for (const ModelNumber model : accepted(device)) {
        auto reason = over(place, need_of_model(asks, model), against);
        any |= !reason;
        if (!first) first = std::move(reason);
      }
      if (any || !first) continue;
      const std::vector<ModelNumber> models = accepted(device);
      if (std::string left = left_together(place, asks, models, against); !left.empty())
        first->params.emplace_back("models", std::move(left));
      return first;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> QueueTree::models_within(QueueId place,
                                                                 std::span<const Ask> asks,
                                                                 const DeviceNeed& need) const {
  const std::vector<ModelNumber> all = accepted(need);
  std::vector<std::string> within;
  for (const Against against : {Against::kFree, Against::kLimit}) {
    for (const ModelNumber model : all) {
      if (!over(place, need_of_model(asks, model), against)) within.push_back(models_[model].model);
    }
    if (!within.empty()) break;
  }
  if (within.empty() || within.size() == all.size()) return std::nullopt;
  return within;
}

std::vector<Reason> QueueTree::models_blocked(QueueId place, std::span<const Ask> asks) const {
  std::vector<Reason> reasons;
  if (!limits_models(place)) return reasons;
  for (const Ask& ask : asks) {
    for (const DeviceNeed& device : ask.request->devices) {
      for (const ModelNumber model : accepted(device)) {
        auto reason = over(place, need_of_model(asks, model), Against::kFree);
        if (reason && std::find(reasons.begin(), reasons.end(), *reason) == reasons.end())
          reasons.push_back(std::move(*reason));
      }
    }
  }
  return reasons;
}

std::optional<Reason> QueueTree::blocked_at(QueueId place, std::span<const Chosen> chosen) const {
  if (!limits_models(place)) return std::nullopt;
  Amounts amounts;
  for (const Chosen& task : chosen) add(*task.request, task.at, amounts);
  for (std::size_t m = 0; m < amounts.models.size(); ++m) {
    const auto model = static_cast<ModelNumber>(m);
    const Need need{models_[m].name(), std::nullopt, amounts.models[m], model};
    if (auto reason = over(place, need, Against::kFree)) return reason;
  }
  return std::nullopt;
}

// --- Worth ---

std::int64_t QueueTree::rate_of(const std::string& model) const {
  const auto it = work_units_.by_model.find(model);
  return it == work_units_.by_model.end() ? 1000 : it->second;
}

std::int64_t QueueTree::worth(const Usage& usage, std::size_t device_class) const {
  if (work_units_.by_model.empty()) return usage.classes[device_class].thousandths;
  const std::string_view name = cluster_.class_name(static_cast<std::uint16_t>(device_class));
  std::int64_t sum = 0;
  for (std::size_t m = 0; m < usage.models.size(); ++m) {
    if (models_[m].device_class == name) sum += usage.models[m] * rate_of(models_[m].model) / 1000;
  }
  return sum;
}

std::int64_t QueueTree::worth_of_supply(std::size_t device_class) const {
  const Supply& supply = cluster_.supply();
  if (work_units_.by_model.empty()) return supply.devices[device_class];
  std::int64_t sum = 0;
  for (const Supply::Model& model : supply.models) {
    if (model.device_class == device_class)
      sum += model.thousandths * rate_of(std::string(cluster_.model_name(model.model))) / 1000;
  }
  return sum;
}

}  // namespace gridfold
