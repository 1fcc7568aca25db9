#include "simulator/workload.h"

#include <algorithm>

namespace gridfold {

std::int64_t device_thousandths(const JobSpec& spec, std::string_view device_class) {
  std::int64_t sum = 0;
  for (const auto& role : spec.roles) {
    for (const auto& request : role.each.devices) {
      if (request.device_class == device_class) {
        sum += std::int64_t{role.count} * request.count * request.share.value;
      }
    }
  }
  return sum;
}

std::int64_t millicores(const JobSpec& spec) {
  std::int64_t sum = 0;
  for (const auto& role : spec.roles) sum += std::int64_t{role.count} * role.each.cpu.value;
  return sum;
}

ClusterCapacity capacity_of(const ClusterSpec& cluster) {
  ClusterCapacity capacity;
  for (const auto& node : cluster.nodes) {
    const auto gpus = static_cast<std::int32_t>(
        std::count_if(node.devices.begin(), node.devices.end(),
                      [](const DeviceSpec& device) { return device.device_class == "gpu"; }));
    ++capacity.nodes;
    capacity.millicores += node.cpu.value;
    capacity.gpu_thousandths += std::int64_t{gpus} * kWholeDevice.value;
    capacity.largest_gpu_node = std::max(capacity.largest_gpu_node, gpus);
    capacity.largest_cpu_node = std::max(capacity.largest_cpu_node, node.cpu.value);
  }
  return capacity;
}

}  // namespace gridfold
