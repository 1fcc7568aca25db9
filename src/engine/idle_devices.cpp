#include "engine/idle_devices.h"

#include <algorithm>

namespace gridfold {

void IdleDevices::follow(const std::function<bool(JobId)>& is_filler) {
  const bool anew = membership_ != cluster_.membership() || change_ < cluster_.forgotten_changes();
  if (anew) {
    for (Pool& pool : pools_) pool.left = pool.free = 0;
    parts_.assign(cluster_.size(), {});
    for (std::uint32_t n = 0; n < cluster_.size(); ++n) recount(NodeId(n), is_filler);
    membership_ = cluster_.membership();
  } else {
    for (std::uint64_t change = change_ + 1; change <= cluster_.last_change(); ++change) {
      const NodeId node = cluster_.changed(change);
      if (!node.is_none()) recount(node, is_filler);
    }
  }
  change_ = cluster_.last_change();
}

void IdleDevices::recount(NodeId node, const std::function<bool(JobId)>& is_filler) {
  std::vector<Part>& parts = parts_[node.value];
  for (const Part& part : parts) {
    pools_[part.pool].left -= part.left;
    pools_[part.pool].free -= part.free;
  }
  parts.clear();
  if (!cluster_.usable(node)) return;
  std::uint64_t with_rights = 0;
  std::uint64_t with_fillers = 0;
  for (const Holding& holding : cluster_.holdings(node))
    (is_filler(holding.job) ? with_fillers : with_rights) |= holding.devices;
  for (const Holding& claim : cluster_.claims(node)) with_rights |= claim.devices;
  const DeviceRooms devices = cluster_.room(node).devices;
  const auto kinds = devices.kinds();
  for (std::size_t d = 0; d < kinds.size(); ++d) {
    if (((devices.usable() & ~with_rights) >> d & 1) == 0) continue;
    const std::uint16_t pool = pool_of(kinds[d]);
    if (parts.empty() || parts.back().pool != pool) parts.push_back({pool});
    ++parts.back().left;
    parts.back().free = static_cast<std::int16_t>(parts.back().free + (~with_fillers >> d & 1));
  }
  for (const Part& part : parts) {
    pools_[part.pool].left += part.left;
    pools_[part.pool].free += part.free;
  }
}

std::uint16_t IdleDevices::pool_of(const DeviceKind& kind) {
  std::size_t at = 0;
  while (at < pools_.size() &&
         (pools_[at].device_class != kind.device_class || pools_[at].model != kind.model))
    ++at;
  if (at == pools_.size()) pools_.push_back({kind.device_class, kind.model});
  return static_cast<std::uint16_t>(at);
}

}  // namespace gridfold
