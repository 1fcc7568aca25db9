// A value of a document under its path, and the readers that turn it into
// checked values:
//
//   Diagnosis diagnosis;
//   Field root(document, diagnosis);
//   if (auto cpu = root.find("cpu")) task.cpu = read_quantity(*cpu, parse_cores);
//   if (diagnosis.error()) return *diagnosis.error();
//
// A reader that meets trouble reports it and returns a default; the first
// report stands, so a whole document is read before one looks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "wire/document.h"

namespace gridfold {

// The first trouble met while a document is read.
class Diagnosis {
 public:
  void report(Error error) {
    if (!error_) error_ = std::move(error);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

// Lends its node, parent and diagnosis; they must outlive it.
class Field {
 public:
  // The root; `name` begins every path, and may be empty.
  Field(const DocumentNode& node, Diagnosis& diagnosis, std::string_view name = {})
      : node_(node), diagnosis_(diagnosis), key_(name) {}

  const DocumentNode& node() const { return node_; }
  bool is_map() const { return node_.kind == DocumentNode::Kind::kMap; }
  bool is_list() const { return node_.kind == DocumentNode::Kind::kList; }
  std::size_t size() const { return node_.entries.size(); }

  // The value under `key` of a map.
  std::optional<Field> find(std::string_view key) const;
  // Entry i of a list or a map.
  Field item(std::size_t i) const;

  // "roles[0].each.gpu".
  std::string path() const;

  void fail(std::string message, std::string hint) const;
  // The same, with place and path added.
  void fail(Error error) const;
  // "… must be a list, not text".
  void fail_kind(std::string_view expected, std::string hint) const;

 private:
  Field(const DocumentNode& node, const Field& parent, std::string_view key, std::size_t index)
      : node_(node), diagnosis_(parent.diagnosis_), parent_(&parent), key_(key), index_(index) {}

  const DocumentNode& node_;
  Diagnosis& diagnosis_;
  const Field* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;  // in a list: key_ is empty
};

// True for a map that has no key but the known ones. `later` are keys that are
// planned and not there yet: refused with that reason. `hint` may name the
// place where a stray key belongs, or be empty.
using StrayKeyHint = std::string (*)(std::string_view key);
bool check_map(const Field& field, std::span<const std::string_view> known,
               std::span<const std::string_view> later = {}, StrayKeyHint hint = nullptr);

// Text, which in YAML needs no quotes unless it looks like a number or a bool.
std::string read_text(const Field& field);
// Text, a number or a bool, as it was written.
std::string read_scalar(const Field& field);
bool read_bool(const Field& field);
// A whole number without quotes, low <= value <= high.
std::int64_t read_integer(const Field& field, std::int64_t low, std::int64_t high);
Duration read_duration(const Field& field, Duration low, Duration high);
// One of `words`: its index.
std::size_t read_word(const Field& field, std::span<const std::string_view> words);

// A quantity, with or without quotes: "1500m", 4, 0.25.
template <class Quantity>
Quantity read_quantity(const Field& field, Result<Quantity> (*parse)(std::string_view)) {
  const auto kind = field.node().kind;
  if (kind != DocumentNode::Kind::kNumber && kind != DocumentNode::Kind::kString) {
    field.fail_kind("an amount", "such as 4 or 16Gi");
    return {};
  }
  const auto value = parse(field.node().text);
  if (value) return *value;
  field.fail(value.error());
  return {};
}

// Strings from one text or a list of texts, each by `read`; not empty.
template <class Read>
auto read_list_or_one(const Field& field, Read read) -> std::vector<decltype(read(field))> {
  std::vector<decltype(read(field))> values;
  if (!field.is_list()) {
    values.push_back(read(field));
    return values;
  }
  if (field.size() == 0) field.fail("the list is empty", "name at least one, or remove the key");
  for (std::size_t i = 0; i < field.size(); ++i) values.push_back(read(field.item(i)));
  return values;
}

}  // namespace gridfold
