#include "topology/machine_links.h"

#include <algorithm>
#include <map>

#include "topology/device_locality.h"
#include "topology/site_fabric.h"

namespace gridfold {
namespace {

Error wrong(std::string message, std::string hint) {
  Error error = invalid(std::move(message));
  error.field = "machine";
  error.hint = std::move(hint);
  return error;
}

// Of all links of the GPU; unknown when one of them is.
Known<BitsPerSecond> nvlink_of(const MachineTopology& machine, std::int32_t gpu) {
  BitsPerSecond sum;
  for (const MachineLink& link : machine.links) {
    if (link.a != gpu && link.b != gpu) continue;
    if (!link.bandwidth.is_known()) return Unknown{};
    sum += link.bandwidth.value();
  }
  if (sum == BitsPerSecond{}) return Unknown{};
  return sum;
}

void set_unknown(std::int32_t& place, std::int32_t told) {
  if (place < 0) place = told;
}

}  // namespace

Result<void> tell_links(const MachineTopology& machine, const LinkFacts& facts, NodeSpec& node) {
  const std::vector<DeviceLocality> gpus = gpu_localities(machine);
  std::vector<DeviceSpec*> devices;
  for (DeviceSpec& device : node.devices) {
    if (device.device_class == "gpu") devices.push_back(&device);
  }
  if (devices.size() != gpus.size())
    return wrong(machine.name + " tells of " + std::to_string(gpus.size()) + " GPUs, and node " +
                     node.name + " has " + std::to_string(devices.size()),
                 "give the topology file of this machine");
  NodeLinks links;
  std::map<std::int32_t, std::int32_t> card_of;  // by index among the machine's devices
  for (std::size_t i = 0; i < machine.devices.size(); ++i) {
    if (machine.devices[i].kind != MachineDeviceKind::kNic) continue;
    const auto number = static_cast<std::int32_t>(links.cards.size());
    card_of.emplace(static_cast<std::int32_t>(i), number);
    links.cards.push_back({number, facts.network, facts.card});
  }
  if (links.cards.empty())
    return wrong(machine.name + " names no network card", "give a file that lists them");

  std::map<std::int32_t, int> members;  // by island
  for (const DeviceLocality& gpu : gpus) ++members[gpu.island];
  std::vector<int> used(links.cards.size(), 0);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const DeviceLocality& gpu = gpus[i];
    set_unknown(devices[i]->numa, gpu.numa);
    set_unknown(devices[i]->pcie_switch, gpu.switch_group);
    if (gpu.island >= 0 && members[gpu.island] > 1) set_unknown(devices[i]->island, gpu.island);
    if (gpu.nics.empty())
      return wrong(
          machine.name + " does not say which network card is near GPU " + std::to_string(i),
          "give a file that lists the cards with their PCIe paths");
    std::int32_t best = card_of.at(gpu.nics.front().device);
    for (const NearNic& nic : gpu.nics) {
      const std::int32_t card = card_of.at(nic.device);
      if (used[static_cast<std::size_t>(card)] < used[static_cast<std::size_t>(best)]) best = card;
    }
    ++used[static_cast<std::size_t>(best)];
    devices[i]->card = best;
  }
  links.nvlink = facts.nvlink;
  if (!links.nvlink.is_known() && !gpus.empty()) links.nvlink = nvlink_of(machine, gpus[0].device);
  links.pcie = facts.pcie;
  links.numa = facts.numa;
  links.socket = facts.socket;
  links.host_network = facts.host_network;
  node.links = SharedLinks(std::move(links));
  if (auto wiring = wiring_of(node); !wiring) return wiring.error().with_context(machine.name);
  return {};
}

}  // namespace gridfold
