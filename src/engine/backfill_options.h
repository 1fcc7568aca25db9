// Whether jobs that have no room now are promised some later, and who may use
// the time until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "base/units.h"

namespace gridfold {

enum class BackfillMode : std::uint8_t {
  kNone,          // whoever fits starts; who does not, waits without a promise
  kEasy,          // the first that waits for each kind of device has a reservation
  kConservative,  // all that wait have one, up to a number
};
// "none", "easy", "conservative".
std::string_view to_string(BackfillMode mode);
std::optional<BackfillMode> parse_backfill_mode(std::string_view text);

// Who is tried first among those of one priority that no room can be promised
// to now, so that they may only fill gaps.
enum class BackfillOrder : std::uint8_t {
  kArrival,   // as they came, or as queues take turns
  kShortest,  // who is expected to end first, of whatever queue
};
// "arrival", "shortest".
std::string_view to_string(BackfillOrder order);
std::optional<BackfillOrder> parse_backfill_order(std::string_view text);

struct BackfillOptions {
  BackfillMode mode = BackfillMode::kNone;
  BackfillOrder order = BackfillOrder::kArrival;
  // At most so many jobs have a reservation at once, in easy mode of those that
  // ask for the same kinds of devices; 0: one in easy mode, a thousand in
  // conservative mode.
  std::size_t max_reservations = 0;
  // For planning only: how long jobs without a limit are taken to run.
  // Unlimited: for ever, so that nothing is planned to follow them.
  Limit<Duration> default_run;
  friend bool operator==(const BackfillOptions&, const BackfillOptions&) = default;

  std::size_t most() const {
    if (max_reservations > 0) return max_reservations;
    return mode == BackfillMode::kEasy ? 1 : 1000;
  }
};

}  // namespace gridfold
