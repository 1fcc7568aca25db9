#include "policies/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

namespace gridfold {
namespace {

// Levenshtein's distance.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names) {
  const auto best = std::min_element(
      names.begin(), names.end(),
      [&](std::string_view a, std::string_view b) { return edits(word, a) < edits(word, b); });
  return best == names.end() ? std::string_view() : *best;
}

SettingsReader::SettingsReader(std::string_view policy,
                               const std::map<std::string, std::string>& settings)
    : policy_(policy), settings_(settings) {}

const std::string* SettingsReader::find(std::string_view key) {
  known_.push_back(key);
  const auto it = settings_.find(std::string(key));
  return it == settings_.end() ? nullptr : &it->second;
}

void SettingsReader::fail(std::string_view key, std::string message, std::string hint) {
  if (error_) return;
  error_ = Error{ErrorKind::kInvalid, std::move(message), std::string(key), std::move(hint)};
}

std::int64_t SettingsReader::number(std::string_view key, std::int64_t otherwise, std::int64_t low,
                                    std::int64_t high) {
  const std::string* text = find(key);
  if (text == nullptr) return otherwise;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, value);
  if (read.ec == std::errc() && read.ptr == end && value >= low && value <= high) return value;
  fail(key, "'" + *text + "' is not a whole number it may have",
       "give a number from " + std::to_string(low) + " to " + std::to_string(high));
  return otherwise;
}

Duration SettingsReader::duration(std::string_view key, Duration otherwise) {
  const std::string* text = find(key);
  if (text == nullptr) return otherwise;
  const auto value = parse_duration(*text);
  if (value && *value > Duration{}) return *value;
  fail(key, "'" + *text + "' is not a duration above 0", "give a duration such as 60s");
  return otherwise;
}

std::size_t SettingsReader::choice(std::string_view key, std::span<const std::string_view> names) {
  const std::string* text = find(key);
  if (text == nullptr) return 0;
  const auto it = std::find(names.begin(), names.end(), *text);
  if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  fail(key, "'" + *text + "' is not one of its values", "give one of: " + joined(names));
  return 0;
}

std::optional<Error> SettingsReader::finish() const {
  if (error_) return error_;
  for (const auto& [key, value] : settings_) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    const std::string message = "policy '" + policy_ + "' has no such setting";
    const std::string hint = known_.empty()
                                 ? "it has no settings: leave it out"
                                 : "did you mean '" + std::string(nearest_name(key, known_)) +
                                       "'? it has: " + joined(known_);
    return Error{ErrorKind::kInvalid, message, key, hint};
  }
  return std::nullopt;
}

Rounding read_rounding(SettingsReader& settings, std::string_view key) {
  static constexpr std::array<std::string_view, 2> kNames = {"published", "exact"};
  return settings.choice(key, kNames) == 0 ? Rounding::kPublished : Rounding::kExact;
}

}  // namespace gridfold
