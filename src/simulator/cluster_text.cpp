#include "simulator/cluster_text.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/quote.h"
#include "simulator/nearest_hint.h"

namespace gridfold {
namespace {

constexpr std::int64_t kMaxNodes = 1'000'000;
constexpr std::array<std::string_view, 5> kKeys = {"nodes", "gpus", "cpu", "memory", "model"};

Error fault(std::string_view key, std::string message, std::string hint) {
  Error error = invalid(std::move(message));
  error.field = "cluster." + std::string(key);
  error.hint = std::move(hint);
  return error;
}

Result<std::map<std::string_view, std::string_view>> split(std::string_view text) {
  std::map<std::string_view, std::string_view> values;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    if (equals == std::string_view::npos) {
      return fault(key, quote(part) + " has no '='", "write nodes=64,gpus=8");
    }
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      return fault(key, "there is no such key",
                   "use nodes, gpus, cpu, memory, model" + nearest_hint(key, kKeys));
    }
    if (!values.emplace(key, part.substr(equals + 1)).second) {
      return fault(key, "is given twice", "leave one of them out");
    }
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

Result<std::int64_t> bounded_count(std::string_view key, std::string_view text, std::int64_t least,
                                   std::int64_t most) {
  const auto count = parse_count(text);
  if (count && *count >= least && *count <= most) return *count;
  return fault(key,
               quote(text) + " is not a number from " + std::to_string(least) + " to " +
                   std::to_string(most),
               "write " + std::string(key) + "=" + std::to_string(least == 0 ? 8 : 64));
}

std::string node_name(std::int64_t index) {
  std::string digits = std::to_string(index);
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return "node-" + digits;
}

// The template of a node; the map holds known keys only.
Result<NodeSpec> read_node(const std::map<std::string_view, std::string_view>& values) {
  const auto value = [&](std::string_view key, std::string_view fallback) {
    const auto found = values.find(key);
    return found == values.end() ? fallback : found->second;
  };
  const auto cpu = parse_cores(value("cpu", "96"));
  if (!cpu) return fault("cpu", cpu.error().message, cpu.error().hint);
  const auto memory = parse_bytes(value("memory", "1TiB"));
  if (!memory) return fault("memory", memory.error().message, memory.error().hint);
  const auto gpus = bounded_count("gpus", value("gpus", "0"), 0, kMaxDevicesPerNode);
  if (!gpus) return gpus.error();
  DeviceSpec gpu;
  gpu.device_class = "gpu";
  gpu.model = std::string(value("model", "gpu"));
  gpu.origin = DeviceOrigin::kEmulated;
  if (gpu.model.empty()) return fault("model", "is empty", "name the GPUs' model");
  NodeSpec node;
  node.cpu = *cpu;
  node.memory = *memory;
  node.devices.assign(static_cast<std::size_t>(*gpus), gpu);
  return node;
}

}  // namespace

bool is_cluster_text(std::string_view text) { return text.find('=') != std::string_view::npos; }

Result<ClusterSpec> parse_cluster_text(std::string_view text) {
  const auto values = split(text);
  if (!values) return values.error();
  const auto count_text = values->find("nodes");
  if (count_text == values->end()) {
    return fault("nodes", "is missing", "write nodes=64,gpus=8");
  }
  const auto count = bounded_count("nodes", count_text->second, 1, kMaxNodes);
  if (!count) return count.error();
  const auto node = read_node(*values);
  if (!node) return node.error();
  ClusterSpec cluster;
  cluster.name = std::string(text);
  cluster.nodes.assign(static_cast<std::size_t>(*count), *node);
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    cluster.nodes[i].name = node_name(static_cast<std::int64_t>(i));
  }
  return cluster;
}

}  // namespace gridfold
