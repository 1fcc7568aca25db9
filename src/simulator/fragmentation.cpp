#include "simulator/fragmentation.h"

#include <map>
#include <tuple>

namespace gridfold {
namespace {

const DeviceRequest* gpu_request(const TaskRequest& request) {
  for (const auto& device : request.devices) {
    if (device.device_class == "gpu") return &device;
  }
  return nullptr;
}

}  // namespace

FragmentationMeter::FragmentationMeter(const Workload& workload, const ClusterSpec& cluster) {
  std::map<std::string, std::size_t> models;
  for (const auto& node : cluster.nodes) {
    const std::string model = node.devices.empty() ? std::string() : node.devices.front().model;
    model_of_node_.push_back(models.emplace(model, models.size()).first->second);
  }
  std::vector<std::int64_t> counts(workload.shapes.size(), 0);
  for (const auto& job : workload.jobs) ++counts[job.shape];
  // By what FGD looks at, so that shapes that differ in memory only are one.
  std::map<std::tuple<std::int64_t, std::int32_t, std::int32_t, std::vector<bool>>, double> kinds;
  double total = 0;
  for (std::size_t i = 0; i < workload.shapes.size(); ++i) {
    for (const auto& role : workload.shapes[i].roles) {
      const double weight = static_cast<double>(counts[i]) * role.count;
      const DeviceRequest* gpu = gpu_request(role.each);
      std::vector<bool> accepted;
      if (gpu != nullptr && !gpu->models.empty()) {
        accepted.resize(models.size());
        for (const auto& name : gpu->models) {
          if (const auto known = models.find(name); known != models.end()) {
            accepted[known->second] = true;
          }
        }
      }
      kinds[{role.each.cpu.value, gpu ? gpu->count : 0,
             gpu ? static_cast<std::int32_t>(gpu->share.value) : 0, accepted}] += weight;
      total += weight;
    }
  }
  for (const auto& [key, weight] : kinds) {
    const auto& [cpu, gpus, share, accepted] = key;
    kinds_.push_back({cpu, gpus, share, accepted, weight / total});
  }
}

FragmentationMeter::Amount FragmentationMeter::measure(std::size_t node,
                                                       const NodeRoom& room) const {
  Amount amount;
  for (const auto& device : room.devices) amount.idle += device.free_share;
  if (amount.idle <= 0) return amount;
  for (const auto& kind : kinds_) {
    amount.fragmented += kind.weight * wasted(kind, model_of_node_[node], room, amount.idle);
  }
  return amount;
}

double FragmentationMeter::wasted(const Kind& kind, std::size_t model, const NodeRoom& room,
                                  double idle) const {
  if (kind.gpus == 0 || room.cpu < kind.cpu || !kind.accepts(model)) return idle;
  std::int32_t enough = 0;
  double too_small = 0;
  for (const auto& device : room.devices) {
    if (device.free_share >= kind.share) {
      ++enough;
    } else {
      too_small += device.free_share;
    }
  }
  return enough >= kind.gpus ? too_small : idle;
}

}  // namespace gridfold
