#include "engine/filler_options.h"

namespace gridfold {

std::string_view to_string(FillerAdmission admission) {
  switch (admission) {
    case FillerAdmission::kNone: return "none";
    case FillerAdmission::kAny: return "any";
    case FillerAdmission::kForecast: return "forecast";
  }
  return "";
}

std::optional<FillerAdmission> parse_filler_admission(std::string_view text) {
  for (const auto admission :
       {FillerAdmission::kNone, FillerAdmission::kAny, FillerAdmission::kForecast}) {
    if (text == to_string(admission)) return admission;
  }
  return std::nullopt;
}

std::string_view to_string(VictimOrder order) {
  return order == VictimOrder::kLeastLost ? "least_lost" : "youngest";
}

std::optional<VictimOrder> parse_victim_order(std::string_view text) {
  for (const auto order : {VictimOrder::kLeastLost, VictimOrder::kYoungest}) {
    if (text == to_string(order)) return order;
  }
  return std::nullopt;
}

}  // namespace gridfold
