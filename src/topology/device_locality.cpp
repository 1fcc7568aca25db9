#include "topology/device_locality.h"

#include <map>
#include <numeric>

#include "topology/device_paths.h"

namespace gridfold {
namespace {

// Sets that grow together (union-find; the lowest member stands for its set).
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t size) : parents_(size) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t at) {
    while (parents_[at] != at) at = parents_[at] = parents_[parents_[at]];
    return at;
  }
  void unite(std::size_t a, std::size_t b) {
    const auto x = find(a), y = find(b);
    parents_[std::max(x, y)] = std::min(x, y);
  }

 private:
  std::vector<std::size_t> parents_;
};

// Numbers from 0 for whatever keys come, in the order in which they come.
class Numbering {
 public:
  std::int32_t of(std::size_t key) {
    return numbers_.try_emplace(key, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::size_t, std::int32_t> numbers_;
};

// Unites what `kind` joins, if `both` allows it for the pair.
template <class Allowed>
void unite_by_path(const MachineTopology& topology, PathKind kind, DisjointSets& sets,
                   Allowed allowed) {
  const auto size = topology.devices.size();
  for (std::size_t a = 0; a < size; ++a)
    for (std::size_t b = a + 1; b < size; ++b)
      if (topology.told_paths[a * size + b].kind == kind && allowed(a, b)) sets.unite(a, b);
}

std::vector<bool> with_path(const MachineTopology& topology, PathKind kind) {
  const auto size = topology.devices.size();
  std::vector<bool> has(size);
  for (std::size_t i = 0; i < topology.told_paths.size(); ++i)
    if (topology.told_paths[i].kind == kind) has[i / size] = true;
  return has;
}

bool is_gpu(const MachineTopology& topology, std::size_t device) {
  return topology.devices[device].kind == MachineDeviceKind::kGpu;
}

void number_switch_groups_by_path(const MachineTopology& topology,
                                  std::vector<DeviceLocality>& gpus) {
  DisjointSets sets(topology.devices.size());
  unite_by_path(topology, PathKind::kPix, sets, [](std::size_t, std::size_t) { return true; });
  // Between GPUs NVLinks may hide the PCIe path, so their common card tells.
  const auto pix = with_path(topology, PathKind::kPix);
  const auto pxb = with_path(topology, PathKind::kPxb);
  unite_by_path(topology, PathKind::kPxb, sets, [&](std::size_t a, std::size_t b) {
    return (is_gpu(topology, a) && !pix[a]) || (is_gpu(topology, b) && !pix[b]);
  });
  Numbering groups;
  for (auto& gpu : gpus) {
    const auto device = static_cast<std::size_t>(gpu.device);
    gpu.switch_group = groups.of(sets.find(device));
  }
}

void number_switch_groups_by_tree(const MachineTopology& topology,
                                  std::vector<DeviceLocality>& gpus) {
  Numbering groups;
  for (auto& gpu : gpus) {
    const auto& device = topology.devices[static_cast<std::size_t>(gpu.device)];
    if (!device.host_bridge.is_known()) continue;
    // A GPU behind no switch has a key of its own, above those of switches.
    const auto key = device.pcie_switch.is_known()
                         ? static_cast<std::size_t>(device.pcie_switch.value())
                         : topology.switches.size() + static_cast<std::size_t>(gpu.device);
    gpu.switch_group = groups.of(key);
  }
}

void number_islands(const MachineTopology& topology, const DevicePaths& paths,
                    std::vector<DeviceLocality>& gpus) {
  if (!topology.links_told) return;
  const auto size = topology.devices.size();
  DisjointSets sets(size);
  std::vector<bool> joined(size), open(size);
  const auto unite = [&](std::size_t a, std::size_t b) {
    sets.unite(a, b);
    joined[a] = joined[b] = true;
  };
  for (const auto& link : topology.links) {
    const auto a = static_cast<std::size_t>(link.a);
    if (link.b >= 0) unite(a, static_cast<std::size_t>(link.b));
    if (link.b == MachineLink::kUnknownPeer) open[a] = true;
  }
  std::size_t fabric = size;
  for (std::size_t i = 0; i < size; ++i) {
    if (!paths.on_fabric(i)) continue;
    if (fabric != size) unite(fabric, i);
    fabric = i;
  }
  if (!topology.told_paths.empty())
    unite_by_path(topology, PathKind::kNvlink, sets, [](std::size_t, std::size_t) { return true; });
  Numbering islands;
  for (auto& gpu : gpus) {
    const auto device = static_cast<std::size_t>(gpu.device);
    // Links that lead nobody knows where: its island is not known either.
    if (open[device] && !joined[device]) continue;
    gpu.island = islands.of(sets.find(device));
  }
}

std::vector<NearNic> nearest_nics(const MachineTopology& topology, const DevicePaths& paths,
                                  std::size_t gpu) {
  std::vector<NearNic> nearest;
  for (std::size_t i = 0; i < topology.devices.size(); ++i) {
    if (topology.devices[i].kind != MachineDeviceKind::kNic) continue;
    const auto path = paths.between(gpu, i).kind;
    if (path == PathKind::kUnknown) continue;
    if (!nearest.empty() && path > nearest.front().path) continue;
    if (!nearest.empty() && path < nearest.front().path) nearest.clear();
    nearest.push_back({static_cast<std::int32_t>(i), path});
  }
  return nearest;
}

}  // namespace

std::vector<DeviceLocality> gpu_localities(const MachineTopology& topology) {
  const DevicePaths paths(topology);
  std::vector<DeviceLocality> gpus;
  for (std::size_t i = 0; i < topology.devices.size(); ++i) {
    if (!is_gpu(topology, i)) continue;
    DeviceLocality gpu;
    gpu.device = static_cast<std::int32_t>(i);
    const auto& numa = topology.devices[i].numa;
    if (numa.is_known()) gpu.numa = numa.value();
    gpu.nics = nearest_nics(topology, paths, i);
    gpus.push_back(std::move(gpu));
  }
  if (topology.told_paths.empty()) {
    number_switch_groups_by_tree(topology, gpus);
  } else {
    number_switch_groups_by_path(topology, gpus);
  }
  number_islands(topology, paths, gpus);
  return gpus;
}

}  // namespace gridfold
