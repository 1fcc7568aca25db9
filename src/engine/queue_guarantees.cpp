// Guarantees of queues against each other: who is owed something, who holds more
// than it has a right to, and what may be taken back.
//
// A right to a class is to any of its models. A right to a model is to that one,
// beside what the class is named for: "gpu = 8, gpu:H100 = 4" is eight devices,
// and four H100 even where the eight are others.
#include <algorithm>

#include "engine/queue_tree.h"

namespace gridfold {
namespace {

std::int64_t named(const DeviceAmounts& amounts, const std::string& device) {
  const auto it = amounts.find(device);
  return it == amounts.end() ? 0 : it->second;
}

}  // namespace

bool QueueTree::is_owed(QueueId id) const {
  const Queue& place = queues_[id.value];
  const QueueGuarantee& right = place.spec.guaranteed;
  if (place.usage.cpu < right.cpu.value || place.usage.memory < right.memory.value) return true;
  return std::any_of(right.devices.begin(), right.devices.end(), [&](const auto& amount) {
    return devices_held(place.usage, amount.first) < amount.second;
  });
}

std::int64_t QueueTree::devices_held(const Usage& usage, const std::string& device) const {
  const auto model = model_names_.find(device);
  if (model != model_names_.end()) return models_held(usage, model->second);
  const auto number = cluster_.find_class(device);
  return number && *number < usage.classes.size() ? usage.classes[*number].thousandths : 0;
}

std::int64_t QueueTree::devices_gone(const Amounts& gone, const std::string& device) const {
  const auto at = [](const std::vector<std::int64_t>& amounts, std::size_t i) {
    return i < amounts.size() ? amounts[i] : 0;
  };
  const auto model = model_names_.find(device);
  if (model != model_names_.end()) return at(gone.models, model->second);
  const auto number = cluster_.find_class(device);
  return number ? at(gone.classes, *number) : 0;
}

QueueId QueueTree::common(QueueId a, QueueId b) const {
  while (!a.is_none() && !contains(a, b)) a = queues_[a.value].parent;
  return a;
}

QueueId QueueTree::beneath(QueueId above, QueueId place) const {
  while (queues_[place.value].parent != above) place = queues_[place.value].parent;
  return place;
}

QueueId QueueTree::nearest_guaranteed(QueueId place) const {
  while (!place.is_none() && queues_[place.value].spec.guaranteed.empty())
    place = queues_[place.value].parent;
  return place;
}

bool QueueTree::is_within_guarantee(QueueId place, QueueId top, std::span<const Ask> asks) const {
  if (top.is_none()) return false;
  const std::vector<Need> needs = needs_of(asks);
  bool any = false;
  for (QueueId id = place;; id = queues_[id.value].parent) {
    const Queue& here = queues_[id.value];
    if (!here.spec.guaranteed.empty()) {
      any = true;
      if (!asks_within(here, needs, asks)) return false;
    }
    if (id == top) return any;
  }
}

// Of each class that is asked for either the right to the class has room for it, or
// only models are asked for whose rights have.
bool QueueTree::asks_within(const Queue& place, std::span<const Need> needs,
                            std::span<const Ask> asks) const {
  const QueueGuarantee& right = place.spec.guaranteed;
  bool any = false;
  for (const Need& need : needs) {
    if (need.amount == 0 || need.is_job) continue;
    std::int64_t guaranteed = 0;
    if (need.device_class) {
      if (models_within_right(place, *need.device_class, asks)) {
        any = true;
        continue;
      }
      if (!right.devices.contains(need.resource)) return false;
      guaranteed = named(right.devices, need.resource);
    } else {
      guaranteed = need.resource == "cpu" ? right.cpu.value : right.memory.value;
      if (guaranteed == 0) continue;
    }
    any = true;
    if (used_of(place.usage, need) + need.amount > guaranteed) return false;
  }
  return any;
}

bool QueueTree::models_within_right(const Queue& place, std::uint16_t device_class,
                                    std::span<const Ask> asks) const {
  const DeviceAmounts& rights = place.spec.guaranteed.devices;
  if (!names_models(rights)) return false;
  for (const Ask& ask : asks) {
    for (const DeviceNeed& device : ask.request->devices) {
      if (device.device_class != device_class) continue;
      const std::vector<ModelNumber> models = accepted(device);
      if (models.size() != 1) return false;
      const Need need = need_of_model(asks, models.front());
      if (used_of(place.usage, need) + need.amount > named(rights, need.resource)) return false;
    }
  }
  return true;
}

bool QueueTree::borrows(QueueId place, QueueId above) const {
  for (QueueId id = place; id != above; id = queues_[id.value].parent) {
    const Queue& here = queues_[id.value];
    const QueueGuarantee& right = here.spec.guaranteed;
    if (right.empty()) continue;
    bool more = here.usage.cpu > right.cpu.value || here.usage.memory > right.memory.value;
    for (std::size_t i = 0; i < here.usage.classes.size() && !more; ++i) {
      const std::string name(cluster_.class_name(static_cast<std::uint16_t>(i)));
      more = here.usage.classes[i].thousandths > named(right.devices, name) &&
             borrows_models(here, name);
    }
    if (!more) return false;
  }
  return true;
}

// Whether it holds more of a model of the class than it is guaranteed of that one.
bool QueueTree::borrows_models(const Queue& place, std::string_view device_class) const {
  const DeviceAmounts& rights = place.spec.guaranteed.devices;
  if (!names_models(rights)) return true;  // it holds something of the class
  for (std::size_t m = 0; m < place.usage.models.size(); ++m) {
    if (models_[m].device_class == device_class &&
        place.usage.models[m] > named(rights, models_[m].name()))
      return true;
  }
  return false;
}

bool QueueTree::keeps_guarantee(QueueId id, const Amounts& gone) const {
  const Queue& place = queues_[id.value];
  const QueueGuarantee& right = place.spec.guaranteed;
  const auto keeps = [](std::int64_t used, std::int64_t less, std::int64_t guaranteed) {
    return less == 0 || guaranteed == 0 || used - less >= guaranteed;
  };
  if (!keeps(place.usage.cpu, gone.cpu, right.cpu.value) ||
      !keeps(place.usage.memory, gone.memory, right.memory.value))
    return false;
  return std::all_of(right.devices.begin(), right.devices.end(), [&](const auto& amount) {
    return keeps(devices_held(place.usage, amount.first), devices_gone(gone, amount.first),
                 amount.second);
  });
}

}  // namespace gridfold
