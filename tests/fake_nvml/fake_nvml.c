/* A stand-in for libnvidia-ml.so.1: eight H100, the last one in MIG mode with
 * two partitions, all joined through a switch by 18 links each. What goes wrong
 * is chosen by the environment, read at every call:
 *
 *   GRIDFOLD_FAKE_NVML         ok (or unset), device_lost (GPU 3 fell off the bus
 *                              after an XID 79), init_fails, no_driver
 *   GRIDFOLD_FAKE_NVML_HANG    name of a call that never returns
 *   GRIDFOLD_FAKE_NVML_HOLDERS pids that hold GPU 0, with commas between
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml_api.h"

enum { GPUS = 8, LOST_GPU = 3, MIG_GPU = 7, PARTS = 2, LINKS = 18 };
static const unsigned long long kMib = 1ull << 20;
static const unsigned long long kMemoryMib = 81559;

struct nvml_opaque_device {
  int gpu;
  int part; /* -1: the whole GPU */
};
struct nvml_opaque_gpu_instance {
  int part;
};
struct part {
  unsigned profile_number, start, size;
};

/* 1g.10gb at slot 0, 3g.40gb at slot 4. */
static const struct part kParts[PARTS] = {{0, 0, 1}, {2, 4, 4}};
static struct nvml_opaque_device gpus[GPUS] = {{0, -1}, {1, -1}, {2, -1}, {3, -1},
                                               {4, -1}, {5, -1}, {6, -1}, {7, -1}};
static struct nvml_opaque_device parts[PARTS] = {{MIG_GPU, 0}, {MIG_GPU, 1}};
static struct nvml_opaque_gpu_instance instances[PARTS] = {{0}, {1}};

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
    snprintf(text, size, "MIG-00000000-0000-4000-8000-%012d", device->part);
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
  for (i = 0; i < GPUS + PARTS; ++i) {
    *device = i < GPUS ? &gpus[i] : &parts[i - GPUS];
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
  *count = 7;
  return NVML_OK;
}

nvml_status nvmlDeviceGetMigDeviceHandleByIndex(nvml_device device, unsigned index,
                                                nvml_device* part) {
  ENTER(device);
  if (device->gpu != MIG_GPU || index >= PARTS) return NVML_NOT_FOUND;
  *part = &parts[index];
  return NVML_OK;
}

nvml_status nvmlDeviceGetGpuInstanceId(nvml_device device, unsigned* id) {
  ENTER(device);
  if (device->part < 0) return NVML_BAD_ARGUMENT;
  *id = (unsigned)device->part + 1;
  return NVML_OK;
}

nvml_status nvmlDeviceGetGpuInstanceById(nvml_device device, unsigned id,
                                         nvml_gpu_instance* instance) {
  ENTER(device);
  if (id < 1 || id > PARTS) return NVML_NOT_FOUND;
  *instance = &instances[id - 1];
  return NVML_OK;
}

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

nvml_status nvmlGpuInstanceGetInfo(nvml_gpu_instance instance,
                                   struct nvml_gpu_instance_info* info) {
  const struct part* part = &kParts[instance->part];
  enter(__func__);
  info->device = &gpus[MIG_GPU];
  info->id = (unsigned)instance->part + 1;
  info->profile_id = kProfiles[part->profile_number].id;
  info->placement.start = part->start;
  info->placement.size = part->size;
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
