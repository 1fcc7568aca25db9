// How answers are printed: tables for people, the API's own JSON (or the same
// as YAML) for programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/gridfold/cli.h"
#include "base/time.h"

namespace gridfold {

class Table {
 public:
  explicit Table(std::vector<std::string> headers) : headers_(std::move(headers)) {}
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // Columns as wide as their widest cell, two spaces apart. A cell may carry
  // colour; its escapes have no width.
  std::string text(bool with_headers) const;

 private:
  std::vector<std::string> headers_;
  std::vector<std::vector<std::string>> rows_;
};

// One thing of a list: its JSON document and the word that names it.
struct Item {
  std::string json;
  std::string name;
};

// Prints a list in any format but kTable: json as {"KEY": [...]}, jsonl one a
// line.
void print_items(OutputFormat format, std::string_view key, const std::vector<Item>& items);
// Prints one document in any format but kTable.
void print_item(OutputFormat format, const Item& item);

// One document as the format asks: for people its text, which is only made then.
int print_document(const Cli& cli, const Item& item, const std::function<std::string()>& text);

std::string json_to_yaml(const std::string& json);
// The document with line breaks and two spaces a level.
std::string indent_json(const std::string& json);

// Text at most `width` characters wide, cut with "…".
std::string shorten(std::string_view text, std::size_t width);
// What of a text fits a terminal: its first `rows` lines, each at most
// `columns` wide and cut with "…", so that nothing wraps or scrolls.
std::string fit_screen(std::string_view text, std::size_t columns, std::size_t rows);
// "4s", "3m12s", "5h", "2d": at most two units.
std::string short_duration(Duration duration);
// How long ago; "-" for no time.
std::string age(Instant since, Instant now);
Instant wall_clock_now();

enum class Colour : std::uint8_t { kNone, kGreen, kYellow, kRed, kBlue, kDim, kBold };
// With colour when stdout is a terminal and NO_COLOR is not set.
std::string coloured(std::string_view text, Colour colour);
Colour colour_of_state(std::string_view state);

// "████░░░░", the filled part in proportion. 0 <= part; whole > 0 or all empty.
std::string bar(std::int64_t part, std::int64_t whole, std::size_t width);
// "1.5 GiB".
std::string readable_bytes(std::int64_t bytes);
// "1.25" of 1250 thousandths.
std::string thousandths(std::int64_t value);

}  // namespace gridfold
