#include "engine/request_axes.h"

#include <algorithm>
#include <bit>

#include "engine/device_fit.h"

namespace gridfold {
namespace {

std::int64_t cpu_of(const NodeRoom& room, const Request&, std::size_t) { return room.cpu; }
std::int64_t memory_of(const NodeRoom& room, const Request&, std::size_t) { return room.memory; }

bool suits(const DeviceRoom& device, const DeviceNeed& need) {
  return device.usable && device.device_class == need.device_class && need.accepts(device.model);
}
bool can_split(const DeviceRoom& device, const DeviceNeed& need) {
  return suits(device, need) && need.kinds[device.table].length > 0;
}

// Whole devices: how many are idle and acceptable.
std::int64_t whole_of(const NodeRoom& room, const Request& request, std::size_t g) {
  return std::popcount(open_devices(room, request.devices[g]));
}
// Of those, the most that lie to each other as the task wishes.
std::int64_t placed_of(const NodeRoom& room, const Request& request, std::size_t g) {
  return most_of(room, request.devices[g]);
}
// Partitions: the most free slots in a row from where one may begin, at most
// those of one partition, and all free slots of devices that have such.
std::int64_t run_of(const NodeRoom& room, const Request& request, std::size_t g) {
  const DeviceNeed& need = request.devices[g];
  std::int64_t most = 0;
  for (const DeviceRoom& device : room.devices) {
    if (can_split(device, need))
      most = std::max<std::int64_t>(most, longest_run(need.kinds[device.table], device.free_slots));
  }
  return most;
}
std::int64_t slots_of(const NodeRoom& room, const Request& request, std::size_t g) {
  const DeviceNeed& need = request.devices[g];
  std::int64_t sum = 0;
  for (const DeviceRoom& device : room.devices) {
    if (can_split(device, need)) sum += std::popcount(device.free_slots);
  }
  return sum;
}
// Slices: the largest share, or memory, free on one acceptable device.
std::int64_t share_of(const NodeRoom& room, const Request& request, std::size_t g) {
  const DeviceNeed& need = request.devices[g];
  std::int64_t most = 0;
  for (const DeviceRoom& device : room.devices) {
    if (suits(device, need) && device.table == 0)
      most = std::max<std::int64_t>(most, device.free_share);
  }
  return most;
}
std::int64_t device_memory_of(const NodeRoom& room, const Request& request, std::size_t g) {
  const DeviceNeed& need = request.devices[g];
  std::int64_t most = 0;
  for (const DeviceRoom& device : room.devices) {
    if (suits(device, need) && device.table == 0 && device.free_share >= need.share)
      most = std::max(most, device.free_memory);
  }
  return most;
}

}  // namespace

std::vector<Axis> axes_of(const Cluster& cluster, const Request& request) {
  std::vector<Axis> axes;
  for (std::size_t g = 0; g < request.devices.size(); ++g) {
    const DeviceNeed& need = request.devices[g];
    const std::string name(cluster.class_name(need.device_class));
    if (need.is_whole()) {
      axes.push_back({name, need.count, whole_of, g});
      if (need.place != DevicePlace::kAny) {
        axes.push_back({name,
                        need.count,
                        placed_of,
                        g,
                        whole_of,
                        {{"within", std::string(to_string(need.place))}}});
      }
    } else if (need.partition != 0) {
      std::int64_t length = 1;
      for (const PartitionKind& kind : need.kinds)
        length = std::max<std::int64_t>(length, kind.length);
      axes.push_back({name + "_partition",
                      length,
                      run_of,
                      g,
                      slots_of,
                      {{"profile", std::string(cluster.profile_name(need))}}});
    } else {
      if (need.share > 0) axes.push_back({name + "_share", need.share, share_of, g});
      if (need.memory > 0) axes.push_back({name + "_memory", need.memory, device_memory_of, g});
    }
  }
  if (request.cpu > 0) axes.push_back({"cpu", request.cpu, cpu_of, 0});
  if (request.memory > 0) axes.push_back({"memory", request.memory, memory_of, 0});
  return axes;
}

}  // namespace gridfold
