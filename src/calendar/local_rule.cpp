#include "calendar/local_rule.h"

#include <algorithm>
#include <chrono>

namespace gridfold {
namespace {

// Beyond any change of a clock, and within the next day.
constexpr Duration kNearby = Duration::hours(25);
// February the 29th may be eight years away.
constexpr int kMostDays = 9 * 366;
constexpr Instant kLast = Instant::never() - Duration::hours(10 * 366 * 24);

std::int64_t seconds_of(std::chrono::sys_days day) {
  return std::chrono::seconds(day.time_since_epoch()).count();
}

}  // namespace

Result<LocalRule> LocalRule::parse(std::string_view cron, std::string_view zone) {
  const Result<Cron> times = Cron::parse(cron);
  if (!times) return times.error();
  const Result<TimeZone> where = TimeZone::find(zone);
  if (!where) return where.error();
  return LocalRule(std::string(cron), *times, *where);
}

struct LocalRule::Search {
  Instant after{};
  LocalTime from;
  Instant best = Instant::never();
};

Instant LocalRule::after(Instant at) const {
  if (at > kLast) return Instant::never();
  // Where the clock is about to be set back it will show what it showed before.
  const std::int64_t soon = zone_.local(at + kNearby).seconds - kNearby.ns / 1'000'000'000;
  Search search{at, {std::min(zone_.local(at).seconds, soon)}};
  const auto first = std::chrono::floor<std::chrono::days>(
      std::chrono::sys_seconds(std::chrono::seconds(search.from.seconds)));
  for (int i = 0; i < kMostDays; ++i) {
    const std::chrono::sys_days day = first + std::chrono::days(i);
    if (cron_.has_day(day) && search_day(day, search)) break;
  }
  return search.best;
}

// Of this local day; wall clocks count days as UTC does. True when nothing later
// can be better: the first instants of local times never decrease, nor do their
// second ones.
bool LocalRule::search_day(std::chrono::sys_days day, Search& search) const {
  for (int hour = 0; hour < 24; ++hour) {
    if (!cron_.has_hour(hour)) continue;
    for (int minute = 0; minute < 60; ++minute) {
      const LocalTime time{seconds_of(day) + hour * 3600 + minute * 60};
      if (!cron_.has_minute(hour, minute) || time < search.from) continue;
      const TimeZone::Instants found = zone_.instants(time);
      if (found.first > search.after) {
        search.best = std::min(search.best, found.first);
        return true;
      }
      if (cron_.is_hourly() && found.second && *found.second > search.after)
        search.best = std::min(search.best, *found.second);
    }
  }
  return false;
}

}  // namespace gridfold
