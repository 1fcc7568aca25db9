#include "simulator/training/real_field.h"

#include <charconv>
#include <cmath>
#include <string>

#include "base/quote.h"

namespace gridfold {

Result<double> real_field(const CsvTable& table, std::size_t column) {
  const std::string_view text = table.field(column);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return table.error(column, quote(text) + " is not a number", "give a number, such as 0.25");
  }
  if (value < 0) return table.error(column, quote(text) + " is negative", "measure it anew");
  return value;
}

Result<double> positive_field(const CsvTable& table, std::size_t column) {
  const auto value = real_field(table, column);
  if (value && *value == 0) return table.error(column, "is zero", "measure it anew");
  return value;
}

}  // namespace gridfold
