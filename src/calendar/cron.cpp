#include "calendar/cron.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quote.h"

namespace gridfold {
namespace {

struct Field {
  std::string_view name;
  int least = 0;
  int most = 0;
  std::span<const std::string_view> words;  // for least, least + 1, …
};

constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed",
                                                    "thu", "fri", "sat"};
constexpr Field kMinute{"minute", 0, 59, {}};
constexpr Field kHour{"hour", 0, 23, {}};
constexpr Field kDay{"day of the month", 1, 31, {}};
const Field kMonth{"month", 1, 12, kMonths};
const Field kWeekday{"day of the week", 0, 7, kWeekdays};

Error wrong(const Field& field, std::string_view part) {
  Error error =
      invalid("cron: " + quote(part) + " is no " + std::string(field.name) + " or range of it");
  error.field = "cron";
  error.hint = "numbers from " + std::to_string(field.least) + " to " + std::to_string(field.most) +
               ", such as *, 5, 1-5, */10 or 1,15";
  return error;
}

std::optional<int> value_of(const Field& field, std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto word = std::find(field.words.begin(), field.words.end(), lower);
  if (word != field.words.end()) return field.least + static_cast<int>(word - field.words.begin());
  int value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size() || text.empty()) return {};
  if (value < field.least || value > field.most) return {};
  return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <std::size_t N>
Result<void> read(const Field& field, std::string_view text, std::bitset<N>& into) {
  for (const std::string_view part : split(text, ',')) {
    const std::size_t slash = part.find('/');
    const std::string_view range = part.substr(0, slash);
    const std::size_t dash = range.find('-');
    int first = field.least;
    int last = field.most;
    if (range != "*") {
      const auto from = value_of(field, range.substr(0, dash));
      if (!from) return wrong(field, part);
      first = last = *from;
      if (dash != std::string_view::npos) {
        const auto to = value_of(field, range.substr(dash + 1));
        if (!to || *to < first) return wrong(field, part);
        last = *to;
      }
    }
    int step = 1;
    if (slash != std::string_view::npos) {
      const std::string_view every = part.substr(slash + 1);
      const auto [end, failed] = std::from_chars(every.data(), every.data() + every.size(), step);
      const bool whole = failed == std::errc{} && end == every.data() + every.size();
      const bool is_range = range == "*" || dash != std::string_view::npos;
      if (!whole || step < 1 || step > field.most || !is_range) return wrong(field, part);
    }
    for (int value = first; value <= last; value += step)
      into.set(static_cast<std::size_t>(value) % N);  // Sunday is 7 as well
  }
  return {};
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  std::vector<std::string_view> fields;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) fields.push_back(word);
  }
  if (fields.size() != 5) {
    Error error = invalid("cron: " + quote(text) + " has " + std::to_string(fields.size()) +
                          " fields instead of 5");
    error.field = "cron";
    error.hint = "minute, hour, day of the month, month, day of the week: \"30 2 * * *\"";
    return error;
  }
  Cron cron;
  if (auto ok = read(kMinute, fields[0], cron.minutes_); !ok) return ok.error();
  if (auto ok = read(kHour, fields[1], cron.hours_); !ok) return ok.error();
  if (auto ok = read(kDay, fields[2], cron.days_); !ok) return ok.error();
  if (auto ok = read(kMonth, fields[3], cron.months_); !ok) return ok.error();
  if (auto ok = read(kWeekday, fields[4], cron.weekdays_); !ok) return ok.error();
  cron.any_day_ = fields[2].starts_with('*');
  cron.any_weekday_ = fields[4].starts_with('*');

  // A leap year has every day that there is.
  const std::chrono::sys_days leap = std::chrono::year{2024} / 1 / 1;
  for (int day = 0; day < 366; ++day) {
    if (cron.has_day(leap + std::chrono::days(day))) return cron;
  }
  Error error = invalid("cron: " + quote(text) + " holds on no day");
  error.field = "cron";
  error.hint = "give that month a day that it has";
  return error;
}

bool Cron::has_day(std::chrono::year_month_day day) const {
  const unsigned month = static_cast<unsigned>(day.month());
  if (!months_[month]) return false;
  const bool of_month = days_[static_cast<unsigned>(day.day())];
  const bool of_week = weekdays_[std::chrono::weekday(day).c_encoding()];
  return any_day_ || any_weekday_ ? of_month && of_week : of_month || of_week;
}

}  // namespace gridfold
