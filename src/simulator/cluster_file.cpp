#include "simulator/cluster_file.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "devices/device_facts.h"
#include "simulator/links_reader.h"
#include "wire/document.h"
#include "wire/field.h"
#include "wire/topology_reader.h"

namespace gridfold {
namespace {

constexpr std::array<std::string_view, 2> kClusterKeys = {"nodes", "fabric"};
constexpr std::array<std::string_view, 7> kNodeKeys = {"name",    "count",   "cpu",  "memory",
                                                       "devices", "domains", "links"};
constexpr std::array<std::string_view, 9> kDeviceKeys = {
    "class", "model", "count", "memory", "numa", "switch", "island", "card", "partitioned"};
constexpr std::int64_t kMostGroups = 1024;

std::string required_text(const Field& parent, std::string_view key, std::string_view example) {
  if (const auto field = parent.find(key)) return read_text(*field);
  parent.fail("'" + std::string(key) + "' is missing", "add it, such as " + std::string(example));
  return {};
}

// One number a device.
void read_groups(const Field& item, std::string_view key, std::int32_t DeviceSpec::*number,
                 std::span<DeviceSpec> devices) {
  const auto field = item.find(key);
  if (!field) return;
  if (!field->is_list())
    return field->fail_kind("a list", "one number a device, such as [0, 0, 1, 1]");
  if (field->size() != devices.size()) {
    return field->fail("there are " + std::to_string(devices.size()) + " devices, and it has " +
                           std::to_string(field->size()) + " numbers",
                       "give each device its number");
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].*number =
        static_cast<std::int32_t>(read_integer(field->item(i), 0, kMostGroups - 1));
  }
}

void read_partitions(const Field& item, DeviceSpec& device) {
  const auto field = item.find("partitioned");
  if (!field || !read_bool(*field)) return;
  const DeviceFacts* facts = built_in_facts().find(device.model);
  if (facts == nullptr || facts->partitions.empty()) {
    return field->fail("no partitions of a " + device.model + " are known",
                       "name a model that has some, such as A100-SXM4-80GB");
  }
  device.partitions = facts->partitions;
}

void read_devices(const Field& field, NodeSpec& node) {
  if (!field.is_list()) return field.fail_kind("a list", "such as - {class: gpu, count: 8}");
  for (std::size_t i = 0; i < field.size(); ++i) {
    const Field item = field.item(i);
    if (!check_map(item, kDeviceKeys)) return;
    DeviceSpec device;
    device.origin = DeviceOrigin::kEmulated;
    device.device_class = required_text(item, "class", "class: gpu");
    device.model = required_text(item, "model", "model: A100-SXM4-80GB");
    if (const auto memory = item.find("memory")) {
      device.memory = read_quantity(*memory, parse_bytes);
    }
    const auto count = item.find("count");
    const std::int64_t copies = count ? read_integer(*count, 1, kMaxDevicesPerNode) : 1;
    if (node.devices.size() + static_cast<std::size_t>(copies) > kMaxDevicesPerNode) {
      return item.fail("the node has more than " + std::to_string(kMaxDevicesPerNode) + " devices",
                       "spread them over several nodes");
    }
    read_partitions(item, device);
    node.devices.insert(node.devices.end(), static_cast<std::size_t>(copies), device);
    const auto added = std::span(node.devices).last(static_cast<std::size_t>(copies));
    read_groups(item, "numa", &DeviceSpec::numa, added);
    read_groups(item, "switch", &DeviceSpec::pcie_switch, added);
    read_groups(item, "island", &DeviceSpec::island, added);
    read_groups(item, "card", &DeviceSpec::card, added);
  }
}

NodeSpec read_node(const Field& field) {
  NodeSpec node;
  node.name = required_text(field, "name", "name: a100");
  const auto cpu = field.find("cpu");
  if (cpu) {
    node.cpu = read_quantity(*cpu, parse_cores);
  } else {
    field.fail("'cpu' is missing", "add the cores of a node, such as cpu: 96");
  }
  const auto memory = field.find("memory");
  if (memory) {
    node.memory = read_quantity(*memory, parse_bytes);
  } else {
    field.fail("'memory' is missing", "add the memory of a node, such as memory: 1TiB");
  }
  if (const auto devices = field.find("devices")) read_devices(*devices, node);
  if (const auto domains = field.find("domains")) node.domains = read_domains(*domains);
  if (const auto links = field.find("links")) read_node_links(*links, node);
  return node;
}

// The node as often as it says, with numbers after the name when more than one.
void add_nodes(const Field& field, ClusterSpec& cluster, std::set<std::string>& names,
               Diagnosis& diagnosis) {
  if (!check_map(field, kNodeKeys)) return;
  const NodeSpec node = read_node(field);
  const auto count = field.find("count");
  const std::int64_t copies = count ? read_integer(*count, 1, kMaxClusterNodes) : 1;
  if (diagnosis.error()) return;
  if (static_cast<std::int64_t>(cluster.nodes.size()) + copies > kMaxClusterNodes) {
    return field.fail("the cluster has more than " + std::to_string(kMaxClusterNodes) + " nodes",
                      "give fewer");
  }
  for (std::int64_t i = 0; i < copies; ++i) {
    NodeSpec copy = node;
    if (copies > 1) copy.name += "-" + std::to_string(i);
    if (!names.insert(copy.name).second) {
      return field.fail("a second node is called " + copy.name, "give every node its own name");
    }
    cluster.nodes.push_back(std::move(copy));
  }
}

// A slip in a level's name must not leave its links out.
void check_levels_are_used(const Field& fabric, const ClusterSpec& cluster) {
  for (std::size_t i = 0; i < cluster.fabric.size(); ++i) {
    const auto lies_in = [&](const NodeSpec& node) {
      return std::any_of(node.domains.begin(), node.domains.end(), [&](const DomainStep& step) {
        return step.level == cluster.fabric[i].level;
      });
    };
    if (std::none_of(cluster.nodes.begin(), cluster.nodes.end(), lies_in))
      fabric.item(i).fail("no node lies in a domain of this level",
                          "name a level of the nodes' domains");
  }
}

}  // namespace

Result<ClusterSpec> parse_cluster_file(std::string_view text, const std::string& file) {
  const auto documents = read_documents(text, DocumentFormat::kYaml);
  if (!documents) return documents.error().with_context(file);
  if (documents->size() != 1) {
    return invalid(file + ": a cluster file is one document, not " +
                   std::to_string(documents->size()));
  }
  Diagnosis diagnosis;
  const Field root(documents->front(), diagnosis);
  ClusterSpec cluster;
  cluster.name = file;
  if (check_map(root, kClusterKeys)) {
    if (const auto fabric = root.find("fabric")) cluster.fabric = read_levels(*fabric);
    const auto nodes = root.find("nodes");
    if (!nodes) {
      root.fail("'nodes' is missing", "add nodes: with at least one entry");
    } else if (!nodes->is_list()) {
      nodes->fail_kind("a list", "such as - {name: a100, cpu: 96, memory: 1TiB}");
    } else {
      std::set<std::string> names;
      for (std::size_t i = 0; i < nodes->size(); ++i) {
        add_nodes(nodes->item(i), cluster, names, diagnosis);
      }
    }
  }
  if (const auto fabric = root.find("fabric")) check_levels_are_used(*fabric, cluster);
  if (diagnosis.error()) return diagnosis.error()->with_context(file);
  return cluster;
}

}  // namespace gridfold
