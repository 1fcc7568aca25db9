// What every fuzz target of a reader does: no crash on any bytes, and what is
// accepted holds what the drivers rely on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "simulator/workload.h"

namespace gridfold {

inline std::string_view fuzz_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void check_workload(const Workload& workload) {
  for (const auto& job : workload.jobs) {
    if (job.shape >= workload.shapes.size()) std::abort();
    if (job.arrives.is_known() && job.arrives.value() < Duration{}) std::abort();
    if (job.duration.is_known() && job.duration.value() < Duration{}) std::abort();
  }
  for (const auto& shape : workload.shapes) {
    if (shape.roles.empty() || shape.task_count() < 1) std::abort();
    if (device_thousandths(shape, "gpu") < 0 || millicores(shape) < 0) std::abort();
  }
}

inline void check_cluster(const ClusterSpec& cluster) {
  for (const auto& node : cluster.nodes) {
    if (node.name.empty() || node.devices.size() > kMaxDevicesPerNode) std::abort();
  }
}

}  // namespace gridfold
