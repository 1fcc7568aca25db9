#include "model/unknown_devices.h"

#include <algorithm>
#include <string_view>

#include "base/nearest.h"

namespace gridfold {
namespace {

// "H100" of "gpu:H100-SXM5-80GB": how people call it.
std::string_view short_name(std::string_view device) {
  const std::string_view model = device.substr(device.find(':') + 1);
  return model.substr(0, model.find_first_of("- "));
}

// Of the same class: by its whole name, else by the short one.
std::string nearest_model(const std::string& device, const std::set<std::string>& models) {
  std::vector<std::string_view> known;
  std::vector<std::string_view> words;
  for (const std::string& model : models) {
    if (device_class_of(model) != device_class_of(device)) continue;
    known.emplace_back(model);
    words.push_back(short_name(model));
  }
  if (const auto found = nearest(device, known); !found.empty()) return std::string(found);
  const auto word = nearest(short_name(device), words);
  if (word.empty()) return {};
  return std::string(
      known[static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin())]);
}

}  // namespace

void add_models_of(const NodeSpec& node, std::set<std::string>& models) {
  for (const DeviceSpec& device : node.devices)
    models.insert(device.device_class + ":" + device.model);
}

std::set<std::string> models_of(std::span<const NodeRecord> nodes) {
  std::set<std::string> models;
  for (const NodeRecord& node : nodes) add_models_of(node.spec, models);
  return models;
}

std::vector<UnknownDevice> unknown_devices(std::span<const QueueSpec> queues,
                                           const std::set<std::string>& models) {
  std::vector<UnknownDevice> unknown;
  for (const QueueSpec& queue : queues) {
    std::set<std::string> named;
    for (const DeviceAmounts* amounts :
         {&queue.limit.devices, &queue.each_tenant.devices, &queue.guaranteed.devices}) {
      for (const auto& [device, amount] : *amounts) {
        if (device.find(':') != std::string::npos && !models.contains(device)) named.insert(device);
      }
    }
    for (const std::string& device : named)
      unknown.push_back({queue.name, device, nearest_model(device, models)});
  }
  return unknown;
}

}  // namespace gridfold
