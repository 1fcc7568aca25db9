#include "policies/round_types.h"

#include <algorithm>

namespace gridfold {

std::int64_t RoundType::whole_tasks(std::int32_t devices_each) const {
  std::int64_t tasks = 0;
  for (const RoundNode& node : nodes) tasks += node.devices / devices_each;
  return tasks;
}

std::int32_t RoundType::fewest_nodes(std::int32_t tasks, std::int32_t devices_each) const {
  const std::int32_t fit = std::max(1, node_devices / devices_each);
  return (tasks + fit - 1) / fit;
}

std::vector<RoundType> types_of(std::span<const RoundNode> nodes) {
  std::vector<RoundType> types;
  for (const RoundNode& node : nodes) {
    auto type = std::find_if(types.begin(), types.end(), [&](const RoundType& known) {
      return known.model == node.model && known.device_class == node.device_class;
    });
    if (type == types.end()) {
      types.push_back({node.device_class, node.model, {}, 0, 0});
      type = types.end() - 1;
    }
    type->nodes.push_back(node);
    type->devices += node.devices;
    type->node_devices = std::max(type->node_devices, node.devices);
  }
  return types;
}

bool may_run_on(const RoundJob& job, const RoundType& type) {
  const DeviceRequest& request = job.spec->roles.front().each.devices.front();
  if (request.device_class != type.device_class) return false;
  return request.models.empty() || std::find(request.models.begin(), request.models.end(),
                                             type.model) != request.models.end();
}

std::size_t type_of(std::span<const RoundType> types, const RoundJob& job) {
  if (job.places.empty()) return types.size();
  for (std::size_t t = 0; t < types.size(); ++t) {
    const auto is_here = [&](const RoundPlace& place) {
      const auto& nodes = types[t].nodes;
      const auto at =
          std::lower_bound(nodes.begin(), nodes.end(), place.node,
                           [](const RoundNode& node, NodeId id) { return node.id < id; });
      return at != nodes.end() && at->id == place.node;
    };
    if (is_here(job.places.front()))
      return std::all_of(job.places.begin(), job.places.end(), is_here) ? t : types.size();
  }
  return types.size();
}

}  // namespace gridfold
