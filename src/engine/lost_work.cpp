#include "engine/lost_work.h"

#include <algorithm>

namespace gridfold {
namespace {

constexpr std::int64_t kCoresOfADevice = 64;
// Sums of many jobs must fit into 64 bits.
constexpr Duration kLongest = Duration::hours(24 * 366);

std::int64_t milliseconds(Duration time) {
  return std::clamp<std::int64_t>(time.ns, 0, kLongest.ns) / 1'000'000;
}

}  // namespace

std::int64_t weight_of(const TaskRequest& each) {
  std::int64_t devices = 0;
  for (const DeviceRequest& group : each.devices)
    devices += group.count * (group.share.value == 0 ? kWholeDevice.value : group.share.value);
  return std::max<std::int64_t>(devices > 0 ? devices : each.cpu.value / kCoresOfADevice, 1);
}

Duration unsaved_work(const JobRecord& record, Instant now) {
  if (record.started_at.is_never()) return {};
  const Duration run = now - record.started_at;
  if (!record.saved_at.is_never() && record.saved_at >= record.started_at)
    return now - record.saved_at;
  const auto& checkpoint = record.spec->checkpoint;
  if (checkpoint && checkpoint->interval.is_known() && checkpoint->interval.value().ns > 0)
    return Duration{run.ns % checkpoint->interval.value().ns};
  return run;
}

std::int64_t lost_by_age(const JobRecord& record, Instant now) {
  return record.started_at.is_never() ? 1 : milliseconds(now - record.started_at) + 1;
}

std::int64_t lost_by_moving(const JobRecord& record, std::int64_t weight, Instant now,
                            const EvictionOptions& options) {
  Duration saving{};
  if (const auto& checkpoint = record.spec->checkpoint) {
    if (record.save_time) {
      saving = *record.save_time;
    } else if (checkpoint->cost.is_known()) {
      saving = checkpoint->cost.value();
    }
  }
  Duration again{};
  if (record.evictions > 0 && !record.started_at.is_never() &&
      now - record.started_at < std::max(record.evicted_work, options.least_progress))
    again = record.evicted_work;
  return weight * (milliseconds(unsaved_work(record, now)) + milliseconds(again) +
                   milliseconds(saving) + milliseconds(options.restart_cost));
}

std::int64_t lost_by_stopping(const JobRecord& record, std::int64_t weight, Instant now,
                              const EvictionOptions& options) {
  const Duration waiting{record.runs > 0 ? record.waited.ns / record.runs : 0};
  return lost_by_moving(record, weight, now, options) + weight * milliseconds(waiting);
}

std::int64_t lost_by_shedding(std::int64_t weight, const EvictionOptions& options) {
  return weight * milliseconds(options.restart_cost);
}

Instant safe_until(const JobRecord& record, const EvictionOptions& options) {
  if (record.evictions == 0) return Instant{};
  if (record.evictions >= options.max_evictions) return Instant::never();
  return record.started_at.is_never()
             ? Instant::never()
             : record.started_at + std::max(record.evicted_work, options.least_progress);
}

}  // namespace gridfold
