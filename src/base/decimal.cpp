#include "base/decimal.h"

#include <limits>

#include "base/quote.h"

namespace gridfold {
namespace {

using Wide = unsigned __int128;

// 10^18 * 2^60 fits 128 bits; no unit of ours needs a finer fraction.
constexpr int kMostDecimals = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view leading_digits(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return text.substr(0, n);
}

// Why a text that does not begin with a digit is no number.
std::string_view trouble_at_start(std::string_view text) {
  if (text.empty()) return "it is empty";
  if (text[0] == '-') return "it must not be negative";
  if (text[0] == '+') return "it must be written without a sign";
  if (text[0] == ' ' || text[0] == '\t' || text[0] == '\n') return "it must not contain spaces";
  if (text[0] == '.') return "it needs a digit before the point";
  return "it must begin with a digit 0-9";
}

}  // namespace

Error not_a(std::string_view what, std::string_view text, std::string_view reason,
            std::string hint) {
  Error error = invalid(quote(text) + " is not " + std::string(what) + ": " + std::string(reason));
  error.hint = std::move(hint);
  return error;
}

Result<Decimal> take_decimal(std::string_view& text) {
  const std::string_view whole = leading_digits(text);
  if (whole.empty()) return invalid(std::string(trouble_at_start(text)));
  if (whole.size() > 1 && whole[0] == '0')
    return invalid("a leading zero could mean an octal number");
  text.remove_prefix(whole.size());

  Decimal number;
  for (const char c : whole) {
    if (__builtin_mul_overflow(number.whole, 10u, &number.whole) ||
        __builtin_add_overflow(number.whole, static_cast<unsigned>(c - '0'), &number.whole))
      return invalid("the number is too large");
  }
  if (text.empty() || text[0] != '.') return number;

  text.remove_prefix(1);
  std::string_view fraction = leading_digits(text);
  if (fraction.empty()) return invalid("it needs a digit after the point");
  text.remove_prefix(fraction.size());
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  if (fraction.size() > kMostDecimals) return invalid("it has too many decimals");
  for (const char c : fraction)
    number.fraction = number.fraction * 10 + static_cast<unsigned>(c - '0');
  number.decimals = static_cast<int>(fraction.size());
  return number;
}

Scaled scale(const Decimal& number, std::uint64_t unit) {
  Wide divisor = 1;
  for (int i = 0; i < number.decimals; ++i) divisor *= 10;
  const Wide fraction = static_cast<Wide>(number.fraction) * unit;
  if (fraction % divisor != 0) return {0, ScaleFault::kNotWhole};
  const Wide total = static_cast<Wide>(number.whole) * unit + fraction / divisor;
  if (total > static_cast<Wide>(std::numeric_limits<std::int64_t>::max()))
    return {0, ScaleFault::kTooLarge};
  return {static_cast<std::int64_t>(total), ScaleFault::kNone};
}

}  // namespace gridfold
