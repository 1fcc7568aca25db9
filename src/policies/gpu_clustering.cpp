#include "policies/gpu_clustering.h"

#include "policies/room.h"
#include "policies/settings.h"

namespace gridfold {
namespace {

struct Kinds {
  bool slices = false;
  bool whole = false;
};

// Who holds the devices. A slice is less than a device, so one holder that
// leaves nothing holds it whole.
Kinds kinds_on(const NodeRoom& node) {
  Kinds kinds;
  for (const DeviceRoom& device : node.devices) {
    if (device.holders == 0) continue;
    if (device.holders == 1 && device.free_share == 0) {
      kinds.whole = true;
    } else {
      kinds.slices = true;
    }
  }
  return kinds;
}

Kinds kinds_asked(const Request& request) {
  Kinds kinds;
  for (const DeviceNeed& need : request.devices) {
    if (need.is_whole()) {
      kinds.whole = true;
    } else {
      kinds.slices = true;
    }
  }
  return kinds;
}

// 3: only tasks of this kind; 2: of this kind and others; 1: nobody; 0: others.
std::int64_t standing(const Kinds& here, const Kinds& asked) {
  if (!here.slices && !here.whole) return 1;
  const bool same = (here.slices && asked.slices) || (here.whole && asked.whole);
  if (!same) return 0;
  return here.slices && here.whole ? 2 : 3;
}

}  // namespace

Result<GpuClusteringOptions> read_gpu_clustering_options(const PolicyOptions& options) {
  SettingsReader settings("gpu_clustering", options.settings);
  GpuClusteringOptions own;
  own.largest_devices =
      settings.number("gpu_clustering.largest_devices", own.largest_devices, 1, 64);
  if (auto error = settings.finish()) return *error;
  return own;
}

// First the standing, then up to 25 points for how little is free.
Choice GpuClustering::choose(const NodeRoom& node, const Request& request) const {
  if (request.devices.empty()) return {};
  const std::int64_t most = 1000 * options_.largest_devices;
  const std::int64_t fullness = 25 - divide_up(25 * free_share(node), most);
  return {1000 * standing(kinds_on(node), kinds_asked(request)) + fullness,
          first_fit_devices(node, request)};
}

}  // namespace gridfold
