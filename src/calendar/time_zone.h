// Wall clocks by the IANA time zone database of the machine (package tzdata).
//
//   const Result<TimeZone> zone = TimeZone::find("America/New_York");
//   zone->local(now)                      // what the clock on the wall shows
//   zone->instants(local).first           // when it shows that
//
// Answers follow from the database alone; a zone stays the same while the
// process lives. Values; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace date {
class time_zone;
}

namespace gridfold {

// What a wall clock shows, as seconds from its 1970-01-01 00:00:00.
struct LocalTime {
  std::int64_t seconds = 0;
  friend constexpr auto operator<=>(LocalTime, LocalTime) = default;
};

class TimeZone {
 public:
  // By its name in the database: "Europe/Berlin", "UTC". kInvalid for another.
  static Result<TimeZone> find(std::string_view name);

  std::string name() const;
  LocalTime local(Instant at) const;

  // When the clock shows it. Where it is set back over that time it does so
  // twice; where it is set forward over it, never: then the first instant after
  // the gap stands for it.
  struct Instants {
    Instant first;
    std::optional<Instant> second;
  };
  Instants instants(LocalTime at) const;

 private:
  explicit TimeZone(const date::time_zone& zone) : zone_(&zone) {}
  const date::time_zone* zone_;  // the database's, which lives as long as the process
};

}  // namespace gridfold
