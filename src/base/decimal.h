// Exact reading of "12.5" followed by a suffix: shared by the parsers of
// quantities and durations, not meant for anybody else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gridfold {

// A non-negative decimal: whole + fraction / 10^decimals, without trailing
// zeros in the fraction.
struct Decimal {
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;
  int decimals = 0;
};

// Reads a decimal at the start of `text` and takes it off. Plain ASCII digits,
// with at most one point that has digits on both sides; no sign, exponent,
// separator, space or superfluous leading zero. The error's message is the
// bare reason ("it is empty"), for not_a().
Result<Decimal> take_decimal(std::string_view& text);

enum class ScaleFault : std::uint8_t { kNone, kNotWhole, kTooLarge };
struct Scaled {
  std::int64_t value = 0;
  ScaleFault fault = ScaleFault::kNone;
};
// number * unit, if that is a whole number of at most 2^63-1. unit <= 2^60.
Scaled scale(const Decimal& number, std::uint64_t unit);

// The error for text that is not `what` ("a duration"), for this reason.
Error not_a(std::string_view what, std::string_view text, std::string_view reason,
            std::string hint = {});

}  // namespace gridfold
