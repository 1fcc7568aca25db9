#include "accounting/effective_json.h"

#include <cmath>

namespace gridfold {
namespace {

// To the millionth of an hour.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

void write_losses(JsonWriter& json, const EffectiveTotals& totals, PartGroup group) {
  json.key(to_string(group)).begin_object();
  for (std::size_t i = 0; i < kParts; ++i) {
    const auto part = static_cast<Part>(i);
    if (group_of(part) == group)
      json.key(to_string(part)).real(rounded(device_hours(totals.at(part))));
  }
  json.end_object();
}

}  // namespace

void write_effective(JsonWriter& json, const EffectiveTotals& totals) {
  const auto hours = [&](const char* key, DeviceTime time) {
    json.key(key).real(rounded(device_hours(time)));
  };
  json.begin_object();
  hours("supplied_device_hours", totals.supplied);
  hours("pooled_device_hours", totals.pooled());
  hours("allocated_device_hours", totals.allocated);
  // Nothing tells how busy a device is.
  json.key("busy_device_hours").null();
  hours("useful_device_hours", totals.at(Part::kUseful));
  hours("in_progress_device_hours", totals.at(Part::kInProgress));
  json.key("useful_ratio");
  if (totals.supplied == 0) {
    json.null();
  } else {
    json.real(rounded(static_cast<double>(totals.at(Part::kUseful)) /
                      static_cast<double>(totals.supplied)));
  }
  json.key("losses_device_hours").begin_object();
  for (const PartGroup group : {PartGroup::kNotPooled, PartGroup::kIdle, PartGroup::kWasted})
    write_losses(json, totals, group);
  json.end_object();
  json.end_object();
}

}  // namespace gridfold
