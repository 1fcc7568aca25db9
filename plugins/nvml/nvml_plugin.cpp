// NVIDIA's devices, through libnvidia-ml.so.1.
//
// Configuration: empty, or "library=PATH" for a library elsewhere; without it
// the variable GRIDFOLD_NVML_LIBRARY is asked, then the system.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nvml_library.h"
#include "nvml_partitions.h"

namespace gridfold::nvml {
namespace {

struct State {
  Library library;
  // By NVML's index, as last told: a lost device can no longer say its own.
  std::vector<std::string> uids;
};

gridfold_device_number known(unsigned long long value) {
  return {static_cast<std::int64_t>(value), 1, 0};
}

std::int32_t fail(gridfold_device_error* error, std::int32_t status, const std::string& message) {
  std::snprintf(error->message, sizeof error->message, "%s", message.c_str());
  return status;
}

Outcome library_path(std::string_view config, std::string& path) {
  constexpr std::string_view kKey = "library=";
  if (config.substr(0, kKey.size()) == kKey && config.size() > kKey.size()) {
    path = config.substr(kKey.size());
    return {};
  }
  if (!config.empty()) return {GRIDFOLD_INVALID, "configuration is not \"library=PATH\""};
  const char* from_environment = std::getenv("GRIDFOLD_NVML_LIBRARY");
  if (from_environment != nullptr) path = from_environment;
  return {};
}

std::int32_t open(const char* config, void** out, gridfold_device_error* error) {
  std::string path;
  if (const Outcome found = library_path(config, path); !found.ok()) {
    return fail(error, found.status, found.message);
  }
  Library library;
  if (const Outcome loaded = library.load(path); !loaded.ok()) {
    return fail(error, loaded.status, loaded.message);
  }
  if (const nvml_status status = library.nvmlInit_v2(); status != NVML_OK) {
    return fail(error, status == NVML_DRIVER_NOT_LOADED ? GRIDFOLD_UNAVAILABLE : GRIDFOLD_FAILED,
                library.describe("nvmlInit_v2", status));
  }
  *out = new State{library, {}};
  return GRIDFOLD_OK;
}

void close(void* state) {
  static_cast<State*>(state)->library.nvmlShutdown();
  delete static_cast<State*>(state);
}

struct Health {
  std::int32_t health = GRIDFOLD_HEALTH_OK;
  std::string reason;
};

// The driver answers for the device, and its memory has no rows beyond repair.
Health health_of(const Library& library, nvml_device device) {
  nvml_memory memory = {};
  if (const auto status = library.nvmlDeviceGetMemoryInfo(device, &memory); is_failure(status)) {
    return {GRIDFOLD_HEALTH_FAILED, library.describe("nvmlDeviceGetMemoryInfo", status)};
  }
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  if (library.nvmlDeviceGetRemappedRows == nullptr) return {};
  const auto status =
      library.nvmlDeviceGetRemappedRows(device, &corrected, &uncorrected, &pending, &failed);
  if (is_failure(status)) {
    return {GRIDFOLD_HEALTH_FAILED, library.describe("nvmlDeviceGetRemappedRows", status)};
  }
  if (status == NVML_OK && failed != 0) {
    return {GRIDFOLD_HEALTH_FAILED, "memory row remapping has failed"};
  }
  if (status == NVML_OK && pending != 0) {
    return {GRIDFOLD_HEALTH_DEGRADED, "memory row remapping is pending; reset the GPU"};
  }
  return {};
}

// What outlives a call's item: the texts it points at.
struct Description {
  Health health;
  char uid[NVML_TEXT_SIZE] = "";
  char name[NVML_TEXT_SIZE] = "";
  nvml_pci pci = {};
  nvml_memory memory = {};
  bool partitioned = false;
};

Description describe(State& state, unsigned index) {
  const Library& library = state.library;
  Description out;
  nvml_device device = nullptr;
  const char* call = "nvmlDeviceGetHandleByIndex_v2";
  nvml_status status = library.nvmlDeviceGetHandleByIndex_v2(index, &device);
  if (status == NVML_OK) {
    call = "nvmlDeviceGetUUID";
    status = library.nvmlDeviceGetUUID(device, out.uid, sizeof out.uid);
  }
  if (status != NVML_OK) {
    out.health = {GRIDFOLD_HEALTH_FAILED, library.describe(call, status)};
    const std::string& last = state.uids[index];
    std::snprintf(out.uid, sizeof out.uid, "%s",
                  last.empty() ? ("nvml-index-" + std::to_string(index)).c_str() : last.c_str());
    return out;
  }
  state.uids[index] = out.uid;
  out.health = health_of(library, device);
  library.nvmlDeviceGetName(device, out.name, sizeof out.name);
  library.nvmlDeviceGetPciInfo_v3(device, &out.pci);
  library.nvmlDeviceGetMemoryInfo(device, &out.memory);
  out.partitioned = is_partitioned(library, device);
  return out;
}

std::int32_t devices(void* opaque, gridfold_device_sink sink, void* context,
                     gridfold_device_error* error) {
  State& state = *static_cast<State*>(opaque);
  unsigned count = 0;
  if (const auto status = state.library.nvmlDeviceGetCount_v2(&count); status != NVML_OK) {
    return fail(error, GRIDFOLD_FAILED, state.library.describe("nvmlDeviceGetCount_v2", status));
  }
  if (state.uids.size() < count) state.uids.resize(count);
  for (unsigned i = 0; i < count; ++i) {
    const Description told = describe(state, i);
    gridfold_device device = {};
    device.size = sizeof device;
    device.health = told.health.health;
    device.reason = told.health.reason.empty() ? nullptr : told.health.reason.c_str();
    device.uid = told.uid;
    device.device_class = "gpu";
    device.model = told.name[0] != '\0' ? told.name : nullptr;
    device.pci_bus_id = told.pci.bus_id[0] != '\0' ? told.pci.bus_id : nullptr;
    if (told.memory.total != 0) device.memory_bytes = known(told.memory.total);
    device.partitioned = told.partitioned ? 1 : 0;
    sink(context, &device);
  }
  return GRIDFOLD_OK;
}

bool was_told(const State& state, std::string_view uid) {
  for (const auto& each : state.uids) {
    if (each == uid) return true;
  }
  return false;
}

Outcome find(const State& state, const char* uid, nvml_device* device) {
  if (!was_told(state, uid)) return {GRIDFOLD_NOT_FOUND, std::string("no GPU ") + uid};
  const auto status = state.library.nvmlDeviceGetHandleByUUID(uid, device);
  if (status == NVML_OK) return {};
  return {GRIDFOLD_FAILED, state.library.describe("nvmlDeviceGetHandleByUUID", status)};
}

std::int32_t health(void* opaque, const char* uid, gridfold_health_sink sink, void* context,
                    gridfold_device_error* error) {
  const State& state = *static_cast<State*>(opaque);
  nvml_device device = nullptr;
  const Outcome found = find(state, uid, &device);
  if (found.status == GRIDFOLD_NOT_FOUND) return fail(error, found.status, found.message);
  const Health told =
      found.ok() ? health_of(state.library, device) : Health{GRIDFOLD_HEALTH_FAILED, found.message};
  const gridfold_device_health item = {sizeof item, told.health,
                                       told.reason.empty() ? nullptr : told.reason.c_str()};
  sink(context, &item);
  return GRIDFOLD_OK;
}

std::int32_t telemetry(void* opaque, const char* uid, gridfold_telemetry_sink sink, void* context,
                       gridfold_device_error* error) {
  const State& state = *static_cast<State*>(opaque);
  const Library& library = state.library;
  nvml_device device = nullptr;
  if (const Outcome found = find(state, uid, &device); !found.ok()) {
    return fail(error, found.status, found.message);
  }
  gridfold_device_telemetry item = {};
  item.size = sizeof item;
  nvml_memory memory = {};
  if (const auto status = library.nvmlDeviceGetMemoryInfo(device, &memory); status == NVML_OK) {
    item.memory_used_bytes = known(memory.used);
  } else if (is_failure(status)) {
    return fail(error, GRIDFOLD_FAILED, library.describe("nvmlDeviceGetMemoryInfo", status));
  }
  nvml_utilisation rates = {};
  if (library.nvmlDeviceGetUtilizationRates != nullptr &&
      library.nvmlDeviceGetUtilizationRates(device, &rates) == NVML_OK) {
    item.utilisation_thousandths = known(rates.gpu * 10ull);
  }
  unsigned value = 0;
  if (library.nvmlDeviceGetPowerUsage != nullptr &&
      library.nvmlDeviceGetPowerUsage(device, &value) == NVML_OK) {
    item.power_milliwatts = known(value);
  }
  if (library.nvmlDeviceGetTemperature != nullptr &&
      library.nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_OF_GPU, &value) == NVML_OK) {
    item.temperature_millicelsius = known(value * 1000ull);
  }
  sink(context, &item);
  return GRIDFOLD_OK;
}

// uid by PCI bus id of all devices that still say theirs.
std::map<std::string, std::string> uids_by_bus(const State& state) {
  std::map<std::string, std::string> out;
  for (const auto& uid : state.uids) {
    nvml_device device = nullptr;
    nvml_pci pci = {};
    if (state.library.nvmlDeviceGetHandleByUUID(uid.c_str(), &device) == NVML_OK &&
        state.library.nvmlDeviceGetPciInfo_v3(device, &pci) == NVML_OK) {
      out[pci.bus_id] = uid;
    }
  }
  return out;
}

std::int32_t links(void* opaque, const char* uid, gridfold_link_sink sink, void* context,
                   gridfold_device_error* error) {
  const State& state = *static_cast<State*>(opaque);
  const Library& library = state.library;
  nvml_device device = nullptr;
  if (const Outcome found = find(state, uid, &device); !found.ok()) {
    return fail(error, found.status, found.message);
  }
  if (library.nvmlDeviceGetNvLinkState == nullptr ||
      library.nvmlDeviceGetNvLinkRemotePciInfo_v2 == nullptr) {
    return fail(error, GRIDFOLD_UNSUPPORTED, "this driver does not tell about NVLink");
  }
  const auto uids = uids_by_bus(state);
  std::map<std::string, std::int32_t> counts;  // by peer; "": a switch
  for (unsigned i = 0; i < NVML_MOST_LINKS; ++i) {
    unsigned active = 0;
    nvml_pci remote = {};
    if (library.nvmlDeviceGetNvLinkState(device, i, &active) != NVML_OK || active == 0) continue;
    const bool told = library.nvmlDeviceGetNvLinkRemotePciInfo_v2(device, i, &remote) == NVML_OK;
    const auto peer = told ? uids.find(remote.bus_id) : uids.end();
    ++counts[peer == uids.end() ? "" : peer->second];
  }
  for (const auto& [peer, count] : counts) {
    gridfold_device_link link = {};
    link.size = sizeof link;
    link.kind = GRIDFOLD_LINK_VENDOR;
    link.peer_uid = peer.empty() ? nullptr : peer.c_str();
    link.count = count;
    sink(context, &link);
  }
  return GRIDFOLD_OK;
}

void tell(const Instance& instance, gridfold_partition_sink sink, void* context) {
  gridfold_partition item = {};
  item.size = sizeof item;
  item.start = static_cast<std::uint32_t>(instance.start.value);
  item.start_known = instance.start.known;
  item.uid = instance.uid.c_str();
  item.profile = instance.profile.c_str();
  sink(context, &item);
}

std::int32_t partitions(void* opaque, const char* uid, gridfold_profile_sink profile_sink,
                        gridfold_partition_sink partition_sink, void* context,
                        gridfold_device_error* error) {
  const State& state = *static_cast<State*>(opaque);
  nvml_device device = nullptr;
  if (const Outcome found = find(state, uid, &device); !found.ok()) {
    return fail(error, found.status, found.message);
  }
  const auto profiles = profiles_of(state.library, device);
  for (const auto& profile : profiles) {
    gridfold_partition_profile item = {};
    item.size = sizeof item;
    item.slices = profile.slices;
    item.name = profile.name.c_str();
    item.memory_bytes = known(profile.memory_bytes);
    item.starts = profile.starts.data();
    item.start_count = static_cast<std::uint32_t>(profile.starts.size());
    item.length = profile.length;
    profile_sink(context, &item);
  }
  for (const auto& instance : instances_of(state.library, device, profiles))
    tell(instance, partition_sink, context);
  return GRIDFOLD_OK;
}

std::int32_t make_partition(void* opaque, const char* uid, const char* name, std::uint32_t start,
                            gridfold_partition_sink sink, void* context,
                            gridfold_device_error* error) {
  const State& state = *static_cast<State*>(opaque);
  nvml_device device = nullptr;
  if (const Outcome found = find(state, uid, &device); !found.ok())
    return fail(error, found.status, found.message);
  for (const auto& profile : profiles_of(state.library, device)) {
    if (profile.name != name) continue;
    Instance made;
    const Outcome outcome = make_instance(state.library, device, profile, start, made);
    if (!outcome.ok()) return fail(error, outcome.status, outcome.message);
    tell(made, sink, context);
    return GRIDFOLD_OK;
  }
  return fail(error, GRIDFOLD_INVALID, std::string("no profile ") + name + " on GPU " + uid);
}

std::int32_t remove_partition(void* opaque, const char* uid, const char* partition,
                              gridfold_device_error* error) {
  const State& state = *static_cast<State*>(opaque);
  nvml_device device = nullptr;
  if (const Outcome found = find(state, uid, &device); !found.ok())
    return fail(error, found.status, found.message);
  const Outcome removed = remove_instance(state.library, device, partition);
  return removed.ok() ? GRIDFOLD_OK : fail(error, removed.status, removed.message);
}

using ProcessCall = nvml_status (*)(nvml_device, unsigned*, nvml_process*);

// Adds to `memory` by pid. The list may grow between two calls, so ask again.
nvml_status add_processes(ProcessCall call, nvml_device device,
                          std::map<unsigned, gridfold_device_number>& memory) {
  constexpr unsigned long long kNotAvailable = ~0ull;
  std::vector<nvml_process> list(64);
  for (int attempt = 0; attempt < 8; ++attempt) {
    auto count = static_cast<unsigned>(list.size());
    const nvml_status status = call(device, &count, list.data());
    if (status == NVML_INSUFFICIENT_SIZE) {
      list.resize(list.size() * 4);
      continue;
    }
    if (status != NVML_OK) return status;
    for (unsigned i = 0; i < count && i < list.size(); ++i) {
      auto& held = memory[list[i].pid];
      if (list[i].used_memory != kNotAvailable) held = known(list[i].used_memory);
    }
    return NVML_OK;
  }
  return NVML_INSUFFICIENT_SIZE;
}

std::int32_t processes(void* opaque, const char* uid, gridfold_process_sink sink, void* context,
                       gridfold_device_error* error) {
  const State& state = *static_cast<State*>(opaque);
  const Library& library = state.library;
  nvml_device device = nullptr;
  if (const Outcome found = find(state, uid, &device); !found.ok()) {
    return fail(error, found.status, found.message);
  }
  const ProcessCall compute = library.nvmlDeviceGetComputeRunningProcesses_v3;
  const ProcessCall graphics = library.nvmlDeviceGetGraphicsRunningProcesses_v3;
  if (compute == nullptr) {
    return fail(error, GRIDFOLD_UNSUPPORTED, "this driver does not list processes with instances");
  }
  std::map<unsigned, gridfold_device_number> memory;
  nvml_status status = add_processes(compute, device, memory);
  // A device without a graphics side does not support the second list.
  if (status == NVML_OK && graphics != nullptr) {
    const auto of_graphics = add_processes(graphics, device, memory);
    if (of_graphics != NVML_NOT_SUPPORTED) status = of_graphics;
  }
  if (status != NVML_OK) {
    return fail(error, is_failure(status) ? GRIDFOLD_FAILED : GRIDFOLD_UNSUPPORTED,
                library.describe("list of processes", status));
  }
  for (const auto& [pid, held] : memory) {
    gridfold_device_process item = {};
    item.size = sizeof item;
    item.pid = pid;
    item.memory_bytes = held;
    sink(context, &item);
  }
  return GRIDFOLD_OK;
}

std::int32_t environment(void* opaque, const char* const* uids, std::uint32_t count,
                         gridfold_variable_sink sink, void* context, gridfold_device_error* error) {
  const State& state = *static_cast<State*>(opaque);
  std::string list;
  for (std::uint32_t i = 0; i < count; ++i) {
    nvml_device part = nullptr;
    // A partition is not among the devices told, but the driver knows it.
    if (!was_told(state, uids[i]) &&
        state.library.nvmlDeviceGetHandleByUUID(uids[i], &part) != NVML_OK) {
      return fail(error, GRIDFOLD_NOT_FOUND, std::string("no GPU ") + uids[i]);
    }
    list += (i == 0 ? "" : ",") + std::string(uids[i]);
  }
  sink(context, "CUDA_VISIBLE_DEVICES", list.c_str());
  return GRIDFOLD_OK;
}

constexpr gridfold_device_plugin kPlugin = {
    sizeof(gridfold_device_plugin),
    GRIDFOLD_DEVICE_ABI,
    "nvml",
    "1",
    open,
    close,
    devices,
    health,
    telemetry,
    links,
    partitions,
    processes,
    environment,
    make_partition,
    remove_partition,
};

}  // namespace
}  // namespace gridfold::nvml

extern "C" __attribute__((visibility("default"))) const struct gridfold_device_plugin*
gridfold_device_plugin_get(std::uint32_t host_abi) {
  return host_abi == GRIDFOLD_DEVICE_ABI ? &gridfold::nvml::kPlugin : nullptr;
}
