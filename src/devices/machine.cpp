#include "devices/machine.h"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "devices/cgroup_limits.h"
#include "devices/device_order.h"
#include "devices/islands.h"

namespace gridfold {
namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

struct BitmapDeleter {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

Result<Topology> load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return from_errno(errno, "hwloc_topology_init");
  Topology topology(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(raw) != 0) return from_errno(errno, "hwloc_topology_load");
  return topology;
}

// Logical processors that this thread may run on.
Result<Bitmap> usable_processors(hwloc_topology_t topology) {
  Bitmap usable(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, usable.get(), HWLOC_CPUBIND_THREAD) != 0) {
    return from_errno(errno, "read the affinity mask");
  }
  hwloc_bitmap_and(usable.get(), usable.get(), hwloc_topology_get_allowed_cpuset(topology));
  if (hwloc_bitmap_weight(usable.get()) < 1) return internal("no processor may be used");
  return usable;
}

std::vector<NumaNode> numa_nodes(hwloc_topology_t topology, hwloc_const_cpuset_t usable) {
  std::vector<NumaNode> out;
  Bitmap both(hwloc_bitmap_alloc());
  for (hwloc_obj_t at = nullptr;
       (at = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, at)) != nullptr;) {
    hwloc_bitmap_and(both.get(), at->cpuset, usable);
    out.push_back({static_cast<std::int32_t>(at->os_index),
                   Bytes(static_cast<std::int64_t>(at->attr->numanode.local_memory)),
                   hwloc_bitmap_weight(both.get())});
  }
  return out;
}

Result<std::string> host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return from_errno(errno, "read the host name");
  return std::string(name);
}

// Null when hwloc does not see it.
hwloc_obj_t pci_device(hwloc_topology_t topology, const std::string& bus_id) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  if (std::sscanf(bus_id.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
    return nullptr;
  return hwloc_get_pcidev_by_busid(topology, domain, bus, device, function);
}

// The PCIe switch that a device hangs under, by the root port above it: what
// shares that shares the way to the processor. -1 when unknown.
std::int32_t switch_of(hwloc_obj_t device) {
  std::int32_t port = -1;
  for (hwloc_obj_t at = device->parent; at != nullptr && at->type == HWLOC_OBJ_BRIDGE;
       at = at->parent) {
    if (at->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI)
      port = static_cast<std::int32_t>(at->logical_index);
  }
  return port;
}

// The NUMA node that a PCI device hangs on, -1 when unknown.
std::int32_t numa_of(hwloc_topology_t topology, hwloc_obj_t found) {
  const hwloc_obj_t local = hwloc_get_non_io_ancestor_obj(topology, found);
  // A device of the whole machine is near to no NUMA node in particular.
  return local != nullptr && hwloc_bitmap_weight(local->nodeset) == 1
             ? hwloc_bitmap_first(local->nodeset)
             : -1;
}

// Our name for the model, and what the driver did not tell.
void apply_facts(DeviceSpec& device, const DeviceFactsTable& table) {
  const DeviceFacts* facts = table.find(device.model);
  if (facts == nullptr || facts->device_class != device.device_class) return;
  device.model = facts->model;
  if (!device.memory.is_known()) device.memory = facts->memory;
}

// A device that is split is given out in the ways in which its driver splits it.
void give_out_in_partitions(DeviceReport& report, PluginHost& plugins) {
  if (!report.partitioned || report.health == DeviceHealth::kFailed) return;
  const auto told = plugins.partitions(report.spec.uid);
  if (!told || !told->is_known()) {
    report.spec.fault = "is split, and how it can be split is not told" +
                        (told ? "" : ": " + told.error().describe());
    return;
  }
  for (const PartitionProfile& profile : told->value().profiles) {
    const auto fits = [&](std::int32_t start) {
      return start >= 0 && profile.length >= 1 && start <= kMaxPartitionSlots - profile.length;
    };
    if (!profile.starts.empty() &&
        std::all_of(profile.starts.begin(), profile.starts.end(), fits)) {
      report.spec.partitions.push_back(profile);
    }
  }
  report.spec.fault =
      report.spec.partitions.empty() ? "is split, and its driver tells no way to split it" : "";
}

Result<void> set_processors_and_memory(hwloc_topology_t topology, Machine& machine) {
  const auto usable = usable_processors(topology);
  if (!usable) return usable.error();
  const auto limits = read_cgroup_limits();
  if (!limits) return limits.error();
  machine.numa = numa_nodes(topology, usable->get());
  machine.node.cpu = MilliCores(1000 * std::int64_t{hwloc_bitmap_weight(usable->get())});
  if (!limits->cpu.allows(machine.node.cpu)) machine.node.cpu = limits->cpu.bound();
  machine.node.memory =
      Bytes(static_cast<std::int64_t>(hwloc_get_root_obj(topology)->total_memory));
  if (!limits->memory.allows(machine.node.memory)) machine.node.memory = limits->memory.bound();
  return {};
}

std::vector<DeviceSpec> find_devices(hwloc_topology_t topology, const MachineOptions& options,
                                     PluginHost& plugins, Machine& machine) {
  auto inventory = plugins.discover();
  std::vector<DeviceSpec> found;
  std::vector<LinkedDevice> linked;
  for (auto& report : inventory.devices) {
    apply_facts(report.spec, *options.facts);
    if (options.manage_partitions) give_out_in_partitions(report, plugins);
    if (const hwloc_obj_t device = pci_device(topology, report.pci_bus_id)) {
      if (report.spec.numa < 0) report.spec.numa = numa_of(topology, device);
      report.spec.pcie_switch = switch_of(device);
    }
    const auto links = plugins.links(report.spec.uid);
    linked.push_back(
        {report.spec.uid, report.plugin, links ? *links : Known<std::vector<DeviceLink>>()});
  }
  const auto islands = islands_of(linked);
  for (std::size_t i = 0; i < islands.size(); ++i) {
    inventory.devices[i].spec.island = islands[i];
    found.push_back(inventory.devices[i].spec);
  }
  machine.reports = std::move(inventory.devices);
  machine.troubles = std::move(inventory.troubles);
  found.insert(found.end(), options.emulated.begin(), options.emulated.end());
  return found;
}

}  // namespace

Result<Machine> discover_machine(const MachineOptions& options, PluginHost& plugins) {
  Machine machine;
  const auto host = options.name.empty() ? host_name() : Result<std::string>(options.name);
  if (!host) return host.error();
  machine.node.name = *host;
  const auto topology = load_topology();
  if (!topology) return topology.error();
  if (auto set = set_processors_and_memory(topology->get(), machine); !set) return set.error();
  const auto found = find_devices(topology->get(), options, plugins, machine);
  machine.node.devices = keep_device_order(options.previous, found);
  if (machine.node.devices.size() > kMaxDevicesPerNode) {
    return Error{.kind = ErrorKind::kLimit,
                 .message = "node \"" + machine.node.name + "\" has " +
                            std::to_string(machine.node.devices.size()) +
                            " devices; a node may have " + std::to_string(kMaxDevicesPerNode),
                 .hint = "emulate fewer devices, or load fewer plug-ins"};
  }
  return machine;
}

}  // namespace gridfold
