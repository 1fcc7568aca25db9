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

// Sets the profile's starts and length.
void place(const Library& library, nvml_device device, Profile& profile) {
  nvml_placement placements[32] = {};
  unsigned count = 32;
  if (library.nvmlDeviceGetGpuInstancePossiblePlacements_v2 == nullptr ||
      library.nvmlDeviceGetGpuInstancePossiblePlacements_v2(device, profile.id, placements,
                                                            &count) != NVML_OK) {
    return;
  }
  for (unsigned i = 0; i < count && i < 32; ++i) {
    profile.starts.push_back(placements[i].start);
    profile.length = placements[i].size;
  }
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

bool can_split(const Library& library) {
  return library.nvmlDeviceCreateGpuInstanceWithPlacement != nullptr &&
         library.nvmlGpuInstanceDestroy != nullptr &&
         library.nvmlGpuInstanceGetComputeInstanceProfileInfo != nullptr &&
         library.nvmlGpuInstanceGetComputeInstances != nullptr &&
         library.nvmlGpuInstanceCreateComputeInstance != nullptr &&
         library.nvmlComputeInstanceDestroy != nullptr &&
         library.nvmlGpuInstanceGetInfo != nullptr &&
         library.nvmlDeviceGetGpuInstanceId != nullptr &&
         library.nvmlDeviceGetGpuInstanceById != nullptr &&
         library.nvmlDeviceGetMigDeviceHandleByIndex != nullptr &&
         library.nvmlDeviceGetMaxMigDeviceCount != nullptr;
}
const Outcome kCannotSplit{GRIDFOLD_UNSUPPORTED, "this driver does not split GPUs"};

Outcome failed(const Library& library, const char* call, nvml_status status) {
  return {GRIDFOLD_FAILED, library.describe(call, status)};
}

// The kinds of compute instance that a GPU instance has, by NVML's numbers.
constexpr unsigned kComputeKinds = 16;
constexpr unsigned kSharedEngines = 0;  // NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED

Outcome add_compute_instance(const Library& library, nvml_gpu_instance instance, unsigned slices) {
  for (unsigned kind = 0; kind < kComputeKinds; ++kind) {
    nvml_compute_profile told = {};
    if (library.nvmlGpuInstanceGetComputeInstanceProfileInfo(instance, kind, kSharedEngines,
                                                             &told) != NVML_OK ||
        told.slice_count != slices) {
      continue;
    }
    nvml_compute_instance made = nullptr;
    const auto status = library.nvmlGpuInstanceCreateComputeInstance(instance, told.id, &made);
    if (status == NVML_OK) return {};
    return failed(library, "nvmlGpuInstanceCreateComputeInstance", status);
  }
  return {GRIDFOLD_FAILED, "no compute instance takes all " + std::to_string(slices) + " slices"};
}

Outcome remove_compute_instances(const Library& library, nvml_gpu_instance instance) {
  for (unsigned kind = 0; kind < kComputeKinds; ++kind) {
    nvml_compute_profile told = {};
    nvml_compute_instance list[8] = {};
    unsigned count = 8;
    if (library.nvmlGpuInstanceGetComputeInstanceProfileInfo(instance, kind, kSharedEngines,
                                                             &told) != NVML_OK ||
        library.nvmlGpuInstanceGetComputeInstances(instance, told.id, list, &count) != NVML_OK) {
      continue;
    }
    for (unsigned i = 0; i < count && i < 8; ++i) {
      if (const auto status = library.nvmlComputeInstanceDestroy(list[i]); status != NVML_OK)
        return failed(library, "nvmlComputeInstanceDestroy", status);
    }
  }
  return {};
}

// The MIG device that lies in this GPU instance; null: there is none.
nvml_device device_in(const Library& library, nvml_device device, unsigned instance_id) {
  unsigned most = 0;
  if (library.nvmlDeviceGetMaxMigDeviceCount(device, &most) != NVML_OK) return nullptr;
  for (unsigned i = 0; i < most; ++i) {
    nvml_device part = nullptr;
    unsigned id = 0;
    if (library.nvmlDeviceGetMigDeviceHandleByIndex(device, i, &part) == NVML_OK &&
        library.nvmlDeviceGetGpuInstanceId(part, &id) == NVML_OK && id == instance_id) {
      return part;
    }
  }
  return nullptr;
}

// Of a GPU instance that was just made, with its compute instance.
Outcome name_instance(const Library& library, nvml_device device, nvml_gpu_instance instance,
                      std::string& uid) {
  nvml_gpu_instance_info info = {};
  if (const auto status = library.nvmlGpuInstanceGetInfo(instance, &info); status != NVML_OK)
    return failed(library, "nvmlGpuInstanceGetInfo", status);
  const nvml_device part = device_in(library, device, info.id);
  if (part == nullptr) return {GRIDFOLD_FAILED, "the new MIG device is not listed"};
  char text[NVML_TEXT_SIZE] = "";
  if (const auto status = library.nvmlDeviceGetUUID(part, text, sizeof text); status != NVML_OK)
    return failed(library, "nvmlDeviceGetUUID", status);
  uid = text;
  return {};
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
    Profile& profile = out.emplace_back();
    profile.id = told.id;
    profile.slices = told.slice_count;
    profile.name = profile_name(number, told, memory.total);
    profile.memory_bytes = told.memory_mib << 20;
    place(library, device, profile);
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

Outcome make_instance(const Library& library, nvml_device device, const Profile& profile,
                      std::uint32_t start, Instance& made) {
  if (!can_split(library)) return kCannotSplit;
  const nvml_placement placement = {start, profile.length};
  nvml_gpu_instance instance = nullptr;
  const auto status =
      library.nvmlDeviceCreateGpuInstanceWithPlacement(device, profile.id, &placement, &instance);
  if (status != NVML_OK) return failed(library, "nvmlDeviceCreateGpuInstanceWithPlacement", status);
  Outcome outcome = add_compute_instance(library, instance, profile.slices);
  if (outcome.ok()) outcome = name_instance(library, device, instance, made.uid);
  if (!outcome.ok()) {
    remove_compute_instances(library, instance);
    library.nvmlGpuInstanceDestroy(instance);
    return outcome;
  }
  made.profile = profile.name;
  made.start = {static_cast<std::int64_t>(start), 1, 0};
  return {};
}

Outcome remove_instance(const Library& library, nvml_device device, const std::string& uid) {
  if (!can_split(library)) return kCannotSplit;
  nvml_device part = nullptr;
  if (const auto status = library.nvmlDeviceGetHandleByUUID(uid.c_str(), &part); status != NVML_OK)
    return {GRIDFOLD_NOT_FOUND, library.describe("nvmlDeviceGetHandleByUUID", status)};
  unsigned id = 0;
  nvml_gpu_instance instance = nullptr;
  if (const auto status = library.nvmlDeviceGetGpuInstanceId(part, &id); status != NVML_OK)
    return failed(library, "nvmlDeviceGetGpuInstanceId", status);
  if (const auto status = library.nvmlDeviceGetGpuInstanceById(device, id, &instance);
      status != NVML_OK) {
    return failed(library, "nvmlDeviceGetGpuInstanceById", status);
  }
  if (const Outcome emptied = remove_compute_instances(library, instance); !emptied.ok())
    return emptied;
  if (const auto status = library.nvmlGpuInstanceDestroy(instance); status != NVML_OK)
    return failed(library, "nvmlGpuInstanceDestroy", status);
  return {};
}

}  // namespace gridfold::nvml
