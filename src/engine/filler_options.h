// When fillers are let in, and which of them go when others need their place.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace gridfold {

enum class FillerAdmission : std::uint8_t {
  kNone,      // they are kept waiting
  kAny,       // whenever there is room
  kForecast,  // when as much will still be idle for their guaranteed time (idle_forecast.h)
};
std::string_view to_string(FillerAdmission admission);
std::optional<FillerAdmission> parse_filler_admission(std::string_view text);

enum class VictimOrder : std::uint8_t {
  kLeastLost,  // by lost_work.h
  kYoungest,   // whoever has run shortest, whatever is lost: a baseline
};
std::string_view to_string(VictimOrder order);
std::optional<VictimOrder> parse_victim_order(std::string_view text);

struct FillerOptions {
  FillerAdmission admission = FillerAdmission::kAny;
  VictimOrder victims = VictimOrder::kLeastLost;
  // Once let in by forecast, a filler is to run so long undisturbed nineteen
  // times in twenty.
  Duration guaranteed = Duration::minutes(10);
  friend bool operator==(const FillerOptions&, const FillerOptions&) = default;
};

}  // namespace gridfold
