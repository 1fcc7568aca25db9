/* A stand-in for libnvidia-ml.so.1: eight H100, the last one in MIG mode with
 * two partitions, all joined through a switch by 18 links each. More partitions
 * can be made and all be removed. What goes wrong is chosen by the environment,
 * read at every call:
 *
 *   GRIDFOLD_FAKE_NVML         ok (or unset), device_lost (GPU 3 fell off the bus
 *                              after an XID 79), init_fails, no_driver,
 *                              parts_in_use (no partition can be removed),
 *                              no_compute_instances (none can be made)
 *   GRIDFOLD_FAKE_NVML_PARTS   a file that keeps the partitions between processes,
 *                              a line "id profile start" each
 *   GRIDFOLD_FAKE_NVML_HANG    name of a call that never returns
 *   GRIDFOLD_FAKE_NVML_HOLDERS pids that hold GPU 0, with commas between
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml_api.h"

enum { GPUS = 8, LOST_GPU = 3, MIG_GPU = 7, PARTS = 7, LINKS = 18 };
static const unsigned long long kMib = 1ull << 20;
static const unsigned long long kMemoryMib = 81559;

/* By number: slices, memory, the library's own id, slots taken, starts. */
struct profile {
  unsigned slices, memory_mib, id, size, start_count, starts[7];
};
static const struct profile kProfiles[] = {
    {1, 9984, 19, 1, 7, {0, 1, 2, 3, 4, 5, 6}},
    {2, 20096, 14, 2, 3, {0, 2, 4}},
    {3, 40448, 9, 4, 2, {0, 4}},
    {4, 40448, 5, 4, 1, {0}},
    {7, 81079, 0, 8, 1, {0}},
};
enum { PROFILES = sizeof kProfiles / sizeof kProfiles[0] };

struct nvml_opaque_device {
  int gpu;
  int part; /* place in `parts`; -1: the whole GPU */
};
struct nvml_opaque_gpu_instance {
  int part;
};
struct nvml_opaque_compute_instance {
  int part;
};
struct part {
  unsigned id; /* 0: none here */
  unsigned profile_number, start;
  int computes; /* has its compute instance */
};

/* At first 1g.10gb at slot 0, 3g.40gb at slot 4. */
static struct part parts[PARTS] = {{1, 0, 0, 1}, {2, 2, 4, 1}};
static unsigned last_id = 2;
static struct nvml_opaque_device gpus[GPUS] = {{0, -1}, {1, -1}, {2, -1}, {3, -1},
                                               {4, -1}, {5, -1}, {6, -1}, {7, -1}};
static struct nvml_opaque_device part_devices[PARTS] = {{MIG_GPU, 0}, {MIG_GPU, 1}, {MIG_GPU, 2},
                                                        {MIG_GPU, 3}, {MIG_GPU, 4}, {MIG_GPU, 5},
                                                        {MIG_GPU, 6}};
static struct nvml_opaque_gpu_instance instances[PARTS] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}};
static struct nvml_opaque_compute_instance computes[PARTS] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}};

static void read_parts(void) {
  const char* path = getenv("GRIDFOLD_FAKE_NVML_PARTS");
  FILE* file = path != NULL ? fopen(path, "r") : NULL;
  struct part part = {0, 0, 0, 1};
  int count = 0;
  if (file == NULL) return;
  memset(parts, 0, sizeof parts);
  while (count < PARTS &&
         fscanf(file, "%u %u %u", &part.id, &part.profile_number, &part.start) == 3) {
    parts[count++] = part;
    if (part.id > last_id) last_id = part.id;
  }
  fclose(file);
}

static void write_parts(void) {
  const char* path = getenv("GRIDFOLD_FAKE_NVML_PARTS");
  FILE* file = path != NULL ? fopen(path, "w") : NULL;
  int i;
  if (file == NULL) return;
  for (i = 0; i < PARTS; ++i) {
    if (parts[i].id != 0)
      fprintf(file, "%u %u %u\n", parts[i].id, parts[i].profile_number, parts[i].start);
  }
  fclose(file);
}

static int mode_is(const char* mode) {
  const char* chosen = getenv("GRIDFOLD_FAKE_NVML");
  return chosen != NULL && strcmp(chosen, mode) == 0;
}

static void enter(const char* call) {
  const char* hangs = getenv("GRIDFOLD_FAKE_NVML_HANG");
  if (hangs == NULL || strcmp(hangs, call) != 0) return;
  for (;;) pause();
}

static nvml_status state_of(nvml_device device) {
  return device->gpu == LOST_GPU && mode_is("device_lost") ? NVML_GPU_IS_LOST : NVML_OK;
}

/* Opens a call about a device: returns early where the device is lost. */
#define ENTER(device)                                         \
  do {                                                        \
    enter(__func__);                                          \
    if (state_of(device) != NVML_OK) return state_of(device); \
  } while (0)

nvml_status nvmlInit_v2(void) {
  enter(__func__);
  if (mode_is("no_driver")) return NVML_DRIVER_NOT_LOADED;
  return mode_is("init_fails") ? NVML_UNKNOWN_ERROR : NVML_OK;
}

nvml_status nvmlShutdown(void) {
  enter(__func__);
  return NVML_OK;
}

const char* nvmlErrorString(nvml_status status) {
  switch (status) {
    case NVML_OK: return "Success";
    case NVML_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_GPU_IS_LOST: return "GPU is lost";
    case NVML_NOT_SUPPORTED: return "Not Supported";
    case NVML_IN_USE: return "In use by another client";
    case NVML_INSUFFICIENT_RESOURCES: return "Insufficient Resources";
    default: return "Unknown Error";
  }
}

nvml_status nvmlDeviceGetCount_v2(unsigned* count) {
  enter(__func__);
  *count = GPUS;
  return NVML_OK;
}

nvml_status nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device* device) {
  enter(__func__);
  if (index >= GPUS) return NVML_BAD_ARGUMENT;
  *device = &gpus[index];
  return state_of(*device);
}

static void uid_of(nvml_device device, char* text, unsigned size) {
  if (device->part < 0) {
    snprintf(text, size, "GPU-00000000-0000-4000-8000-%012d", device->gpu);
  } else {
    snprintf(text, size, "MIG-00000000-0000-4000-8000-%012u", parts[device->part].id);
  }
}

nvml_status nvmlDeviceGetUUID(nvml_device device, char* text, unsigned size) {
  ENTER(device);
  uid_of(device, text, size);
  return NVML_OK;
}

nvml_status nvmlDeviceGetHandleByUUID(const char* uid, nvml_device* device) {
  char each[NVML_TEXT_SIZE];
  int i;
  enter(__func__);
  read_parts();
  for (i = 0; i < GPUS + PARTS; ++i) {
    if (i >= GPUS && parts[i - GPUS].id == 0) continue;
    *device = i < GPUS ? &gpus[i] : &part_devices[i - GPUS];
    uid_of(*device, each, sizeof each);
    if (strcmp(each, uid) == 0) return state_of(*device);
  }
  return NVML_NOT_FOUND;
}

nvml_status nvmlDeviceGetName(nvml_device device, char* text, unsigned size) {
  ENTER(device);
  snprintf(text, size, "NVIDIA H100 80GB HBM3");
  return NVML_OK;
}

nvml_status nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory* memory) {
  ENTER(device);
  memory->total = kMemoryMib * kMib;
  memory->used = 512 * kMib;
  memory->free = memory->total - memory->used;
  return NVML_OK;
}

nvml_status nvmlDeviceGetPciInfo_v3(nvml_device device, struct nvml_pci* pci) {
  ENTER(device);
  memset(pci, 0, sizeof *pci);
  pci->bus = 0x10u + (unsigned)device->gpu;
  snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02X:00.0", pci->bus);
  return NVML_OK;
}

nvml_status nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_utilisation* rates) {
  ENTER(device);
  if (device->gpu == MIG_GPU) return NVML_NOT_SUPPORTED;
  rates->gpu = 37;
  rates->memory = 12;
  return NVML_OK;
}

nvml_status nvmlDeviceGetPowerUsage(nvml_device device, unsigned* milliwatts) {
  ENTER(device);
  *milliwatts = 123456;
  return NVML_OK;
}

nvml_status nvmlDeviceGetTemperature(nvml_device device, int sensor, unsigned* celsius) {
  ENTER(device);
  if (sensor != NVML_TEMPERATURE_OF_GPU) return NVML_BAD_ARGUMENT;
  *celsius = 41;
  return NVML_OK;
}

nvml_status nvmlDeviceGetRemappedRows(nvml_device device, unsigned* corrected,
                                      unsigned* uncorrected, unsigned* pending, unsigned* failed) {
  ENTER(device);
  *corrected = *uncorrected = *pending = *failed = 0;
  return NVML_OK;
}

nvml_status nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned* count,
                                                    struct nvml_process* list) {
  const char* at = device->gpu == 0 ? getenv("GRIDFOLD_FAKE_NVML_HOLDERS") : NULL;
  unsigned found = 0;
  ENTER(device);
  while (at != NULL && *at != '\0') {
    char* end = NULL;
    const unsigned long pid = strtoul(at, &end, 10);
    if (found < *count) {
      memset(&list[found], 0, sizeof list[found]);
      list[found].pid = (unsigned)pid;
      list[found].used_memory = 256 * kMib;
    }
    ++found;
    at = *end == ',' ? end + 1 : NULL;
  }
  if (found > *count) {
    *count = found;
    return NVML_INSUFFICIENT_SIZE;
  }
  *count = found;
  return NVML_OK;
}

nvml_status nvmlDeviceGetGraphicsRunningProcesses_v3(nvml_device device, unsigned* count,
                                                     struct nvml_process* list) {
  ENTER(device);
  (void)count;
  (void)list;
  return NVML_NOT_SUPPORTED;
}

nvml_status nvmlDeviceGetNvLinkState(nvml_device device, unsigned link, unsigned* active) {
  ENTER(device);
  if (link >= LINKS) return NVML_BAD_ARGUMENT;
  *active = 1;
  return NVML_OK;
}

/* The other end is the switch, which is no GPU. */
nvml_status nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml_device device, unsigned link,
                                                struct nvml_pci* pci) {
  ENTER(device);
  memset(pci, 0, sizeof *pci);
  snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02X:00.0", 0xC0u + link % 4);
  return NVML_OK;
}

nvml_status nvmlDeviceGetMigMode(nvml_device device, unsigned* current, unsigned* pending) {
  ENTER(device);
  *current = *pending = device->gpu == MIG_GPU;
  return NVML_OK;
}

nvml_status nvmlDeviceGetMaxMigDeviceCount(nvml_device device, unsigned* count) {
  ENTER(device);
  *count = PARTS;
  return NVML_OK;
}

nvml_status nvmlDeviceGetMigDeviceHandleByIndex(nvml_device device, unsigned index,
                                                nvml_device* part) {
  ENTER(device);
  read_parts();
  if (device->gpu != MIG_GPU || index >= PARTS || !parts[index].computes) return NVML_NOT_FOUND;
  *part = &part_devices[index];
  return NVML_OK;
}

nvml_status nvmlDeviceGetGpuInstanceId(nvml_device device, unsigned* id) {
  ENTER(device);
  if (device->part < 0) return NVML_BAD_ARGUMENT;
  *id = parts[device->part].id;
  return NVML_OK;
}

nvml_status nvmlDeviceGetGpuInstanceById(nvml_device device, unsigned id,
                                         nvml_gpu_instance* instance) {
  int i;
  ENTER(device);
  for (i = 0; i < PARTS; ++i) {
    *instance = &instances[i];
    if (id != 0 && parts[i].id == id) return NVML_OK;
  }
  return NVML_NOT_FOUND;
}

nvml_status nvmlGpuInstanceGetInfo(nvml_gpu_instance instance,
                                   struct nvml_gpu_instance_info* info) {
  const struct part* part = &parts[instance->part];
  enter(__func__);
  info->device = &gpus[MIG_GPU];
  info->id = part->id;
  info->profile_id = kProfiles[part->profile_number].id;
  info->placement.start = part->start;
  info->placement.size = kProfiles[part->profile_number].size;
  return NVML_OK;
}

nvml_status nvmlDeviceGetGpuInstanceProfileInfo(nvml_device device, unsigned number,
                                                struct nvml_profile* profile) {
  ENTER(device);
  if (number >= PROFILES) return NVML_NOT_SUPPORTED;
  memset(profile, 0, sizeof *profile);
  profile->id = kProfiles[number].id;
  profile->slice_count = kProfiles[number].slices;
  profile->memory_mib = kProfiles[number].memory_mib;
  return NVML_OK;
}

nvml_status nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvml_device device, unsigned id,
                                                          struct nvml_placement* placements,
                                                          unsigned* count) {
  unsigned number, i;
  ENTER(device);
  for (number = 0; number < PROFILES; ++number) {
    const struct profile* profile = &kProfiles[number];
    if (profile->id != id) continue;
    if (profile->start_count > *count) return NVML_INSUFFICIENT_SIZE;
    *count = profile->start_count;
    for (i = 0; i < profile->start_count; ++i) {
      placements[i].start = profile->starts[i];
      placements[i].size = profile->size;
    }
    return NVML_OK;
  }
  return NVML_BAD_ARGUMENT;
}

static unsigned slots_of(unsigned profile_number, unsigned start) {
  return ((1u << kProfiles[profile_number].size) - 1) << start;
}

nvml_status nvmlDeviceCreateGpuInstanceWithPlacement(nvml_device device, unsigned id,
                                                     const struct nvml_placement* placement,
                                                     nvml_gpu_instance* instance) {
  unsigned number, i, taken = 0;
  int legal = 0, free = -1;
  ENTER(device);
  read_parts();
  if (device->gpu != MIG_GPU) return NVML_NOT_SUPPORTED;
  for (number = 0; number < PROFILES && kProfiles[number].id != id;) ++number;
  if (number == PROFILES) return NVML_BAD_ARGUMENT;
  for (i = 0; i < kProfiles[number].start_count; ++i)
    legal |= kProfiles[number].starts[i] == placement->start;
  if (!legal || placement->size != kProfiles[number].size) return NVML_BAD_ARGUMENT;
  for (i = 0; i < PARTS; ++i) {
    if (parts[i].id != 0) taken |= slots_of(parts[i].profile_number, parts[i].start);
    if (parts[i].id == 0 && free < 0) free = (int)i;
  }
  if (free < 0 || (taken & slots_of(number, placement->start)) != 0)
    return NVML_INSUFFICIENT_RESOURCES;
  parts[free].id = ++last_id;
  parts[free].profile_number = number;
  parts[free].start = placement->start;
  parts[free].computes = 0;
  *instance = &instances[free];
  return NVML_OK;
}

/* Kinds of compute instance: of 1, 2, 3, 4 and 7 slices. */
nvml_status nvmlGpuInstanceGetComputeInstanceProfileInfo(nvml_gpu_instance instance, unsigned kind,
                                                         unsigned engines,
                                                         struct nvml_compute_profile* profile) {
  enter(__func__);
  if (kind >= PROFILES || engines != 0 ||
      kProfiles[kind].slices > kProfiles[parts[instance->part].profile_number].slices)
    return NVML_NOT_SUPPORTED;
  memset(profile, 0, sizeof *profile);
  profile->id = kind;
  profile->slice_count = kProfiles[kind].slices;
  return NVML_OK;
}

nvml_status nvmlGpuInstanceCreateComputeInstance(nvml_gpu_instance instance, unsigned id,
                                                 nvml_compute_instance* made) {
  struct part* part = &parts[instance->part];
  enter(__func__);
  if (mode_is("no_compute_instances") || part->computes || id != part->profile_number)
    return NVML_INSUFFICIENT_RESOURCES;
  part->computes = 1;
  write_parts();
  *made = &computes[instance->part];
  return NVML_OK;
}

nvml_status nvmlGpuInstanceGetComputeInstances(nvml_gpu_instance instance, unsigned id,
                                               nvml_compute_instance* list, unsigned* count) {
  const struct part* part = &parts[instance->part];
  enter(__func__);
  *count = part->computes && id == part->profile_number;
  if (*count == 1) list[0] = &computes[instance->part];
  return NVML_OK;
}

nvml_status nvmlComputeInstanceDestroy(nvml_compute_instance instance) {
  enter(__func__);
  if (mode_is("parts_in_use")) return NVML_IN_USE;
  parts[instance->part].computes = 0;
  return NVML_OK;
}

nvml_status nvmlGpuInstanceDestroy(nvml_gpu_instance instance) {
  enter(__func__);
  if (parts[instance->part].computes) return NVML_IN_USE;
  parts[instance->part].id = 0;
  write_parts();
  return NVML_OK;
}
