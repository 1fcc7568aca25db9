#include "base/time.h"

#include <array>
#include <cstdio>
#include <optional>

#include "base/decimal.h"
#include "base/quote.h"

namespace gridfold {
namespace {

using Wide = __int128;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDaySeconds = 86'400;

struct DurationUnit {
  std::string_view suffix;
  std::int64_t ns;
};
// From the largest to the smallest; a duration names them in this order.
constexpr std::array<DurationUnit, 7> kUnits = {{{"d", kDaySeconds* kSecond},
                                                 {"h", 3600 * kSecond},
                                                 {"m", 60 * kSecond},
                                                 {"s", kSecond},
                                                 {"ms", 1'000'000},
                                                 {"us", 1'000},
                                                 {"ns", 1}}};
constexpr std::string_view kDuration = "a duration";
constexpr std::string_view kDurationHint = "write d, h, m, s, ms, us or ns, such as 90s or 1h30m";

// The unit at the start of `text`, taken off; empty when there is none.
std::optional<std::size_t> take_unit(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && text[n] >= 'a' && text[n] <= 'z') ++n;
  const std::string_view word = text.substr(0, n);
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (kUnits[i].suffix != word) continue;
    text.remove_prefix(n);
    return i;
  }
  return std::nullopt;
}

Error no_duration(std::string_view text, std::string_view reason) {
  return not_a(kDuration, text, reason, std::string(kDurationHint));
}

// "1.5": nanoseconds as seconds, without trailing zeros. 0 <= ns.
std::string decimal_seconds(std::uint64_t ns) {
  std::string text = std::to_string(ns / kSecond);
  if (ns % kSecond != 0) {
    std::string decimals = std::to_string(kSecond + ns % kSecond).substr(1);
    while (decimals.back() == '0') decimals.pop_back();
    text += "." + decimals;
  }
  return text;
}

// Days since 1970-01-01 of a date in the proleptic Gregorian calendar, and
// back (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<std::int64_t>(day_of_era) - 719468;
}

struct Civil {
  int year = 0;
  int month = 0;
  int day = 0;
};
Civil civil_from_days(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = static_cast<unsigned>(days - era * 146097);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted = (5 * day_of_year + 2) / 153;
  const int day = static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1);
  const int month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  const int year = static_cast<int>(year_of_era + era * 400) + (month <= 2 ? 1 : 0);
  return {year, month, day};
}

int days_in_month(int year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

// Reads a fixed shape from left to right; `ok` turns false at the first
// character that does not fit and stays so.
struct ShapeReader {
  std::string_view rest;
  bool ok = true;

  int digits(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      if (rest.empty() || rest[0] < '0' || rest[0] > '9') {
        ok = false;
        return 0;
      }
      value = value * 10 + (rest[0] - '0');
      rest.remove_prefix(1);
    }
    return value;
  }
  char one_of(std::string_view allowed) {
    if (rest.empty() || allowed.find(rest[0]) == std::string_view::npos) {
      ok = false;
      return '\0';
    }
    const char c = rest[0];
    rest.remove_prefix(1);
    return c;
  }
  // ".5": up to nine decimals as nanoseconds; 0 when there is no point.
  std::int64_t decimals() {
    if (rest.empty() || rest[0] != '.') return 0;
    rest.remove_prefix(1);
    std::int64_t ns = 0;
    int count = 0;
    while (count < 9 && !rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
      ns = ns * 10 + digits(1);
      ++count;
    }
    if (count == 0) ok = false;
    for (; count < 9; ++count) ns *= 10;
    return ns;
  }
  // "Z" or "+02:00", in seconds east of UTC.
  std::int64_t offset() {
    const char sign = one_of("Zz+-");
    if (sign != '+' && sign != '-') return 0;
    const int hours = digits(2);
    one_of(":");
    const int minutes = digits(2);
    if (hours > 23 || minutes > 59) ok = false;
    return (sign == '-' ? -1 : 1) * (hours * 3600ll + minutes * 60ll);
  }
};

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  Wide total = 0;
  std::size_t next_unit = 0;
  do {
    const auto number = take_decimal(rest);
    if (!number) return no_duration(text, number.error().message);
    if (rest.empty()) return no_duration(text, "the unit is missing");
    const auto unit = take_unit(rest);
    if (!unit) return no_duration(text, "unknown unit at " + quote(rest));
    if (*unit < next_unit) return no_duration(text, "units must go from large to small, each once");
    next_unit = *unit + 1;
    const Scaled part = scale(*number, static_cast<std::uint64_t>(kUnits[*unit].ns));
    if (part.fault == ScaleFault::kNotWhole)
      return no_duration(text, "it is not a whole number of nanoseconds");
    total += part.value;
    if (part.fault == ScaleFault::kTooLarge || total > std::numeric_limits<std::int64_t>::max())
      return no_duration(text, "it is longer than 292 years");
  } while (!rest.empty());
  return Duration{static_cast<std::int64_t>(total)};
}

std::string to_text(Duration value) {
  if (value.ns == 0) return "0s";
  std::string text = value.ns < 0 ? "-" : "";
  // Through unsigned arithmetic, so that the smallest number has a magnitude.
  std::uint64_t ns = value.ns < 0 ? 0 - static_cast<std::uint64_t>(value.ns)
                                  : static_cast<std::uint64_t>(value.ns);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto unit = static_cast<std::uint64_t>(kUnits[i].ns);
    if (ns < unit) continue;
    text += std::to_string(ns / unit) + std::string(kUnits[i].suffix);
    ns %= unit;
  }
  if (ns >= static_cast<std::uint64_t>(kSecond)) return text + decimal_seconds(ns) + "s";
  if (ns == 0) return text;
  if (ns % 1'000'000 == 0) return text + std::to_string(ns / 1'000'000) + "ms";
  if (ns % 1'000 == 0) return text + std::to_string(ns / 1'000) + "us";
  return text + std::to_string(ns) + "ns";
}

std::string to_rfc3339(Instant value) {
  std::int64_t seconds = value.ns / kSecond;
  std::int64_t ns = value.ns % kSecond;
  if (ns < 0) {
    ns += kSecond;
    --seconds;
  }
  std::int64_t days = seconds / kDaySeconds;
  std::int64_t of_day = seconds % kDaySeconds;
  if (of_day < 0) {
    of_day += kDaySeconds;
    --days;
  }
  const Civil date = civil_from_days(days);
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02dT%02d:%02d:%02d", date.year, date.month,
                date.day, static_cast<int>(of_day / 3600), static_cast<int>(of_day / 60 % 60),
                static_cast<int>(of_day % 60));
  std::string text = buffer;
  if (ns != 0) text += decimal_seconds(static_cast<std::uint64_t>(ns)).substr(1);
  return text + "Z";
}

Result<Instant> parse_rfc3339(std::string_view text) {
  static constexpr std::string_view kWhat = "a time";
  static constexpr std::string_view kHint = "write RFC 3339, such as 2026-11-30T11:58:31Z";
  ShapeReader reader{text};
  const int year = reader.digits(4);
  reader.one_of("-");
  const int month = reader.digits(2);
  reader.one_of("-");
  const int day = reader.digits(2);
  reader.one_of("Tt ");
  const int hour = reader.digits(2);
  reader.one_of(":");
  const int minute = reader.digits(2);
  reader.one_of(":");
  const int second = reader.digits(2);
  const std::int64_t ns = reader.decimals();
  const std::int64_t offset = reader.offset();
  if (!reader.ok || !reader.rest.empty())
    return not_a(kWhat, text, "it has another form", std::string(kHint));
  if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
    return not_a(kWhat, text, "there is no such date", std::string(kHint));
  if (hour > 23 || minute > 59 || second > 59)
    return not_a(kWhat, text, "there is no such time of day", std::string(kHint));
  const std::int64_t days =
      days_from_civil(year, static_cast<unsigned>(month), static_cast<unsigned>(day));
  const std::int64_t seconds = days * kDaySeconds + hour * 3600 + minute * 60 + second - offset;
  const Wide total = static_cast<Wide>(seconds) * kSecond + ns;
  if (total < std::numeric_limits<std::int64_t>::min() ||
      total > std::numeric_limits<std::int64_t>::max())
    return not_a(kWhat, text, "it lies outside the years 1677 to 2262", std::string(kHint));
  return Instant{static_cast<std::int64_t>(total)};
}

}  // namespace gridfold
