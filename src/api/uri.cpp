#include "api/uri.h"

#include <algorithm>

#include "base/quote.h"
#include "base/units.h"
#include "base/utf8.h"

namespace gridfold {
namespace {

constexpr std::size_t kMaxSegments = 16;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

enum class Plus : std::uint8_t { kItself, kSpace };

// Empty when an escape is broken.
std::optional<std::string> percent_decode(std::string_view text, Plus plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::kSpace) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

// UTF-8 without control bytes.
bool is_plain_text(std::string_view text) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  return std::none_of(text.begin(), text.end(), is_control) && is_valid_utf8(text);
}

bool is_segment(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         text.find_first_of("/\\") == std::string_view::npos && is_plain_text(text);
}

Error bad_parameter(std::string_view name, std::string message) {
  Error error = invalid(std::move(message));
  error.field = name;
  return error;
}

}  // namespace

Result<std::vector<std::string>> split_path(std::string_view path) {
  if (!path.starts_with('/')) return invalid("the path does not begin with /");
  path.remove_prefix(1);
  std::vector<std::string> segments;
  while (true) {
    const auto slash = path.find('/');
    const auto segment = percent_decode(path.substr(0, slash), Plus::kItself);
    if (!segment || !is_segment(*segment))
      return invalid("the path segment " + quote(path.substr(0, slash)) + " is not a name");
    if (segments.size() == kMaxSegments)
      return invalid("the path has more than " + std::to_string(kMaxSegments) + " segments");
    segments.push_back(*segment);
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

Result<Query> Query::parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const auto end = text.find('&');
    const auto pair = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    auto name = percent_decode(pair.substr(0, equals), Plus::kSpace);
    auto value = equals == std::string_view::npos
                     ? std::optional<std::string>("true")
                     : percent_decode(pair.substr(equals + 1), Plus::kSpace);
    if (!name || !value || !is_plain_text(*name) || !is_plain_text(*value))
      return invalid("the query parameter " + quote(pair) + " is not readable text");
    if (query.find(*name))
      return bad_parameter(*name, "the query parameter " + quote(*name) + " is given twice");
    query.parameters_.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

std::optional<std::string_view> Query::find(std::string_view name) const {
  for (const auto& [key, value] : parameters_)
    if (key == name) return value;
  return std::nullopt;
}

Result<std::int64_t> Query::count(std::string_view name, std::int64_t fallback) const {
  const auto value = find(name);
  if (!value) return fallback;
  auto count = parse_count(*value);
  if (!count) return bad_parameter(name, quote(*value) + " is not a count such as 0 or 25");
  return count;
}

Result<bool> Query::flag(std::string_view name) const {
  const auto value = find(name);
  if (!value || *value == "false") return false;
  if (*value == "true") return true;
  return bad_parameter(name, quote(*value) + " is neither true nor false");
}

}  // namespace gridfold
