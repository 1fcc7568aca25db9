// Instant and Duration: integers in nanoseconds. Time is UTC inside; a zone
// exists only where a person reads or writes it.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gridfold {

struct Duration {
  std::int64_t ns = 0;

  static constexpr Duration nanoseconds(std::int64_t v) { return {v}; }
  static constexpr Duration microseconds(std::int64_t v) { return {v * 1'000}; }
  static constexpr Duration milliseconds(std::int64_t v) { return {v * 1'000'000}; }
  static constexpr Duration seconds(std::int64_t v) { return {v * 1'000'000'000}; }
  static constexpr Duration minutes(std::int64_t v) { return seconds(v * 60); }
  static constexpr Duration hours(std::int64_t v) { return seconds(v * 3600); }

  constexpr double in_seconds() const { return static_cast<double>(ns) * 1e-9; }
  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
};

// Nanoseconds since 1970-01-01T00:00:00Z; reaches from 1677 to 2262.
struct Instant {
  std::int64_t ns = 0;

  // Later than every other instant: "no time is set for this".
  static constexpr Instant never() { return {std::numeric_limits<std::int64_t>::max()}; }
  constexpr bool is_never() const { return *this == never(); }

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant a, Duration d) { return {a.ns + d.ns}; }
  friend constexpr Instant operator-(Instant a, Duration d) { return {a.ns - d.ns}; }
  friend constexpr Duration operator-(Instant a, Instant b) { return {a.ns - b.ns}; }
};

// "90s", "1h30m", "250ms", "2d", "36h", "1.5s", "10us", "7ns". No sign; a bare
// number is refused, because its unit would be a guess. At most 292 years.
Result<Duration> parse_duration(std::string_view text);
// Exact: "1h30m", "1.5s", "0s". parse_duration(to_text(d)) == d for d >= 0.
std::string to_text(Duration value);

// RFC 3339, UTC: "2026-11-30T11:58:31Z", with as many decimals as needed.
std::string to_rfc3339(Instant value);
// Accepts any offset and up to nine decimals.
Result<Instant> parse_rfc3339(std::string_view text);

}  // namespace gridfold
