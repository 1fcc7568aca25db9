#include "nvml_partitions.h"

#include <cmath>

namespace gridfold::nvml {
namespace {

// The library's numbers of profiles; 7 and 8 are those with media engines.
constexpr unsigned kProfileCount = 10;
bool has_media_engines(unsigned number) { return number == 7 || number == 8; }

// The name counts memory in eighths of the device's, rounded to whole GB, which
// is more than the partition really has.
std::string profile_name(unsigned number, const nvml_profile& profile,
                         unsigned long long device_bytes) {
  const double device_mib = static_cast<double>(device_bytes) / (1 << 20);
  const double eighths = std::ceil(static_cast<double>(profile.memory_mib) / device_mib * 8);
  const double gigabytes = std::round(eighths / 8 * std::ceil(device_mib / 1024));
  return std::to_string(profile.slice_count) + "g." +
         std::to_string(static_cast<long long>(gigabytes)) + "gb" +
         (has_media_engines(number) ? "+me" : "");
}

std::vector<std::uint32_t> starts_of(const Library& library, nvml_device device, unsigned id) {
  nvml_placement placements[32] = {};
  unsigned count = 32;
  std::vector<std::uint32_t> starts;
  if (library.nvmlDeviceGetGpuInstancePossiblePlacements_v2 == nullptr ||
      library.nvmlDeviceGetGpuInstancePossiblePlacements_v2(device, id, placements, &count) !=
          NVML_OK) {
    return starts;
  }
  for (unsigned i = 0; i < count && i < 32; ++i) starts.push_back(placements[i].start);
  return starts;
}

// Profile and start of the part that a MIG device lies in, as far as told.
void describe_instance(const Library& library, nvml_device device, nvml_device part,
                       const std::vector<Profile>& profiles, Instance& out) {
  unsigned id = 0;
  nvml_gpu_instance instance = nullptr;
  nvml_gpu_instance_info info = {};
  if (library.nvmlDeviceGetGpuInstanceId == nullptr ||
      library.nvmlDeviceGetGpuInstanceById == nullptr ||
      library.nvmlGpuInstanceGetInfo == nullptr ||
      library.nvmlDeviceGetGpuInstanceId(part, &id) != NVML_OK ||
      library.nvmlDeviceGetGpuInstanceById(device, id, &instance) != NVML_OK ||
      library.nvmlGpuInstanceGetInfo(instance, &info) != NVML_OK) {
    return;
  }
  out.start = {static_cast<std::int64_t>(info.placement.start), 1, 0};
  for (const auto& profile : profiles) {
    if (profile.id == info.profile_id) out.profile = profile.name;
  }
}

}  // namespace

bool is_partitioned(const Library& library, nvml_device device) {
  unsigned current = 0;
  unsigned pending = 0;
  return library.nvmlDeviceGetMigMode != nullptr &&
         library.nvmlDeviceGetMigMode(device, &current, &pending) == NVML_OK && current == 1;
}

std::vector<Profile> profiles_of(const Library& library, nvml_device device) {
  std::vector<Profile> out;
  nvml_memory memory = {};
  if (library.nvmlDeviceGetGpuInstanceProfileInfo == nullptr ||
      library.nvmlDeviceGetMemoryInfo(device, &memory) != NVML_OK || memory.total == 0) {
    return out;
  }
  for (unsigned number = 0; number < kProfileCount; ++number) {
    nvml_profile told = {};
    if (library.nvmlDeviceGetGpuInstanceProfileInfo(device, number, &told) != NVML_OK) continue;
    out.push_back({told.id, told.slice_count, profile_name(number, told, memory.total),
                   told.memory_mib << 20, starts_of(library, device, told.id)});
  }
  return out;
}

std::vector<Instance> instances_of(const Library& library, nvml_device device,
                                   const std::vector<Profile>& profiles) {
  std::vector<Instance> out;
  unsigned most = 0;
  if (library.nvmlDeviceGetMaxMigDeviceCount == nullptr ||
      library.nvmlDeviceGetMigDeviceHandleByIndex == nullptr ||
      library.nvmlDeviceGetMaxMigDeviceCount(device, &most) != NVML_OK) {
    return out;
  }
  for (unsigned i = 0; i < most; ++i) {
    nvml_device part = nullptr;
    char uid[NVML_TEXT_SIZE] = "";
    if (library.nvmlDeviceGetMigDeviceHandleByIndex(device, i, &part) != NVML_OK ||
        library.nvmlDeviceGetUUID(part, uid, sizeof uid) != NVML_OK) {
      continue;
    }
    Instance instance;
    instance.uid = uid;
    describe_instance(library, device, part, profiles, instance);
    out.push_back(std::move(instance));
  }
  return out;
}

}  // namespace gridfold::nvml
