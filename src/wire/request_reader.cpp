#include "wire/request_reader.h"

#include <algorithm>
#include <array>

#include "base/quote.h"
#include "model/node.h"
#include "wire/job_file.h"
#include "wire/job_keys.h"

namespace gridfold {
namespace {

// The keys by which one class is asked for, wherever they stand.
struct DeviceFields {
  std::optional<Field> amount;
  std::optional<Field> memory;
  std::optional<Field> models;
  std::optional<Field> place;
  std::optional<Field> partition;

  bool any() const { return amount || memory || models || place || partition; }
};

constexpr std::array kPlaces = {"single_numa"sv, "linked"sv, "same_switch"sv, "spread"sv};

bool is_class_word(std::string_view text) {
  const auto letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= 32 && !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(), letter_or_digit);
}

// "8": whole devices. "0.25": a share of one. Nothing in between: two halves of
// different devices are not one and a half.
void read_amount(const Field& field, DeviceRequest& request) {
  static constexpr auto kMost = static_cast<std::int64_t>(kMaxDevicesPerNode);
  const std::string hint = "give 1 to " + std::to_string(kMost) +
                           " whole devices, or a share of one from 0.001 to 0.999";
  const DocumentNode& node = field.node();
  if (node.kind != DocumentNode::Kind::kNumber && node.kind != DocumentNode::Kind::kString) {
    field.fail_kind("a number of devices", hint);
    return;
  }
  const auto thousandths = parse_cores(node.text);
  if (!thousandths || node.text.ends_with('m')) {
    field.fail(quote(node.text) + " is not a number of devices", hint);
    return;
  }
  const std::int64_t amount = thousandths->value;
  if (amount == 0 || amount > kMost * kWholeDevice.value) {
    field.fail(node.text + " is out of range", hint);
  } else if (amount < kWholeDevice.value) {
    request.count = 1;
    request.share = DeviceShare(amount);
  } else if (amount % kWholeDevice.value == 0) {
    request.count = static_cast<std::int32_t>(amount / kWholeDevice.value);
  } else {
    field.fail(node.text + " is neither whole devices nor a share of one",
               "several devices cannot be shared in part: ask for whole ones, or for less than 1");
  }
}

Bytes read_positive_bytes(const Field& field) {
  const Bytes bytes = read_quantity(field, parse_bytes);
  if (bytes == Bytes(0)) field.fail("0 is out of range", "give an amount, or remove the key");
  return bytes;
}

std::string read_model(const Field& field) {
  std::string model = read_text(field);
  if (model.empty()) field.fail("the model is empty", "name a model, or remove the key");
  return model;
}

// "3g.40gb": which names there are is the devices' affair.
std::string read_partition(const Field& field) {
  std::string name = read_text(field);
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '+' || c == '-' || c == '_';
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), fits))
    field.fail(quote(name) + " is not a name of a partition profile",
               "name one of the device's profiles, such as 3g.40gb");
  return name;
}

// One partition: how much it is, its profile says.
void read_partition_request(const DeviceFields& fields, DeviceRequest& request) {
  request.partition = read_partition(*fields.partition);
  if (fields.amount && (request.count != 1 || !request.is_whole()))
    fields.amount->fail("a task gets one partition", "write 1, and ask for more tasks");
  if (fields.memory)
    fields.memory->fail("a partition has the memory of its profile",
                        "remove the key, or choose a larger profile");
  request.count = 1;
  request.share = DeviceShare(0);
  request.memory = Bytes(0);
}

DeviceRequest read_device(const Field& where, std::string device_class,
                          const DeviceFields& fields) {
  DeviceRequest request;
  request.device_class = std::move(device_class);
  if (fields.amount) read_amount(*fields.amount, request);
  if (fields.memory) request.memory = read_positive_bytes(*fields.memory);
  if (fields.models) request.models = read_list_or_one(*fields.models, read_model);
  if (fields.place) request.place = static_cast<DevicePlace>(read_word(*fields.place, kPlaces) + 1);
  if (fields.partition) {
    read_partition_request(fields, request);
  } else if (!fields.amount) {
    // Memory alone: a slice of one device, accounted by memory only.
    request.count = 1;
    request.share = DeviceShare(0);
    if (!fields.memory)
      (fields.models  ? *fields.models
       : fields.place ? *fields.place
                      : where)
          .fail("no " + request.device_class + " is asked for",
                "say how many, or how much memory of one");
  }
  if (fields.place && !request.is_whole())
    fields.place->fail("a part of one device is not placed among several",
                       "remove the key, or ask for whole devices");
  return request;
}

void read_devices_by_key(const Field& each, std::vector<DeviceRequest>& devices) {
  for (const auto word : kDeviceClasses) {
    const std::string name(word);
    const std::string memory_key = name + "_memory";
    const std::string models_key = name + "_model";
    const std::string place_key = name + "_place";
    const std::string partition_key = name + "_partition";
    const DeviceFields fields = {each.find(word), each.find(memory_key), each.find(models_key),
                                 each.find(place_key), each.find(partition_key)};
    if (fields.any()) devices.push_back(read_device(each, name, fields));
  }
}

void read_device_list(const Field& list, std::vector<DeviceRequest>& devices) {
  if (!list.is_list()) {
    list.fail_kind("a list", "such as [{class: gpu, amount: 1}]");
    return;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Field entry = list.item(i);
    if (!check_map(entry, kDeviceKeys)) return;
    const auto class_field = entry.find("class");
    if (!class_field) {
      entry.fail("the class is missing", "add class, such as gpu");
      return;
    }
    std::string device_class = read_text(*class_field);
    if (!is_class_word(device_class))
      class_field->fail(quote(device_class) + " is not a class of devices",
                        "write lower-case letters and digits, such as gpu");
    devices.push_back(read_device(entry, std::move(device_class),
                                  {entry.find("amount"), entry.find("memory"), entry.find("model"),
                                   entry.find("place"), entry.find("partition")}));
  }
}

void check_devices(const Field& each, const std::vector<DeviceRequest>& devices) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    total += devices[i].count;
    for (std::size_t k = 0; k < i; ++k)
      if (devices[k].device_class == devices[i].device_class)
        each.fail("class " + devices[i].device_class + " is asked for twice",
                  "ask for each class once");
  }
  const auto partitions =
      std::count_if(devices.begin(), devices.end(),
                    [](const DeviceRequest& request) { return !request.partition.empty(); });
  if (partitions > 1)
    each.fail("asks for " + std::to_string(partitions) + " partitions",
              "a task gets one partition");
  if (total > static_cast<std::int64_t>(kMaxDevicesPerNode))
    each.fail("asks for " + std::to_string(total) + " devices on one node",
              "a node has at most " + std::to_string(kMaxDevicesPerNode));
}

template <class Quantity>
Quantity read_need(const Field& each, std::string_view key, Quantity fallback,
                   Result<Quantity> (*parse)(std::string_view), JobForm form) {
  const auto field = each.find(key);
  if (!field) return fallback;
  const Quantity need = read_quantity(*field, parse);
  if (need == Quantity(0) && form == JobForm::kFile)
    field->fail("0 is out of range",
                "every task uses some; remove the key for the default of " + to_text(fallback));
  return need;
}

}  // namespace

TaskRequest read_request(const Field& each, JobForm form) {
  TaskRequest request;
  if (!check_map(each, kEachKeys)) return request;
  request.cpu = read_need(each, "cpu", kDefaultCpu, parse_cores, form);
  request.memory = read_need(each, "memory", kDefaultMemory, parse_bytes, form);
  read_devices_by_key(each, request.devices);
  if (const auto list = each.find("devices")) read_device_list(*list, request.devices);
  check_devices(each, request.devices);
  return request;
}

}  // namespace gridfold
