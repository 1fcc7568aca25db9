// gridfold topology show: what a topology file says of a machine.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "apps/gridfold/output.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "simulator/text_file.h"
#include "topology/device_locality.h"
#include "topology/device_paths.h"
#include "topology/machine_topology_file.h"

namespace gridfold {
namespace {

// A machine with what follows from it.
struct Shown {
  const MachineTopology& machine;
  DevicePaths paths;
  std::vector<DeviceLocality> gpus;  // gpus[i] is of devices[i]
  std::vector<std::string> labels;   // "GPU0", "NIC1", one for each device
};

std::vector<std::string> labels_of(const MachineTopology& machine) {
  static const std::map<MachineDeviceKind, std::string> prefixes = {
      {MachineDeviceKind::kGpu, "GPU"},        {MachineDeviceKind::kAccelerator, "ACC"},
      {MachineDeviceKind::kNic, "NIC"},        {MachineDeviceKind::kNvSwitch, "NVSWITCH"},
      {MachineDeviceKind::kUnknown, "DEVICE"},
  };
  std::map<MachineDeviceKind, int> counts;
  std::vector<std::string> labels;
  for (const auto& device : machine.devices)
    labels.push_back(prefixes.at(device.kind) + std::to_string(counts[device.kind]++));
  return labels;
}

// --- Tables ---

// The file's words must not reach the terminal as orders to it.
std::string or_dash(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text.empty() ? "-" : text;
}
// "?" is what the file does not say.
std::string or_unknown(const Known<std::int32_t>& number) {
  return number.is_known() ? std::to_string(number.value()) : "?";
}
std::string or_unknown(const Known<Bytes>& memory) {
  return memory.is_known() ? readable_bytes(memory.value().value) : "?";
}
std::string or_unknown(std::int32_t number) { return number < 0 ? "?" : std::to_string(number); }

std::string summary(const MachineTopology& machine) {
  std::string text = machine.name + ": " + machine.format;
  const auto add = [&](std::size_t count, const std::string& one, const std::string& several) {
    if (count > 0) text += ", " + std::to_string(count) + " " + (count == 1 ? one : several);
  };
  add(machine.numa.size(), "NUMA node", "NUMA nodes");
  add(machine.count(MachineDeviceKind::kGpu), "GPU", "GPUs");
  add(machine.count(MachineDeviceKind::kAccelerator), "other accelerator", "other accelerators");
  add(machine.count(MachineDeviceKind::kNic), "network card", "network cards");
  add(machine.count(MachineDeviceKind::kUnknown), "device of unknown kind",
      "devices of unknown kind");
  return text + "\n";
}

Table numa_table(const MachineTopology& machine) {
  Table table({"NUMA", "CPUS", "COUNT", "MEMORY"});
  for (const auto& numa : machine.numa) {
    const bool known = numa.cpus.is_known();
    table.add_row({std::to_string(numa.number), known ? or_dash(numa.cpus.value().to_text()) : "?",
                   known ? std::to_string(numa.cpus.value().count()) : "?",
                   or_unknown(numa.memory)});
  }
  return table;
}

// A switch stands below the one above it, two columns further in.
Table switch_table(const Shown& shown) {
  const auto& machine = shown.machine;
  Table table({"PCIE SWITCH", "NUMA", "DEVICES"});
  std::vector<std::size_t> depths;
  for (std::size_t i = 0; i < machine.switches.size(); ++i) {
    const auto& at = machine.switches[i];
    depths.push_back(at.parent < 0 ? 0 : depths[static_cast<std::size_t>(at.parent)] + 1);
    std::string devices;
    for (std::size_t d = 0; d < machine.devices.size(); ++d)
      if (machine.devices[d].pcie_switch == Known<std::int32_t>(static_cast<std::int32_t>(i)))
        devices += (devices.empty() ? "" : " ") + shown.labels[d];
    table.add_row({std::string(2 * depths.back(), ' ') + at.pci_address, or_unknown(at.numa),
                   or_dash(devices)});
  }
  return table;
}

std::string nics_text(const Shown& shown, const DeviceLocality& gpu) {
  std::string text;
  for (const auto& nic : gpu.nics)
    text += (text.empty() ? "" : " ") + shown.labels[static_cast<std::size_t>(nic.device)];
  if (!gpu.nics.empty()) text += " (" + to_text({gpu.nics.front().path, {}, {}}) + ")";
  return or_dash(text);
}

Table device_table(const Shown& shown) {
  Table table({"DEVICE", "NAME", "MODEL", "PCI ADDRESS", "MEMORY", "NUMA", "SWITCH GROUP",
               "NVLINK ISLAND", "NEAREST NICS"});
  for (std::size_t i = 0; i < shown.machine.devices.size(); ++i) {
    const auto& device = shown.machine.devices[i];
    std::vector<std::string> row = {shown.labels[i],
                                    or_dash(device.name),
                                    or_dash(device.model.empty() ? device.pci_id : device.model),
                                    or_dash(device.pci_address),
                                    "-",
                                    or_unknown(device.numa),
                                    "-",
                                    "-",
                                    "-"};
    if (i < shown.gpus.size()) {
      row[4] = or_unknown(device.memory);
      row[6] = or_unknown(shown.gpus[i].switch_group);
      row[7] = or_unknown(shown.gpus[i].island);
      row[8] = nics_text(shown, shown.gpus[i]);
    }
    table.add_row(std::move(row));
  }
  return table;
}

Table path_table(const Shown& shown) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < shown.labels.size(); ++i)
    if (shown.machine.devices[i].kind != MachineDeviceKind::kNvSwitch) ends.push_back(i);
  std::vector<std::string> headers = {""};
  for (const auto end : ends) headers.push_back(shown.labels[end]);
  Table table(std::move(headers));
  for (const auto a : ends) {
    std::vector<std::string> row = {shown.labels[a]};
    for (const auto b : ends) row.push_back(to_text(shown.paths.between(a, b)));
    table.add_row(std::move(row));
  }
  return table;
}

std::string tables(const Shown& shown, bool with_headers) {
  std::string text = summary(shown.machine);
  for (const Table& table : {numa_table(shown.machine), switch_table(shown), device_table(shown)})
    if (!table.empty()) text += "\n" + table.text(with_headers);
  // Its head is part of the matrix.
  if (const Table paths = path_table(shown); !paths.empty()) text += "\n" + paths.text(true);
  return text;
}

// --- JSON ---

void put(JsonWriter& json, std::string_view key, const Known<std::int32_t>& number) {
  json.key(key);
  number.is_known() ? json.number(number.value()) : json.null();
}
void put(JsonWriter& json, std::string_view key, std::int32_t number) {
  put(json, key, number < 0 ? Known<std::int32_t>() : Known<std::int32_t>(number));
}
template <class Tag>
void put(JsonWriter& json, std::string_view key, const Known<Quantity<Tag>>& quantity) {
  json.key(key);
  quantity.is_known() ? json.number(quantity.value().value) : json.null();
}
void put(JsonWriter& json, std::string_view key, const std::string& text) {
  json.key(key);
  text.empty() ? json.null() : json.string(text);
}

void write_numa(JsonWriter& json, const NumaDomain& numa) {
  json.begin_object().key("numa").number(numa.number).key("cpus");
  numa.cpus.is_known() ? json.string(numa.cpus.value().to_text()) : json.null();
  put(json, "memory_bytes", numa.memory);
  json.end_object();
}

void write_device(JsonWriter& json, const Shown& shown, std::size_t index) {
  const auto& device = shown.machine.devices[index];
  json.begin_object().key("index").number(index).key("label").string(shown.labels[index]);
  json.key("kind").string(to_string(device.kind));
  put(json, "number", device.number);
  put(json, "name", device.name);
  put(json, "model", device.model);
  put(json, "uid", device.uid);
  put(json, "pci_id", device.pci_id);
  put(json, "pci_address", device.pci_address);
  put(json, "memory_bytes", device.memory);
  put(json, "numa", device.numa);
  put(json, "host_bridge", device.host_bridge);
  put(json, "pcie_switch", device.pcie_switch);
  if (index < shown.gpus.size()) {
    const auto& gpu = shown.gpus[index];
    put(json, "switch_group", gpu.switch_group);
    put(json, "nvlink_island", gpu.island);
    json.key("nearest_nics").begin_array();
    for (const auto& nic : gpu.nics)
      json.begin_object()
          .key("device")
          .number(nic.device)
          .key("path")
          .string(to_text({nic.path, {}, {}}))
          .end_object();
    json.end_array();
  }
  json.end_object();
}

void write_link(JsonWriter& json, const MachineLink& link) {
  json.begin_object().key("a").number(link.a);
  put(json, "b", link.b);
  json.key("to").string(link.b >= 0 ? "device" : link.b == MachineLink::kHost ? "host" : "unknown");
  put(json, "count", link.count);
  put(json, "bandwidth_bits_per_second", link.bandwidth);
  json.end_object();
}

std::string to_json(const Shown& shown) {
  const auto& machine = shown.machine;
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("name").string(machine.name).key("format").string(machine.format);
  json.key("numa_nodes").begin_array();
  for (const auto& numa : machine.numa) write_numa(json, numa);
  json.end_array().key("pcie_switches").begin_array();
  for (std::size_t i = 0; i < machine.switches.size(); ++i) {
    json.begin_object().key("index").number(i);
    put(json, "pci_address", machine.switches[i].pci_address);
    put(json, "parent", machine.switches[i].parent);
    put(json, "numa", machine.switches[i].numa);
    json.end_object();
  }
  json.end_array().key("devices").begin_array();
  for (std::size_t i = 0; i < machine.devices.size(); ++i) write_device(json, shown, i);
  json.end_array().key("links_told").boolean(machine.links_told).key("links").begin_array();
  for (const auto& link : machine.links) write_link(json, link);
  json.end_array().key("paths").begin_array();
  for (std::size_t a = 0; a < machine.devices.size(); ++a) {
    json.begin_array();
    for (std::size_t b = 0; b < machine.devices.size(); ++b)
      json.string(to_text(shown.paths.between(a, b)));
    json.end_array();
  }
  json.end_array().end_object();
  return text;
}

int show(const Cli& cli, const std::string& path) {
  if (!is_valid_utf8(path)) {
    Error error = invalid("the file's name is not UTF-8");
    error.hint = "rename it";
    return report(error);
  }
  const auto bytes = read_text_file(path);
  if (!bytes) return report(bytes.error());
  const auto machine = read_machine_topology(path, *bytes);
  if (!machine) return report(machine.error());
  const Shown shown{*machine, DevicePaths(*machine), gpu_localities(*machine), labels_of(*machine)};
  if (cli.format() == OutputFormat::kTable) {
    std::fputs(tables(shown, !cli.no_headers).c_str(), stdout);
  } else {
    print_item(cli.format(), {to_json(shown), machine->name});
  }
  return kExitOk;
}

}  // namespace

void add_topology_commands(Cli& cli) {
  auto* topology = cli.root.add_subcommand("topology", "read files that describe a machine");
  topology->require_subcommand(1);
  topology->fallthrough();
  auto* command = topology->add_subcommand(
      "show", "show a machine from hwloc XML, NCCL topology XML or nvidia-smi topo -m");
  command->fallthrough();
  const auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "the file, plain or gzip'ed")->required();
  command->callback([&cli, path] { cli.chosen = [&cli, path] { return show(cli, *path); }; });
}

}  // namespace gridfold
