// Reads lines of comma-separated fields under a header, with exact errors.
//
//   CsvTable table(text, "nodes.csv");
//   Result<std::size_t> cpu = table.column("cpu_milli");
//   while (table.next()) { Result<std::int64_t> n = table.count(*cpu); … }
//   if (table.failure()) return *table.failure();
//
// Fields are not quoted: no trace that is read here quotes. Blank lines hold
// nothing and are passed over; a line with another number of fields than the
// header is an error. Views last as long as the text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gridfold {

class CsvTable {
 public:
  // `file` is named in errors.
  CsvTable(std::string_view text, std::string file);

  // Index of the column; the error names it, the columns that are there, and
  // the nearest of them.
  Result<std::size_t> column(std::string_view name) const;
  // Indices of several columns, each into its place; the error is of the first
  // that is missing.
  Result<void> columns(
      std::initializer_list<std::pair<std::string_view, std::size_t*>> wanted) const;
  std::optional<std::size_t> find_column(std::string_view name) const;

  // Moves to the next line. False at the end or at a malformed line; the
  // latter sets failure().
  bool next();
  const std::optional<Error>& failure() const { return failure_; }

  // --- Of the line at hand ---
  int line() const { return line_; }
  std::string_view field(std::size_t column) const { return fields_[column]; }
  // A whole number >= 0 that fits 63 bits.
  Result<std::int64_t> count(std::size_t column) const;
  // The same, from `low` to `high`.
  Result<std::int64_t> count_within(std::size_t column, std::int64_t low, std::int64_t high) const;
  // An error about one field: file, line, column name, reason, next step.
  Error error(std::size_t column, std::string reason, std::string hint) const;

 private:
  std::optional<std::string_view> next_line();
  void split(std::string_view line);

  std::string_view rest_;
  std::string file_;
  int line_ = 0;
  std::string_view line_text_;
  std::vector<std::string_view> header_;
  std::vector<std::string_view> fields_;
  std::optional<Error> failure_;
};

}  // namespace gridfold
