#include "simulator/csv_table.h"

#include <charconv>

#include "base/quote.h"

#include "simulator/nearest_hint.h"

namespace gridfold {

CsvTable::CsvTable(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {
  if (const auto line = next_line()) {
    split(*line);
    header_ = fields_;
  }
}

Result<std::size_t> CsvTable::column(std::string_view name) const {
  if (const auto found = find_column(name)) return *found;
  std::string present;
  for (const auto& column : header_) {
    if (!present.empty()) present += ", ";
    present += column;
  }
  Error error = invalid(file_ + ": the column '" + std::string(name) + "' is missing; the header " +
                        (header_.empty() ? "is empty" : "has " + present));
  error.field = std::string(name);
  error.position = {1, 1};
  error.hint = "the first line must name the columns; add '" + std::string(name) + "'" +
               nearest_hint(name, header_);
  return error;
}

Result<void> CsvTable::columns(
    std::initializer_list<std::pair<std::string_view, std::size_t*>> wanted) const {
  for (const auto& [name, place] : wanted) {
    const auto found = column(name);
    if (!found) return found.error();
    *place = *found;
  }
  return {};
}

std::optional<std::size_t> CsvTable::find_column(std::string_view name) const {
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i] == name) return i;
  }
  return std::nullopt;
}

bool CsvTable::next() {
  const auto line = next_line();
  if (!line) return false;
  split(*line);
  if (fields_.size() == header_.size()) return true;
  failure_ = invalid(file_ + ": " + std::to_string(fields_.size()) +
                     " fields where the header has " + std::to_string(header_.size()));
  failure_->position = {line_, 1};
  failure_->hint = "give one field a column; leave unknown ones empty";
  return false;
}

Result<std::int64_t> CsvTable::count(std::size_t column) const {
  const std::string_view text = field(column);
  if (text.empty()) return error(column, "is empty", "give a whole number, such as 1000");
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) {
    return error(column, quote(text) + " is too large", "at most 9223372036854775807");
  }
  if (code != std::errc() || end != text.data() + text.size()) {
    return error(column, quote(text) + " is not a whole number",
                 "give a whole number, such as 1000");
  }
  if (value < 0) {
    return error(column, quote(text) + " is negative", "give a number from 0 on");
  }
  return value;
}

Result<std::int64_t> CsvTable::count_within(std::size_t column, std::int64_t low,
                                            std::int64_t high) const {
  const auto value = count(column);
  if (value && (*value < low || *value > high)) {
    return error(column, quote(field(column)) + " is out of range",
                 "give a number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

Error CsvTable::error(std::size_t column, std::string reason, std::string hint) const {
  Error error = invalid(file_ + ": " + std::move(reason));
  error.field = std::string(header_[column]);
  error.hint = std::move(hint);
  error.position = {line_, static_cast<int>(fields_[column].data() - line_text_.data()) + 1};
  return error;
}

std::optional<std::string_view> CsvTable::next_line() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++line_;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    return line;
  }
  return std::nullopt;
}

void CsvTable::split(std::string_view line) {
  line_text_ = line;
  fields_.clear();
  for (;;) {
    const std::size_t comma = line.find(',');
    fields_.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace gridfold
