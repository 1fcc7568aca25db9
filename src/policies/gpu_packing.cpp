#include "policies/gpu_packing.h"

#include <algorithm>

#include "policies/room.h"

namespace gridfold {
namespace {

// Each case scores above every score of the next.
std::int64_t score_of(const NodeRoom& node, std::uint64_t chosen) {
  std::int64_t idle = 0;
  std::int64_t idle_taken = 0;
  std::int64_t free_percent = 0;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const DeviceRoom& device = node.devices[i];
    const bool is_chosen = (chosen >> i & 1) != 0;
    if (is_whole_free(device)) {
      ++idle;
      if (is_chosen) ++idle_taken;
    }
    if (is_chosen) free_percent += device.free_share / 10;
  }
  const auto count = static_cast<std::int64_t>(node.devices.size());
  if (idle == count) return 100 - count;                        // an idle node: the smallest
  if (idle_taken > 0) return 200 - idle_taken;                  // idle devices: the fewest
  return std::max<std::int64_t>(300 - free_percent / 10, 201);  // the fullest device
}

}  // namespace

Choice GpuPacking::choose(const NodeRoom& node, const Request& request) const {
  if (request.devices.empty()) return {};
  const std::uint64_t devices = first_fit_devices(node, request);
  return {score_of(node, devices), devices};
}

}  // namespace gridfold
