#include "calendar/time_zone.h"

#include <date/tz.h>

#include <chrono>
#include <exception>
#include <vector>

#include "base/nearest.h"
#include "base/quote.h"

namespace gridfold {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t seconds_of(Instant at) {
  return at.ns / kSecond - (at.ns % kSecond < 0);  // rounded down, before 1970 as well
}
Instant instant_of(std::int64_t seconds) { return {seconds * kSecond}; }

std::int64_t since_epoch(date::sys_seconds at) { return at.time_since_epoch().count(); }

}  // namespace

Result<TimeZone> TimeZone::find(std::string_view name) {
  try {
    const date::time_zone& zone = *date::locate_zone(name);
    (void)zone.get_info(date::sys_seconds{});  // its file is read now, not when it is needed
    return TimeZone(zone);
  } catch (const std::exception&) {
    // Unknown, or there is no database: told apart below.
  }
  Error error = invalid("there is no time zone " + quote(name));
  error.field = "zone";
  try {
    std::vector<std::string_view> names;
    for (const date::time_zone& zone : date::get_tzdb().zones) names.push_back(zone.name());
    const std::string_view meant = nearest(name, names);
    error.hint = meant.empty() ? "name one of the IANA database, such as Europe/Berlin or UTC"
                               : "did you mean " + quote(meant) + "?";
  } catch (const std::exception& e) {
    error = internal(std::string("the time zone database cannot be read: ") + e.what());
    error.hint = "install the package tzdata";
  }
  return error;
}

std::string TimeZone::name() const { return zone_->name(); }

LocalTime TimeZone::local(Instant at) const {
  const date::sys_seconds time{std::chrono::seconds(seconds_of(at))};
  return {zone_->to_local(time).time_since_epoch().count()};
}

TimeZone::Instants TimeZone::instants(LocalTime at) const {
  const date::local_seconds time{std::chrono::seconds(at.seconds)};
  const date::local_info info = zone_->get_info(time);
  if (info.result == date::local_info::nonexistent)
    return {instant_of(since_epoch(info.first.end)), std::nullopt};
  const Instant first = instant_of(at.seconds - info.first.offset.count());
  if (info.result == date::local_info::unique) return {first, std::nullopt};
  return {first, instant_of(at.seconds - info.second.offset.count())};
}

}  // namespace gridfold
