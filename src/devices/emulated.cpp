#include "devices/emulated.h"

#include <algorithm>
#include <span>

#include "base/quote.h"

namespace gridfold {
namespace {

constexpr char kForm[] = "write CLASS:MODEL=COUNT or CLASS:MODEL@MEMORY=COUNT, such as gpu:T4=2";
constexpr char kPlaceForm[] =
    "after the count write :numa=4+4, :switch=2+2+2+2, :island=8 or :partitioned";

struct Entry {
  std::string_view device_class;
  std::string_view model;
  std::string_view memory;  // empty: from the facts
  std::string_view count;
  std::vector<std::string_view> options;  // "numa=4+4", …
};

Error wrong(std::string message, std::string hint = kForm) {
  Error error = invalid(std::move(message));
  error.hint = std::move(hint);
  return error;
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), fits);
}

Result<Entry> split_entry(std::string_view text) {
  Entry out;
  const auto colon = text.find(':');
  const auto equals = text.find('=');
  if (colon == text.npos) return wrong(quote(text) + " names no class before a \":\"");
  if (equals == text.npos || equals < colon) {
    return wrong(quote(text) + " gives no count after a \"=\"");
  }
  out.device_class = text.substr(0, colon);
  out.model = text.substr(colon + 1, equals - colon - 1);
  out.count = text.substr(equals + 1);
  while (true) {
    const auto last = out.count.rfind(':');
    if (last == text.npos) break;
    out.options.push_back(out.count.substr(last + 1));
    out.count = out.count.substr(0, last);
  }
  if (const auto at = out.model.find('@'); at != out.model.npos) {
    out.memory = out.model.substr(at + 1);
    out.model = out.model.substr(0, at);
    if (out.memory.empty()) return wrong(quote(text) + " gives no memory after \"@\"");
  }
  if (!is_name(out.device_class)) return wrong(quote(out.device_class) + " is not a class name");
  if (!is_name(out.model)) return wrong(quote(out.model) + " is not a model name");
  return out;
}

Error unknown_model(const Entry& entry, const DeviceFactsTable& facts) {
  const auto near = facts.nearest(entry.model);
  std::string hint = "state its memory: " + std::string(entry.device_class) + ":" +
                     std::string(entry.model) + "@24GiB=" + std::string(entry.count);
  if (!near.empty()) hint = "did you mean " + std::string(near) + "? Else " + hint;
  return wrong("device model " + quote(entry.model) + " is not known", std::move(hint));
}

// The device that the entry describes, without its uid.
Result<DeviceSpec> device_of(const Entry& entry, const DeviceFactsTable& facts) {
  DeviceSpec out;
  out.device_class = entry.device_class;
  out.model = entry.model;
  out.origin = DeviceOrigin::kEmulated;
  const DeviceFacts* known = facts.find(entry.model);
  if (known != nullptr) {
    if (known->device_class != entry.device_class) {
      return wrong(quote(entry.model) + " is of class " + quote(known->device_class) + ", not " +
                       quote(entry.device_class),
                   "write " + known->device_class + ":" + known->model);
    }
    out.model = known->model;
    out.memory = known->memory;
  }
  if (!entry.memory.empty()) {
    const auto memory = parse_bytes(entry.memory);
    if (!memory) return memory.error();
    if (*memory == Bytes(0)) return wrong("a device's memory must be above zero");
    out.memory = *memory;
  } else if (!out.memory.is_known()) {
    return unknown_model(entry, facts);
  }
  return out;
}

// "4+4": the devices fall into groups of these sizes, numbered from `first`.
Result<void> set_groups(std::string_view option, std::string_view sizes, std::int32_t first,
                        std::int32_t DeviceSpec::*number, std::span<DeviceSpec> devices) {
  std::size_t device = 0;
  for (std::int32_t group = first;; ++group) {
    const auto plus = sizes.find('+');
    const auto size = parse_count(sizes.substr(0, plus));
    if (!size || *size == 0) return wrong(quote(option) + " does not give sizes", kPlaceForm);
    if (static_cast<std::uint64_t>(*size) > devices.size() - device) break;
    for (std::int64_t i = 0; i < *size; ++i) devices[device++].*number = group;
    if (plus == sizes.npos) {
      if (device == devices.size()) return {};
      break;
    }
    sizes.remove_prefix(plus + 1);
  }
  return wrong(quote(option) + " does not add up to " + std::to_string(devices.size()) + " devices",
               kPlaceForm);
}

Result<void> apply_option(std::string_view option, const DeviceFactsTable& facts,
                          std::int32_t next_island, std::span<DeviceSpec> devices) {
  if (option == "partitioned") {
    const DeviceFacts* known = facts.find(devices.front().model);
    if (known == nullptr || known->partitions.empty()) {
      return wrong("no partitions of a " + devices.front().model + " are known",
                   "name a model that has some, such as H100-SXM5-80GB");
    }
    for (DeviceSpec& device : devices) device.partitions = known->partitions;
    return {};
  }
  const auto equals = option.find('=');
  const auto key = option.substr(0, equals);
  const auto sizes = equals == option.npos ? std::string_view() : option.substr(equals + 1);
  if (key == "numa") return set_groups(option, sizes, 0, &DeviceSpec::numa, devices);
  if (key == "switch") return set_groups(option, sizes, 0, &DeviceSpec::pcie_switch, devices);
  if (key == "island") return set_groups(option, sizes, next_island, &DeviceSpec::island, devices);
  return wrong(quote(option) + " is not known here", kPlaceForm);
}

Result<void> append_entry(std::string_view text, const DeviceFactsTable& facts,
                          std::vector<DeviceSpec>& out) {
  const auto entry = split_entry(text);
  if (!entry) return entry.error();
  auto device = device_of(*entry, facts);
  if (!device) return device.error();
  const auto count = parse_count(entry->count);
  if (!count) return count.error();
  if (*count == 0) return wrong("a count must be at least 1");
  if (*count > static_cast<std::int64_t>(kMaxDevicesPerNode - out.size())) {
    return Error{.kind = ErrorKind::kLimit,
                 .message = "a node has at most " + std::to_string(kMaxDevicesPerNode) + " devices",
                 .hint = "ask for fewer"};
  }
  std::int32_t next_island = 0;
  for (const DeviceSpec& other : out) next_island = std::max(next_island, other.island + 1);
  for (std::int64_t i = 0; i < *count; ++i) {
    device->uid = "emulated-" + std::to_string(out.size());
    out.push_back(*device);
  }
  const auto added = std::span(out).last(static_cast<std::size_t>(*count));
  for (const std::string_view option : entry->options) {
    if (auto done = apply_option(option, facts, next_island, added); !done) return done.error();
  }
  return {};
}

}  // namespace

Result<std::vector<DeviceSpec>> parse_emulated_devices(std::string_view text,
                                                       const DeviceFactsTable& facts) {
  std::vector<DeviceSpec> out;
  for (std::size_t index = 0;; ++index) {
    const auto comma = text.find(',');
    if (auto added = append_entry(text.substr(0, comma), facts, out); !added) {
      Error error = added.error();
      error.field = "devices[" + std::to_string(index) + "]";
      return error;
    }
    if (comma == text.npos) return out;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace gridfold
