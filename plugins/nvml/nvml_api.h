/* The few declarations of NVIDIA's management library that we use, written from
 * its public documentation: names and layouts are the library's, the words are
 * ours. C, because the fake library of the tests shares it.
 */
#ifndef GRIDFOLD_NVML_API_H
#define GRIDFOLD_NVML_API_H

typedef int nvml_status; /* nvmlReturn_t */
enum {
  NVML_OK = 0,
  NVML_BAD_ARGUMENT = 2,
  NVML_NOT_SUPPORTED = 3,
  NVML_NO_PERMISSION = 4,
  NVML_NOT_FOUND = 6,
  NVML_INSUFFICIENT_SIZE = 7,
  NVML_DRIVER_NOT_LOADED = 9,
  NVML_GPU_IS_LOST = 15,
  NVML_IN_USE = 19,
  NVML_INSUFFICIENT_RESOURCES = 23,
  NVML_UNKNOWN_ERROR = 999
};

typedef struct nvml_opaque_device* nvml_device;                     /* nvmlDevice_t */
typedef struct nvml_opaque_gpu_instance* nvml_gpu_instance;         /* nvmlGpuInstance_t */
typedef struct nvml_opaque_compute_instance* nvml_compute_instance; /* nvmlComputeInstance_t */

struct nvml_memory { /* nvmlMemory_t, bytes */
  unsigned long long total, free, used;
};
struct nvml_pci { /* nvmlPciInfo_t */
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32]; /* "00000000:3B:00.0" */
};
struct nvml_utilisation { /* nvmlUtilization_t, percent */
  unsigned gpu, memory;
};
struct nvml_process { /* nvmlProcessInfo_t of the _v3 calls */
  unsigned pid;
  unsigned long long used_memory; /* bytes; all ones: not available */
  unsigned gpu_instance, compute_instance;
};
struct nvml_profile { /* nvmlGpuInstanceProfileInfo_t */
  unsigned id, is_p2p_supported, slice_count, instance_count, multiprocessor_count;
  unsigned copy_engine_count, decoder_count, encoder_count, jpeg_count, ofa_count;
  unsigned long long memory_mib;
};
struct nvml_placement { /* nvmlGpuInstancePlacement_t */
  unsigned start, size;
};
struct nvml_gpu_instance_info { /* nvmlGpuInstanceInfo_t */
  nvml_device device;
  unsigned id, profile_id;
  struct nvml_placement placement;
};

struct nvml_compute_profile { /* nvmlComputeInstanceProfileInfo_t */
  unsigned id, slice_count, instance_count, multiprocessor_count;
  unsigned shared_copy_engine_count, shared_decoder_count, shared_encoder_count;
  unsigned shared_jpeg_count, shared_ofa_count;
};

enum { NVML_TEXT_SIZE = 96, NVML_TEMPERATURE_OF_GPU = 0, NVML_MOST_LINKS = 18 };

/* The calls: X(type of use, name, parameters). REQUIRED ones are in every
 * library of the last years; without an OPTIONAL one its answer is unknown. */
#define GRIDFOLD_NVML_CALLS(REQUIRED, OPTIONAL)                                                  \
  REQUIRED(nvmlInit_v2, (void))                                                                  \
  REQUIRED(nvmlShutdown, (void))                                                                 \
  REQUIRED(nvmlDeviceGetCount_v2, (unsigned*))                                                   \
  REQUIRED(nvmlDeviceGetHandleByIndex_v2, (unsigned, nvml_device*))                              \
  REQUIRED(nvmlDeviceGetHandleByUUID, (const char*, nvml_device*))                               \
  REQUIRED(nvmlDeviceGetUUID, (nvml_device, char*, unsigned))                                    \
  REQUIRED(nvmlDeviceGetName, (nvml_device, char*, unsigned))                                    \
  REQUIRED(nvmlDeviceGetMemoryInfo, (nvml_device, struct nvml_memory*))                          \
  REQUIRED(nvmlDeviceGetPciInfo_v3, (nvml_device, struct nvml_pci*))                             \
  OPTIONAL(nvmlDeviceGetUtilizationRates, (nvml_device, struct nvml_utilisation*))               \
  OPTIONAL(nvmlDeviceGetPowerUsage, (nvml_device, unsigned*))                                    \
  OPTIONAL(nvmlDeviceGetTemperature, (nvml_device, int, unsigned*))                              \
  OPTIONAL(nvmlDeviceGetRemappedRows, (nvml_device, unsigned*, unsigned*, unsigned*, unsigned*)) \
  OPTIONAL(nvmlDeviceGetComputeRunningProcesses_v3,                                              \
           (nvml_device, unsigned*, struct nvml_process*))                                       \
  OPTIONAL(nvmlDeviceGetGraphicsRunningProcesses_v3,                                             \
           (nvml_device, unsigned*, struct nvml_process*))                                       \
  OPTIONAL(nvmlDeviceGetNvLinkState, (nvml_device, unsigned, unsigned*))                         \
  OPTIONAL(nvmlDeviceGetNvLinkRemotePciInfo_v2, (nvml_device, unsigned, struct nvml_pci*))       \
  OPTIONAL(nvmlDeviceGetMigMode, (nvml_device, unsigned*, unsigned*))                            \
  OPTIONAL(nvmlDeviceGetMaxMigDeviceCount, (nvml_device, unsigned*))                             \
  OPTIONAL(nvmlDeviceGetMigDeviceHandleByIndex, (nvml_device, unsigned, nvml_device*))           \
  OPTIONAL(nvmlDeviceGetGpuInstanceId, (nvml_device, unsigned*))                                 \
  OPTIONAL(nvmlDeviceGetGpuInstanceById, (nvml_device, unsigned, nvml_gpu_instance*))            \
  OPTIONAL(nvmlGpuInstanceGetInfo, (nvml_gpu_instance, struct nvml_gpu_instance_info*))          \
  OPTIONAL(nvmlDeviceGetGpuInstanceProfileInfo, (nvml_device, unsigned, struct nvml_profile*))   \
  OPTIONAL(nvmlDeviceGetGpuInstancePossiblePlacements_v2,                                        \
           (nvml_device, unsigned, struct nvml_placement*, unsigned*))                           \
  OPTIONAL(nvmlDeviceCreateGpuInstanceWithPlacement,                                             \
           (nvml_device, unsigned, const struct nvml_placement*, nvml_gpu_instance*))            \
  OPTIONAL(nvmlGpuInstanceDestroy, (nvml_gpu_instance))                                          \
  OPTIONAL(nvmlGpuInstanceGetComputeInstanceProfileInfo,                                         \
           (nvml_gpu_instance, unsigned, unsigned, struct nvml_compute_profile*))                \
  OPTIONAL(nvmlGpuInstanceGetComputeInstances,                                                   \
           (nvml_gpu_instance, unsigned, nvml_compute_instance*, unsigned*))                     \
  OPTIONAL(nvmlGpuInstanceCreateComputeInstance,                                                 \
           (nvml_gpu_instance, unsigned, nvml_compute_instance*))                                \
  OPTIONAL(nvmlComputeInstanceDestroy, (nvml_compute_instance))

#endif /* GRIDFOLD_NVML_API_H */
