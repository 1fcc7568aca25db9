#include "topology/machine_topology.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "base/enum_names.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 8> kPathNames = {"X",   "NV",   "PIX", "PXB",
                                                        "PHB", "NODE", "SYS", "?"};
constexpr std::array<std::string_view, 5> kKindNames = {"gpu", "accelerator", "nic", "nvswitch",
                                                        "unknown"};

Error too_many(std::string_view what, std::size_t most) {
  Error error{ErrorKind::kLimit, "more than " + std::to_string(most) + " " + std::string(what)};
  error.hint = "give the file of one machine";
  return error;
}

Error given_twice(const std::string& what) {
  Error error = invalid(what + " is given twice");
  error.hint = "export the file again; each stands for one thing";
  return error;
}

Result<void> check_devices(const std::vector<MachineDevice>& devices) {
  std::set<std::string> addresses;
  std::set<std::pair<MachineDeviceKind, std::int32_t>> numbers;
  for (const auto& device : devices) {
    if (!device.pci_address.empty() && !addresses.insert(device.pci_address).second)
      return given_twice("the PCI address " + device.pci_address);
    if (device.number.is_known() && !numbers.emplace(device.kind, device.number.value()).second)
      return given_twice(std::string(to_string(device.kind)) + " number " +
                         std::to_string(device.number.value()));
  }
  return {};
}

auto order_key(const MachineDevice& device) {
  const auto number =
      device.number.is_known() ? device.number.value() : std::numeric_limits<std::int32_t>::max();
  // Longer domains are higher ones.
  return std::tuple(device.kind, number, device.pci_address.size(),
                    std::string_view(device.pci_address));
}

void sort_devices(MachineTopology& topology) {
  const auto size = topology.devices.size();
  std::vector<std::size_t> order(size);  // new place -> old place
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return order_key(topology.devices[a]) < order_key(topology.devices[b]);
  });
  std::vector<std::int32_t> place(size);  // old place -> new place
  std::vector<MachineDevice> devices;
  for (std::size_t i = 0; i < size; ++i) {
    place[order[i]] = static_cast<std::int32_t>(i);
    devices.push_back(topology.devices[order[i]]);
  }
  topology.devices = std::move(devices);
  for (auto& link : topology.links) {
    link.a = place[static_cast<std::size_t>(link.a)];
    if (link.b >= 0) link.b = place[static_cast<std::size_t>(link.b)];
  }
  if (topology.told_paths.empty()) return;
  std::vector<DevicePath> paths;
  for (const auto row : order)
    for (const auto column : order) paths.push_back(topology.told_paths[row * size + column]);
  topology.told_paths = std::move(paths);
}

}  // namespace

std::string to_text(const DevicePath& path) {
  std::string text(name_of(kPathNames, path.kind));
  if (path.kind == PathKind::kNvlink && path.links.is_known())
    text += std::to_string(path.links.value());
  return text;
}

std::string_view to_string(MachineDeviceKind kind) { return name_of(kKindNames, kind); }

std::size_t MachineTopology::count(MachineDeviceKind kind) const {
  return static_cast<std::size_t>(
      std::count_if(devices.begin(), devices.end(),
                    [&](const MachineDevice& device) { return device.kind == kind; }));
}

Result<MachineTopology> finish_topology(MachineTopology topology) {
  if (topology.devices.size() > kMaxMachineDevices) return too_many("devices", kMaxMachineDevices);
  if (topology.links.size() > kMaxMachineLinks) return too_many("links", kMaxMachineLinks);
  if (topology.numa.size() > kMaxNumaDomains) return too_many("NUMA nodes", kMaxNumaDomains);
  if (auto checked = check_devices(topology.devices); !checked) return checked.error();
  std::sort(topology.numa.begin(), topology.numa.end(),
            [](const NumaDomain& a, const NumaDomain& b) { return a.number < b.number; });
  for (std::size_t i = 1; i < topology.numa.size(); ++i)
    if (topology.numa[i].number == topology.numa[i - 1].number)
      return given_twice("NUMA node " + std::to_string(topology.numa[i].number));
  sort_devices(topology);
  return topology;
}

}  // namespace gridfold
