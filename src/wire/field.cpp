#include "wire/field.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/quote.h"

namespace gridfold {
namespace {

using Kind = DocumentNode::Kind;

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const auto word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

std::string no_such_key(std::string_view key, std::span<const std::string_view> known) {
  const auto meant = nearest(key, known);
  if (!meant.empty()) return "did you mean " + quote(meant) + "?";
  return "the keys here are: " + joined(known);
}

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::optional<Field> Field::find(std::string_view key) const {
  const DocumentNode* value = node_.find(key);
  if (value == nullptr) return std::nullopt;
  return Field(*value, *this, key, 0);
}

Field Field::item(std::size_t i) const {
  const DocumentEntry& entry = node_.entries[i];
  return Field(entry.value, *this, is_map() ? std::string_view(entry.key) : std::string_view(), i);
}

std::string Field::path() const {
  if (parent_ == nullptr) return std::string(key_);
  const std::string above = parent_->path();
  if (parent_->is_list()) return above + "[" + std::to_string(index_) + "]";
  return above + (above.empty() ? "" : ".") + std::string(key_);
}

void Field::fail(std::string message, std::string hint) const {
  Error error = invalid(std::move(message));
  error.hint = std::move(hint);
  fail(std::move(error));
}

void Field::fail(Error error) const {
  error.field = path();
  if (error.position.line == 0) error.position = node_.position;
  diagnosis_.report(std::move(error));
}

void Field::fail_kind(std::string_view expected, std::string hint) const {
  if (node_.kind == Kind::kNull) {
    fail("the value is missing",
         "give " + std::string(expected) + ", " + hint + ", or remove the key");
    return;
  }
  fail("must be " + std::string(expected) + ", not " + std::string(describe(node_.kind)),
       std::move(hint));
}

bool check_map(const Field& field, std::span<const std::string_view> known,
               std::span<const std::string_view> later, StrayKeyHint hint) {
  if (!field.is_map()) {
    field.fail_kind("a map", "with keys such as " + std::string(known.front()));
    return false;
  }
  for (std::size_t i = 0; i < field.size(); ++i) {
    const DocumentEntry& entry = field.node().entries[i];
    if (contains(known, entry.key)) continue;
    Error error = invalid("unknown key");
    error.position = entry.key_position;
    if (contains(later, entry.key)) {
      error.message = "this key is not supported by this version";
      error.hint = "remove it";
    } else if (hint != nullptr) {
      error.hint = hint(entry.key);
    }
    if (error.hint.empty()) error.hint = no_such_key(entry.key, known);
    field.item(i).fail(std::move(error));
    return false;
  }
  return true;
}

std::string read_text(const Field& field) {
  if (field.node().kind != Kind::kString) {
    const bool scalar = field.node().kind == Kind::kNumber || field.node().kind == Kind::kBool;
    field.fail_kind("text", scalar ? "put it in quotes" : "such as \"text\"");
    return {};
  }
  return read_scalar(field);
}

std::string read_scalar(const Field& field) {
  if (!field.node().is_scalar() || field.node().kind == Kind::kNull) {
    field.fail_kind("text", "such as \"text\"");
    return {};
  }
  if (field.node().text.find('\0') != std::string::npos)
    field.fail("the text contains a NUL byte", "remove it");
  return field.node().text;
}

bool read_bool(const Field& field) {
  if (field.node().kind != Kind::kBool)
    field.fail_kind("true or false", "write true or false, without quotes");
  return field.node().text == "true";
}

std::int64_t read_integer(const Field& field, std::int64_t low, std::int64_t high) {
  const DocumentNode& node = field.node();
  const std::string range = std::to_string(low) + " to " + std::to_string(high);
  const bool plain = node.kind == Kind::kNumber || (node.kind == Kind::kString && !node.quoted);
  if (!plain) {
    field.fail_kind("a whole number", node.quoted ? "write it without quotes" : "from " + range);
    return low;
  }
  std::string_view digits = node.text;
  const bool negative = low < 0 && digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const auto value = parse_count(digits);
  if (!value) {
    Error error = value.error();
    error.hint = "give a whole number from " + range;
    field.fail(std::move(error));
    return low;
  }
  const std::int64_t signed_value = negative ? -*value : *value;
  if (signed_value < low || signed_value > high) {
    field.fail(node.text + " is out of range", "give a whole number from " + range);
    return low;
  }
  return signed_value;
}

Duration read_duration(const Field& field, Duration low, Duration high) {
  if (field.node().kind != Kind::kNumber && field.node().kind != Kind::kString) {
    field.fail_kind("a duration", "such as 90s or 1h30m");
    return low;
  }
  const auto value = parse_duration(field.node().text);
  if (!value) {
    field.fail(value.error());
    return low;
  }
  if (*value < low || *value > high) {
    field.fail(field.node().text + " is out of range",
               "give " + to_text(low) + " to " + to_text(high));
    return low;
  }
  return *value;
}

std::size_t read_word(const Field& field, std::span<const std::string_view> words) {
  const std::string text = read_text(field);
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  const auto meant = nearest(text, words);
  field.fail(quote(text) + " is none of: " + joined(words),
             meant.empty() ? "choose one of them" : "did you mean " + quote(meant) + "?");
  return 0;
}

}  // namespace gridfold
