// What places have held lately, to and from the records of the store.
#include "engine/queue_tree.h"

namespace gridfold {
namespace {

// Resources of a mean, as QueueTree::remember() orders them.
constexpr std::string_view kCpu = "cpu";
constexpr std::string_view kMemory = "memory";
constexpr std::size_t kFirstClass = 2;

}  // namespace

std::vector<UsageRecord> QueueTree::usage_records(Remembered which) const {
  std::vector<QueueId> places = usage_changed_;
  if (which == Remembered::kAll) {
    places.clear();
    for (std::uint32_t i = 0; i < queues_.size(); ++i) places.emplace_back(i);
  }
  std::vector<UsageRecord> records;
  for (const QueueId id : places) {
    const Queue& place = queues_[id.value];
    if (!place.lately.has_begun()) continue;
    const DecayedUsage::Parts parts = place.lately.parts();
    UsageRecord& record = records.emplace_back();
    record.queue = queues_[queue_of(id).value].spec.name;
    if (place.is_tenant) record.tenant = place.spec.name;
    record.since = parts.since;
    record.until = parts.until;
    for (std::size_t r = 0; r < parts.means.size(); ++r) {
      if (parts.means[r] == 0 && parts.areas[r] == 0) continue;
      const std::string_view resource =
          r == 0   ? kCpu
          : r == 1 ? kMemory
                   : cluster_.class_name(static_cast<std::uint16_t>(r - kFirstClass));
      record.amounts.push_back({std::string(resource), parts.means[r], parts.areas[r]});
    }
  }
  return records;
}

void QueueTree::usage_is_stored() {
  for (const QueueId id : usage_changed_) queues_[id.value].usage_changed = false;
  usage_changed_.clear();
}

void QueueTree::restore_usage(const UsageRecord& record) {
  if (half_life_ <= Duration{}) return;
  const QueueId id =
      record.tenant.empty() ? intern(record.queue) : place_of(record.queue, record.tenant);
  Queue& place = queues_[id.value];
  if (place.is_tenant == record.tenant.empty()) return;
  DecayedUsage::Parts parts{record.since, record.until, {}, {}};
  for (const UsageRecord::Amount& amount : record.amounts) {
    std::size_t r = amount.resource == kCpu ? 0 : 1;
    if (amount.resource != kCpu && amount.resource != kMemory) {
      const auto known = cluster_.find_class(amount.resource);
      if (!known) continue;  // of no node: no part of what there is
      r = kFirstClass + *known;
    }
    if (r >= parts.means.size()) {
      parts.means.resize(r + 1);
      parts.areas.resize(r + 1);
    }
    parts.means[r] = amount.mean;
    parts.areas[r] = amount.area;
  }
  if (parts.means.size() > kFirstClass + place.usage.classes.size())
    place.usage.classes.resize(parts.means.size() - kFirstClass);
  place.lately.restore(parts);
}

}  // namespace gridfold
