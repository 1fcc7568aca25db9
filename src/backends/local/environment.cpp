#include "backends/local/environment.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "backends/local/slice_limits.h"

namespace gridfold::local {
namespace {

constexpr std::string_view kHostNames[] = {"PATH", "HOME", "LANG",    "LC_ALL",
                                           "TZ",   "USER", "LOGNAME", "TMPDIR"};
constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::uint64_t kFirstMasterPort = 20000;
constexpr std::uint64_t kMasterPorts = 10000;

// Which device classes a vendor's library picks by which variable.
struct DeviceVariable {
  std::string_view device_class;
  const char* name;
};
constexpr DeviceVariable kDeviceVariables[] = {{"gpu", "CUDA_VISIBLE_DEVICES"},
                                               {"npu", "ASCEND_RT_VISIBLE_DEVICES"}};

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

std::string port_list(const std::vector<std::int32_t>& ports) {
  std::vector<std::string> words;
  for (const std::int32_t port : ports) words.push_back(std::to_string(port));
  return join(words);
}

// Where the task stands among its peers.
struct Placement {
  std::vector<std::string> nodes;  // each once, in order of first rank
  std::size_t node_rank = 0;
  std::uint32_t local_rank = 0;
  std::uint32_t local_size = 0;
};

Placement placement_of(const LaunchOrder& order) {
  std::vector<std::string> peers = order.peers;
  if (peers.empty()) peers = {order.node};
  Placement place;
  for (std::size_t rank = 0; rank < peers.size(); ++rank) {
    if (std::find(place.nodes.begin(), place.nodes.end(), peers[rank]) == place.nodes.end()) {
      place.nodes.push_back(peers[rank]);
    }
    if (peers[rank] != order.node) continue;
    ++place.local_size;
    if (rank < order.rank) ++place.local_rank;
  }
  const auto here = std::find(place.nodes.begin(), place.nodes.end(), order.node);
  place.node_rank = static_cast<std::size_t>(here - place.nodes.begin());
  return place;
}

bool holds(const LaunchOrder& order, std::size_t device) { return order.devices >> device & 1; }

// Real devices of the class, as the vendor's library names them: by uid where
// that is what the library takes, else by place among the node's of the class.
std::vector<std::string> visible(const LaunchOrder& order, const NodeSpec& node,
                                 std::string_view device_class) {
  std::vector<std::string> names;
  std::size_t place = 0;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const DeviceSpec& device = node.devices[i];
    if (device.device_class != device_class || device.origin != DeviceOrigin::kReal) continue;
    const bool by_uid = device.uid.starts_with("GPU-") || device.uid.starts_with("MIG-");
    if (holds(order, i)) names.push_back(by_uid ? device.uid : std::to_string(place));
    ++place;
  }
  return names;
}

std::string describe_devices(const LaunchOrder& order, const NodeSpec& node) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    if (!holds(order, i)) continue;
    const DeviceSpec& device = node.devices[i];
    names.push_back(std::to_string(i) + ":" + device.device_class + ":" + device.model +
                    (device.origin == DeviceOrigin::kEmulated ? ":emulated" : ""));
  }
  return join(names);
}

bool holds_real_device(const LaunchOrder& order, const NodeSpec& node) {
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    if (holds(order, i) && node.devices[i].origin == DeviceOrigin::kReal) return true;
  }
  return false;
}

void add_devices(const LaunchOrder& order, const NodeSpec& node, Environment& env) {
  for (const auto& [device_class, name] : kDeviceVariables) {
    env[name] = join(visible(order, node, device_class));
  }
}

void add_torch(const LaunchOrder& order, const NodeSpec& node, const Placement& place,
               Environment& env) {
  const bool own_devices = holds_real_device(order, node);
  const bool one_node = place.nodes.size() == 1;
  env["MASTER_ADDR"] = one_node ? "127.0.0.1" : place.nodes.front();
  env["MASTER_PORT"] = std::to_string(kFirstMasterPort + order.task.job.value % kMasterPorts);
  env["RANK"] = std::to_string(order.rank);
  env["WORLD_SIZE"] = std::to_string(order.world_size);
  env["LOCAL_RANK"] = own_devices ? "0" : std::to_string(place.local_rank);
  env["LOCAL_WORLD_SIZE"] = std::to_string(own_devices ? 1 : place.local_size);
  env["NODE_RANK"] = env["GROUP_RANK"] = std::to_string(place.node_rank);
}

void add_slurm(const LaunchOrder& order, const Role& role, const Placement& place,
               Environment& env) {
  env["SLURM_JOB_ID"] = std::to_string(order.task.job.value);
  env["SLURM_PROCID"] = std::to_string(order.rank);
  env["SLURM_LOCALID"] = std::to_string(place.local_rank);
  env["SLURM_NTASKS"] = std::to_string(order.world_size);
  env["SLURM_NODEID"] = std::to_string(place.node_rank);
  env["SLURM_NNODES"] = std::to_string(place.nodes.size());
  env["SLURM_JOB_NODELIST"] = join(place.nodes);
  if (role.each.cpu.value > 0) {
    env["SLURM_CPUS_PER_TASK"] = std::to_string((role.each.cpu.value + 999) / 1000);
  }
  if (order.spec->array_index) {
    env["SLURM_ARRAY_TASK_ID"] = std::to_string(*order.spec->array_index);
  }
}

std::uint32_t role_rank(const LaunchOrder& order) {
  std::uint32_t rank = order.task.index;
  for (const Role& role : order.spec->roles) {
    const auto count = static_cast<std::uint32_t>(role.count);
    if (rank < count) break;
    rank -= count;
  }
  return rank;
}

void add_gridfold(const LaunchOrder& order, const NodeSpec& node, const Role& role,
                  const Placement& place, const std::string& report, Environment& env) {
  env["GRIDFOLD_JOB_ID"] = order.job_uid;
  env["GRIDFOLD_JOB_NAME"] = order.spec->name;
  env["GRIDFOLD_TASK_INDEX"] = std::to_string(order.task.index);
  env["GRIDFOLD_ATTEMPT"] = std::to_string(order.attempt);
  env["GRIDFOLD_ROLE"] = role.name;
  env["GRIDFOLD_ROLE_RANK"] = std::to_string(role_rank(order));
  env["GRIDFOLD_RANK"] = std::to_string(order.rank);
  env["GRIDFOLD_WORLD_SIZE"] = std::to_string(order.world_size);
  env["GRIDFOLD_NODE_RANK"] = std::to_string(place.node_rank);
  env["GRIDFOLD_NUM_NODES"] = std::to_string(place.nodes.size());
  env["GRIDFOLD_LOCAL_RANK"] = std::to_string(place.local_rank);
  env["GRIDFOLD_DEVICES"] = describe_devices(order, node);
  for (const DeviceRequest& request : role.each.devices) {
    if (!request.partition.empty())
      env["GRIDFOLD_PARTITION"] = request.partition + "@" + std::to_string(order.start);
  }
  env["GRIDFOLD_REPORT"] = report;
  if (!order.spec->ports.empty()) env["GRIDFOLD_PORTS"] = port_list(order.spec->ports);
  if (order.spec->array_index) {
    env["GRIDFOLD_ARRAY_INDEX"] = std::to_string(*order.spec->array_index);
  }
}

}  // namespace

std::string_view device_variable(std::string_view device_class) {
  for (const auto& [each, name] : kDeviceVariables) {
    if (each == device_class) return name;
  }
  return "";
}

Environment host_environment(char** environ) {
  Environment env{{"PATH", kDefaultPath}};
  for (; environ != nullptr && *environ != nullptr; ++environ) {
    const std::string_view line = *environ;
    const std::size_t sign = line.find('=');
    if (sign == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, sign);
    if (std::find(std::begin(kHostNames), std::end(kHostNames), name) != std::end(kHostNames)) {
      env[std::string(name)] = line.substr(sign + 1);
    }
  }
  return env;
}

Environment task_environment(const LaunchOrder& order, const NodeSpec& node,
                             const std::string& report, const Environment& host,
                             const std::string& slice_library) {
  const Role& role = order.spec->role_of(order.task.index);
  const Placement place = placement_of(order);
  Environment env = host;
  add_devices(order, node, env);
  add_torch(order, node, place, env);
  add_slurm(order, role, place, env);
  for (const auto& [name, value] : order.spec->env) env[name] = value;
  for (const auto& [name, value] : role.env) env[name] = value;
  add_slice_limits(order, node, slice_library, env);
  add_gridfold(order, node, role, place, report, env);
  return env;
}

}  // namespace gridfold::local
