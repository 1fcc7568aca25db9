#include "apps/gridfold/output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

namespace gridfold {
namespace {

using Json = nlohmann::ordered_json;

// Characters of UTF-8 text, without colour escapes.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  bool escape = false;
  for (const char c : text) {
    if (c == '\033') escape = true;
    if (!escape) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (escape && c == 'm') escape = false;
  }
  return width;
}

// The line in at most `columns` columns. Colour that began before the cut ends
// as it would have.
std::string cut_line(std::string_view line, std::size_t columns) {
  if (width_of(line) <= columns || columns == 0) return std::string(line);
  std::string out;
  std::size_t shown = 0;
  bool escape = false;
  for (const char c : line) {
    if (c == '\033') escape = true;
    const bool begins = !escape && (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (begins && ++shown == columns) out += "…";
    if (escape || shown < columns) out += c;
    if (escape && c == 'm') escape = false;
  }
  return out;
}

// Whether YAML would read this plain word back as the same text.
bool is_plain_yaml(std::string_view text) {
  if (text.empty() || text.size() > 200) return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!letter(text.front())) return false;
  for (const char c : text)
    if (!letter(c) && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.' && c != '/')
      return false;
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view word :
       {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"})
    if (lower == word) return false;
  return true;
}

std::string yaml_text(const std::string& text) {
  return is_plain_yaml(text) ? text : Json(text).dump();  // JSON's quotes are YAML's
}

void append_yaml(const Json& json, std::size_t depth, std::string& out);

void append_yaml_value(const Json& value, std::size_t depth, std::string& out) {
  const bool nested = value.is_structured() && !value.empty();
  if (nested) {
    out += '\n';
    append_yaml(value, depth, out);
  } else {
    out += ' ';
    out += value.is_string() ? yaml_text(value.get<std::string>()) : value.dump();
    out += '\n';
  }
}

void append_yaml(const Json& json, std::size_t depth, std::string& out) {
  const std::string indent(depth * 2, ' ');
  if (json.is_object() && !json.empty()) {
    for (const auto& [key, value] : json.items()) {
      out += indent + yaml_text(key) + ":";
      append_yaml_value(value, depth + 1, out);
    }
  } else if (json.is_array() && !json.empty()) {
    for (const auto& value : json) {
      out += indent + "-";
      append_yaml_value(value, depth + 1, out);
    }
  } else {
    out += indent;
    out += json.is_string() ? yaml_text(json.get<std::string>()) : json.dump();
    out += '\n';
  }
}

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

bool colours_wanted() {
  static const bool wanted = isatty(STDOUT_FILENO) == 1 && !std::getenv("NO_COLOR");
  return wanted;
}

}  // namespace

std::string Table::text(bool with_headers) const {
  std::vector<std::size_t> widths(headers_.size(), 0);
  const auto measure = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  };
  if (with_headers) measure(headers_);
  for (const auto& row : rows_) measure(row);
  std::string out;
  const auto write = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  if (with_headers) write(headers_);
  for (const auto& row : rows_) write(row);
  return out;
}

void print_items(OutputFormat format, std::string_view key, const std::vector<Item>& items) {
  std::string out;
  if (format == OutputFormat::kName || format == OutputFormat::kJsonLines) {
    for (const auto& item : items)
      out += (format == OutputFormat::kName ? item.name : item.json) + '\n';
    return put(out);
  }
  out = "{\"" + std::string(key) + "\":[";
  for (std::size_t i = 0; i < items.size(); ++i) out += (i > 0 ? "," : "") + items[i].json;
  out += "]}";
  print_item(format, {out, ""});
}

void print_item(OutputFormat format, const Item& item) {
  switch (format) {
    case OutputFormat::kJson: return put(indent_json(item.json) + '\n');
    case OutputFormat::kYaml: return put(json_to_yaml(item.json));
    case OutputFormat::kName: return put(item.name + '\n');
    case OutputFormat::kTable:
    case OutputFormat::kJsonLines: return put(item.json + '\n');
  }
}

int print_document(const Cli& cli, const Item& item, const std::function<std::string()>& text) {
  if (cli.format() == OutputFormat::kTable)
    std::fputs(text().c_str(), stdout);
  else
    print_item(cli.format(), item);
  return kExitOk;
}

std::string json_to_yaml(const std::string& json) {
  std::string out;
  append_yaml(Json::parse(json), 0, out);
  return out;
}

std::string indent_json(const std::string& json) { return Json::parse(json).dump(2); }

std::string shorten(std::string_view text, std::size_t width) {
  std::size_t shown = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (++shown == width && width_of(text.substr(i)) > 1)
      return std::string(text.substr(0, i)) + "…";
  }
  return std::string(text);
}

std::string fit_screen(std::string_view text, std::size_t columns, std::size_t rows) {
  std::string out;
  for (std::size_t row = 0; row < rows && !text.empty(); ++row) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!out.empty() || row > 0) out += '\n';
    out += cut_line(line, columns);
  }
  return out;
}

std::string short_duration(Duration duration) {
  struct Unit {
    std::int64_t seconds;
    char name;
  };
  static constexpr Unit kUnits[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
  const std::int64_t seconds = std::max<std::int64_t>(duration.ns / 1'000'000'000, 0);
  for (std::size_t i = 0; i + 1 < std::size(kUnits); ++i) {
    if (seconds < kUnits[i].seconds) continue;
    const auto rest = seconds % kUnits[i].seconds / kUnits[i + 1].seconds;
    auto text = std::to_string(seconds / kUnits[i].seconds) + kUnits[i].name;
    if (rest > 0) text += std::to_string(rest) + kUnits[i + 1].name;
    return text;
  }
  return std::to_string(seconds) + "s";
}

std::string age(Instant since, Instant now) {
  return since.is_never() ? "-" : short_duration(now - since);
}

Instant wall_clock_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Instant{now.tv_sec * 1'000'000'000 + now.tv_nsec};
}

std::string coloured(std::string_view text, Colour colour) {
  if (colour == Colour::kNone || !colours_wanted()) return std::string(text);
  const char* code = "";
  switch (colour) {
    case Colour::kNone: break;
    case Colour::kGreen: code = "32"; break;
    case Colour::kYellow: code = "33"; break;
    case Colour::kRed: code = "31"; break;
    case Colour::kBlue: code = "34"; break;
    case Colour::kDim: code = "2"; break;
    case Colour::kBold: code = "1"; break;
  }
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

Colour colour_of_state(std::string_view state) {
  if (state == "running" || state == "succeeded") return Colour::kGreen;
  if (state == "pending" || state == "stopping") return Colour::kYellow;
  if (state == "starting") return Colour::kBlue;
  if (state == "failed") return Colour::kRed;
  return Colour::kDim;
}

std::string bar(std::int64_t part, std::int64_t whole, std::size_t width) {
  std::size_t filled = 0;
  if (whole > 0)
    filled = std::min(
        width, static_cast<std::size_t>((static_cast<double>(part) / static_cast<double>(whole)) *
                                            static_cast<double>(width) +
                                        0.5));
  if (part > 0 && filled == 0) filled = 1;  // something is never shown as nothing
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += i < filled ? "█" : "░";
  return text;
}

std::string readable_bytes(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string thousandths(std::int64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(value) / 1000);
  std::string out = text;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

}  // namespace gridfold
