#include "backends/local/slice_limits.h"

#include <unistd.h>

#include <algorithm>

namespace gridfold::local {
namespace {

constexpr char kLibrary[] = "/usr/local/vgpu/libvgpu.so";

bool holds_nvidia_device(const LaunchOrder& order, const NodeSpec& node) {
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const DeviceSpec& device = node.devices[i];
    if ((order.devices >> i & 1) != 0 && device.origin == DeviceOrigin::kReal &&
        device.uid.starts_with("GPU-"))
      return true;
  }
  return false;
}

std::string percent(DeviceShare share) {
  return std::to_string(std::max<std::int64_t>((share.value + 5) / 10, 1));
}

std::string mebibytes(Bytes memory) {
  return std::to_string(std::max<std::int64_t>(memory.value >> 20, 1));
}

}  // namespace

std::string find_slice_library() { return ::access(kLibrary, R_OK) == 0 ? kLibrary : ""; }

void add_slice_limits(const LaunchOrder& order, const NodeSpec& node, const std::string& library,
                      Environment& env) {
  if (!holds_nvidia_device(order, node)) return;
  for (const DeviceRequest& request : order.spec->role_of(order.task.index).each.devices) {
    if (request.device_class != "gpu" || request.is_whole() || !request.partition.empty()) continue;
    // The task sees its one device as number 0.
    if (request.share.value > 0) {
      env["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] = percent(request.share);
      if (!library.empty()) env["CUDA_DEVICE_SM_LIMIT"] = percent(request.share);
    }
    if (request.memory.value > 0) {
      env["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] = "0=" + mebibytes(request.memory) + "M";
      if (!library.empty()) env["CUDA_DEVICE_MEMORY_LIMIT_0"] = mebibytes(request.memory) + "m";
    }
    if (library.empty()) continue;
    std::string& preload = env["LD_PRELOAD"];
    preload = library + (preload.empty() ? "" : ":" + preload);
  }
}

}  // namespace gridfold::local
