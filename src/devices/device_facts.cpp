#include "devices/device_facts.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/nearest.h"
#include "base/quote.h"

namespace gridfold {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxFileBytes = 1 << 20;
constexpr std::int64_t kMaxCount = 1'000'000'000'000;

Error at(std::string field, std::string message, std::string hint = {}) {
  Error error = invalid(std::move(message));
  error.field = std::move(field);
  error.hint = std::move(hint);
  return error;
}

// Reads the fields of one object, each at most once; the first trouble is kept
// and what follows it is of no account.
class FieldReader {
 public:
  FieldReader(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object_.is_object()) fail({}, "is not an object");
  }

  std::string required_text(const char* key) {
    const Json* value = take(key);
    if (value == nullptr) return fail(key, "is missing"), std::string();
    return text_of(*value, key);
  }
  template <class T>
  Known<T> quantity(const char* key, Result<T> (*parse)(std::string_view)) {
    const Json* value = take(key);
    if (value == nullptr) return Unknown{};
    const auto parsed = parse(text_of(*value, key));
    if (!parsed) return fail(key, parsed.error().message), Unknown{};
    if (*parsed == T{}) return fail(key, "is zero; leave out what is not known"), Unknown{};
    return *parsed;
  }
  Known<std::int64_t> count(const char* key) {
    const Json* value = take(key);
    return value == nullptr ? Known<std::int64_t>() : Known(count_of(*value, key, 1));
  }
  std::int64_t required_count(const char* key) {
    const Json* value = take(key);
    if (value == nullptr) return fail(key, "is missing"), 0;
    return count_of(*value, key, 1);
  }
  // The value, if it is there and a list or an object of that kind.
  const Json* list(const char* key) { return take(key, Json::value_t::array, "is not a list"); }
  const Json* object(const char* key) {
    return take(key, Json::value_t::object, "is not an object");
  }
  std::string text_of(const Json& value, const std::string& key) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      return fail(key, "is not a text"), std::string();
    }
    return value.get<std::string>();
  }
  std::int64_t count_of(const Json& value, const std::string& key, std::int64_t low) {
    if (value.is_number_integer()) {
      // An unsigned number beyond the signed range reads as a negative one.
      const auto number = value.get<std::int64_t>();
      if (number >= low && number <= kMaxCount) return number;
    }
    fail(key, "is not a whole number of at least " + std::to_string(low) + " and at most 10^12");
    return low;
  }
  void fail(const std::string& key, const std::string& message) {
    if (error_) return;
    const std::string field = key.empty() ? path_ : path_ + "." + key;
    error_ = at(field, field + " " + message);
  }
  // What went wrong, unknown keys included.
  Result<void> finish() {
    if (error_) return *error_;
    for (const auto& [key, value] : object_.items()) {
      if (!taken_.contains(key)) {
        return at(path_ + "." + key, "unknown key " + quote(key) + " in " + path_,
                  "known keys are in docs/devices.md");
      }
    }
    return {};
  }

 private:
  const Json* take(const char* key) {
    taken_.insert(key);
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  const Json* take(const char* key, Json::value_t type, const char* otherwise) {
    const Json* value = take(key);
    if (value == nullptr || value->type() == type) return value;
    fail(key, otherwise);
    return nullptr;
  }

  const Json& object_;
  std::string path_;
  std::set<std::string, std::less<>> taken_;
  std::optional<Error> error_;
};

Result<PartitionProfile> read_profile(const Json& json, const std::string& path) {
  FieldReader fields(json, path);
  PartitionProfile out;
  out.name = fields.required_text("name");
  const auto slices = fields.required_count("slices");
  if (slices > kMaxPartitionSlots) fields.fail("slices", "is above 32");
  out.slices = static_cast<std::int32_t>(slices);
  // In slots, which most often are slices.
  const auto length = fields.count("length");
  const std::int64_t slots = length.is_known() ? length.value() : slices;
  if (slots > kMaxPartitionSlots) fields.fail("length", "is above 32 slots");
  out.length = static_cast<std::int32_t>(slots);
  out.memory = fields.quantity("memory", parse_bytes);
  if (const Json* starts = fields.list("starts")) {
    for (const auto& start : *starts) {
      const auto slot = fields.count_of(start, "starts", 0);
      if (slot + slots > kMaxPartitionSlots) fields.fail("starts", "lead beyond slot 31");
      out.starts.push_back(static_cast<std::int32_t>(slot));
    }
  }
  if (auto done = fields.finish(); !done) return done.error();
  return out;
}

Result<DeviceFacts> read_row(const Json& json, const std::string& path) {
  FieldReader fields(json, path);
  DeviceFacts row;
  row.model = fields.required_text("model");
  row.device_class = fields.required_text("class");
  row.vendor = fields.required_text("vendor");
  row.source = fields.required_text("source");
  row.memory = fields.quantity("memory", parse_bytes);
  row.power_max = fields.quantity("power_max", parse_watts);
  const auto bandwidth = fields.count("memory_bandwidth_gigabytes_per_second");
  if (bandwidth.is_known() && bandwidth.value() > 1'000'000'000) {
    fields.fail("memory_bandwidth_gigabytes_per_second", "is above 10^9");
  } else if (bandwidth.is_known()) {
    row.memory_bytes_per_second = bandwidth.value() * 1'000'000'000;
  }
  if (const Json* flops = fields.object("gigaflops")) {
    for (const auto& [type, value] : flops->items()) {
      row.gigaflops[type] = fields.count_of(value, "gigaflops." + type, 1);
    }
  }
  if (const Json* aliases = fields.list("aliases")) {
    for (const auto& alias : *aliases) row.aliases.push_back(fields.text_of(alias, "aliases"));
  }
  if (const Json* partitions = fields.list("partitions")) {
    for (std::size_t i = 0; i < partitions->size(); ++i) {
      auto profile =
          read_profile((*partitions)[i], path + ".partitions[" + std::to_string(i) + "]");
      if (!profile) return profile.error();
      row.partitions.push_back(std::move(*profile));
    }
  }
  if (auto done = fields.finish(); !done) return done.error();
  return row;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

Result<DeviceFactsTable> DeviceFactsTable::parse(std::string_view text) {
  if (text.size() > kMaxFileBytes) {
    return Error{ErrorKind::kLimit, "device facts of more than 1 MiB are not read"};
  }
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return invalid("device facts are not valid JSON");
  FieldReader fields(json, "facts");
  DeviceFactsTable table;
  const Json* rows = fields.list("devices");
  if (auto done = fields.finish(); !done) return done.error();
  if (rows == nullptr) return at("devices", "device facts have no list \"devices\"");
  for (std::size_t i = 0; i < rows->size(); ++i) {
    auto row = read_row((*rows)[i], "devices[" + std::to_string(i) + "]");
    if (!row) return row.error();
    if (auto inserted = table.insert(std::move(*row)); !inserted) return inserted.error();
  }
  return table;
}

Result<DeviceFactsTable> DeviceFactsTable::read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return from_errno(errno, "open " + path);
  // One byte more than allowed tells that there is too much, without reading it all.
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return internal("read " + path + " failed");
  text.resize(static_cast<std::size_t>(file.gcount()));
  auto table = parse(text);
  return table ? std::move(table) : Result<DeviceFactsTable>(table.error().with_context(path));
}

Result<void> DeviceFactsTable::insert(DeviceFacts row) {
  std::vector<std::string> names = row.aliases;
  names.push_back(row.model);
  for (const auto& name : names) {
    const auto [found, is_new] = by_name_.try_emplace(name, rows_.size());
    if (!is_new) {
      const auto& other = found->second < rows_.size() ? rows_[found->second].model : row.model;
      return at("devices[" + std::to_string(rows_.size()) + "]",
                "the name " + quote(name) + " is used twice, first for " + quote(other),
                "each model and alias stands once");
    }
  }
  rows_.push_back(std::move(row));
  return {};
}

void DeviceFactsTable::add(DeviceFactsTable later) {
  for (auto& row : later.rows_) {
    const auto same = std::find_if(rows_.begin(), rows_.end(),
                                   [&](const auto& ours) { return ours.model == row.model; });
    const auto index = static_cast<std::size_t>(same - rows_.begin());
    if (same == rows_.end()) {
      rows_.emplace_back();
    } else {
      std::erase_if(by_name_, [&](const auto& entry) { return entry.second == index; });
    }
    by_name_.insert_or_assign(row.model, index);
    for (const auto& alias : row.aliases) by_name_.insert_or_assign(alias, index);
    rows_[index] = std::move(row);
  }
}

const DeviceFacts* DeviceFactsTable::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &rows_[found->second];
}

std::string_view DeviceFactsTable::nearest(std::string_view name) const {
  if (name.empty()) return {};
  const std::string wanted = lower(name);
  std::vector<std::string> models;
  for (const auto& row : rows_) models.push_back(lower(row.model));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    // A part of the name, such as "h100", is nearer than any slip.
    if (models[i].find(wanted) != std::string::npos) return rows_[i].model;
  }
  const std::vector<std::string_view> known(models.begin(), models.end());
  const auto best = std::find(known.begin(), known.end(), gridfold::nearest(wanted, known));
  return best == known.end() ? std::string_view()
                             : rows_[static_cast<std::size_t>(best - known.begin())].model;
}

const DeviceFactsTable& built_in_facts() {
  static const DeviceFactsTable kTable = [] {
    auto table = DeviceFactsTable::parse(built_in_device_facts());
    assert(table && "data/devices.json is tested");
    return std::move(*table);
  }();
  return kTable;
}

}  // namespace gridfold
