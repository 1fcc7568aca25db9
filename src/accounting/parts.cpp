#include "accounting/parts.h"

#include <numeric>

namespace gridfold {
namespace {

constexpr std::array<std::string_view, kParts> kNames = {
    "useful",    "in_progress", "starting",   "clearing",    "restart_wait", "evicted",
    "failed",    "node_failed", "time_limit", "cancelled",   "restarted",    "no_demand",
    "gang_wait", "shape",       "stranded",   "wrong_kind",  "quota",        "reserved",
    "turn",      "drained",     "node_down",  "quarantined", "faulty",       "beyond_limits",
};

}  // namespace

PartGroup group_of(Part part) {
  if (part == Part::kUseful) return PartGroup::kUseful;
  if (part == Part::kInProgress) return PartGroup::kInProgress;
  if (part < Part::kNoDemand) return PartGroup::kWasted;
  return part < Part::kDrained ? PartGroup::kIdle : PartGroup::kNotPooled;
}

std::string_view to_string(Part part) { return kNames[static_cast<std::size_t>(part)]; }

std::string_view to_string(PartGroup group) {
  switch (group) {
    case PartGroup::kUseful: return "useful";
    case PartGroup::kInProgress: return "in_progress";
    case PartGroup::kWasted: return "allocated_not_useful";
    case PartGroup::kIdle: return "idle";
    case PartGroup::kNotPooled: return "not_pooled";
  }
  return "";
}

DeviceTime EffectiveTotals::sum(PartGroup group) const {
  DeviceTime sum = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    if (group_of(static_cast<Part>(i)) == group) sum += parts[i];
  }
  return sum;
}

DeviceTime EffectiveTotals::sum() const {
  return std::accumulate(parts.begin(), parts.end(), DeviceTime{0});
}

void EffectiveTotals::add(const EffectiveTotals& other) {
  supplied += other.supplied;
  allocated += other.allocated;
  for (std::size_t i = 0; i < kParts; ++i) parts[i] += other.parts[i];
}

void EffectiveTotals::divide_by(std::int64_t number) {
  supplied /= number;
  allocated /= number;
  for (DeviceTime& part : parts) part /= number;
}

double device_hours(DeviceTime time) { return static_cast<double>(time) / (1000.0 * 3600e9); }

}  // namespace gridfold
