// What this machine offers: processors and memory through hwloc, within what
// the affinity mask and the control groups allow us, and the devices that the
// plug-ins tell.
//
//   PluginHost plugins(plugins_in("/usr/lib/gridfold/devices"));
//   auto machine = discover_machine({.emulated = *parse_emulated_devices(text, facts)}, plugins);
//   sink(NodeJoined{machine->node});
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "devices/device_facts.h"
#include "devices/plugin_host.h"
#include "model/node.h"

namespace gridfold {

struct MachineOptions {
  // Name of the node; empty: the host's.
  std::string name;
  // Stand behind the real devices.
  std::vector<DeviceSpec> emulated;
  // The devices of this node as they were stored, while tasks still hold some of
  // them by number: those keep their place (device_order.h).
  std::vector<DeviceSpec> previous;
  // Real devices that are split are given out in partitions, which are made and
  // removed as tasks need them; else not at all.
  bool manage_partitions = false;
  const DeviceFactsTable* facts = &built_in_facts();
};

// A NUMA node of this machine.
struct NumaNode {
  std::int32_t number = 0;  // as the operating system counts
  Bytes memory;
  std::int32_t processors = 0;  // logical ones that we may use
};

struct Machine {
  // cpu: logical processors we may use, at most the group's quota. memory: the
  // machine's, at most the group's limit. Devices that must not be given out
  // have `fault` set.
  NodeSpec node;
  std::vector<NumaNode> numa;
  // What the plug-ins told of their devices, and which of them have trouble.
  std::vector<DeviceReport> reports;
  std::vector<PluginHost::Trouble> troubles;
};

// Errors: kInternal when hwloc or the operating system fails, kLimit for more
// devices than a node can have.
Result<Machine> discover_machine(const MachineOptions& options, PluginHost& plugins);

}  // namespace gridfold
