/* The device interface of Gridfold: how a shared object tells the daemon about
 * devices it has never heard of. Plain C99; this one file is all a plug-in
 * needs, and it links to nothing of ours. docs/devices.md shows how to write,
 * build and check one.
 *
 * A plug-in exports one function:
 *
 *     const struct gridfold_device_plugin *gridfold_device_plugin_get(uint32_t host_abi);
 *
 * It returns a table that stays valid as long as the object is loaded, or NULL
 * when it cannot serve a host of that ABI number.
 *
 * Ownership. Answers are handed over through a sink that the host passes in:
 * the plug-in calls sink(context, &item) once an item, from within the call and
 * from the same thread. The item and every string it points at are the
 * plug-in's and need to live only until the sink returns; the host copies. What
 * the host passes in lives until the call returns. Strings are UTF-8, ended by
 * a zero byte; the host uses at most 4096 bytes of one.
 *
 * Versions. Every struct begins with its own size in bytes, set by the side
 * that fills it. Later versions only add fields at the end, so the host reads no
 * further than `size` and takes what is missing as unknown. The ABI number
 * changes when this cannot hold.
 *
 * Threads. The host makes one call at a time on one plug-in, all from one
 * thread of its own, with all signals blocked. A plug-in may use threads of its
 * own but must not call a sink from them.
 *
 * Time. Each call should answer within a second. When one has not returned
 * after the host's deadline (5 s unless configured), the plug-in counts as "not
 * answering": its devices are not given to new work and it is not called again
 * before the call returns. The object is never unloaded.
 *
 * Never exit, abort, fork, change signal handlers, the working directory or the
 * environment of the process.
 *
 * Unknown is not zero: what the hardware does not tell is left `known == 0`.
 */
#ifndef GRIDFOLD_DEVICE_PLUGIN_H
#define GRIDFOLD_DEVICE_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GRIDFOLD_DEVICE_ABI 1u

/* What a call returns. */
enum {
  GRIDFOLD_OK = 0,
  GRIDFOLD_UNAVAILABLE = 1, /* no driver, no hardware, no such library: nothing is wrong */
  GRIDFOLD_INVALID = 2,     /* the configuration or an argument is wrong */
  GRIDFOLD_NOT_FOUND = 3,   /* no device of this uid */
  GRIDFOLD_UNSUPPORTED = 4, /* this plug-in or this device cannot tell */
  GRIDFOLD_FAILED = 5       /* the driver or the device reported an error */
};

/* Why a call did not return GRIDFOLD_OK, for a person. Filled by the plug-in,
 * ended by a zero byte. */
struct gridfold_device_error {
  char message[512];
};

struct gridfold_device_number {
  int64_t value;
  int32_t known; /* 0: unknown, `value` means nothing; 1: known */
  int32_t reserved;
};

enum {
  GRIDFOLD_HEALTH_UNKNOWN = 0,
  GRIDFOLD_HEALTH_OK = 1,
  GRIDFOLD_HEALTH_DEGRADED = 2, /* still works, wants attention: "row remap pending" */
  GRIDFOLD_HEALTH_FAILED = 3    /* must not be given to work */
};

/* One device. A device that has failed is told too, in its place, with what is
 * still known of it. */
struct gridfold_device {
  uint32_t size;
  int32_t health;           /* GRIDFOLD_HEALTH_ */
  const char* reason;       /* why not OK; NULL: none */
  const char* uid;          /* never NULL or empty; unique within the plug-in; names the same
                               device after a restart, as far as the hardware can tell */
  const char* device_class; /* "gpu", "npu", ...: what jobs ask for */
  const char* model;        /* as the vendor prints it; NULL: unknown */
  const char* pci_bus_id;   /* "00000000:3b:00.0"; NULL: unknown or not on PCI */
  struct gridfold_device_number memory_bytes; /* total */
  struct gridfold_device_number numa_node;
  int32_t emulated;    /* 1: not real hardware; shown as such wherever it is shown */
  int32_t partitioned; /* 1: split into partitions and so not usable as a whole */
};
typedef void (*gridfold_device_sink)(void* context, const struct gridfold_device* device);

struct gridfold_device_health {
  uint32_t size;
  int32_t health;
  const char* reason; /* NULL: none */
};
typedef void (*gridfold_health_sink)(void* context, const struct gridfold_device_health* health);

struct gridfold_device_telemetry {
  uint32_t size;
  uint32_t reserved;
  struct gridfold_device_number memory_used_bytes;
  struct gridfold_device_number utilisation_thousandths; /* 0 to 1000 of the recent past */
  struct gridfold_device_number power_milliwatts;
  struct gridfold_device_number temperature_millicelsius;
};
typedef void (*gridfold_telemetry_sink)(void* context,
                                        const struct gridfold_device_telemetry* telemetry);

enum {
  GRIDFOLD_LINK_VENDOR = 1, /* NVLink, xGMI, HCCS, ...: between devices */
  GRIDFOLD_LINK_PCIE = 2
};

struct gridfold_device_link {
  uint32_t size;
  int32_t kind;         /* GRIDFOLD_LINK_ */
  const char* peer_uid; /* a device of this plug-in; NULL: a switch or the host */
  int32_t count;        /* such links side by side, at least 1 */
  int32_t reserved;
  struct gridfold_device_number bits_per_second; /* of all of them together, each way */
};
typedef void (*gridfold_link_sink)(void* context, const struct gridfold_device_link* link);

/* A way in which the device can be split. */
struct gridfold_partition_profile {
  uint32_t size;
  uint32_t slices;  /* of the device's compute that one such partition takes */
  const char* name; /* "1g.10gb" */
  struct gridfold_device_number memory_bytes;
  const uint32_t* starts; /* slots at which such a partition may begin */
  uint32_t start_count;
  uint32_t reserved;
  uint32_t length; /* slots that it takes; 0: as many as slices */
  uint32_t reserved2;
};
/* A partition that exists now. */
struct gridfold_partition {
  uint32_t size;
  uint32_t start;      /* slot; meaningful when start_known */
  const char* uid;     /* what `environment` takes for this partition */
  const char* profile; /* name of its profile */
  int32_t start_known;
  int32_t reserved;
};
typedef void (*gridfold_profile_sink)(void* context,
                                      const struct gridfold_partition_profile* profile);
typedef void (*gridfold_partition_sink)(void* context, const struct gridfold_partition* partition);

/* A process that holds a context or memory on the device. */
struct gridfold_device_process {
  uint32_t size;
  uint32_t reserved;
  int64_t pid; /* as the host's own pid namespace counts, when the driver can tell */
  struct gridfold_device_number memory_bytes;
};
typedef void (*gridfold_process_sink)(void* context, const struct gridfold_device_process* process);

typedef void (*gridfold_variable_sink)(void* context, const char* name, const char* value);

/* The plug-in. All functions are set but those that are said to be optional; one
 * that cannot serve returns GRIDFOLD_UNSUPPORTED. `state` is what `open` gave. */
struct gridfold_device_plugin {
  uint32_t size;
  uint32_t abi;        /* GRIDFOLD_DEVICE_ABI it was built with */
  const char* name;    /* "nvml" */
  const char* version; /* of the plug-in */

  /* `config`: the operator's text, never NULL, often empty. A plug-in that does
   * not understand it returns GRIDFOLD_INVALID. Called once, before all else. */
  int32_t (*open)(const char* config, void** state, struct gridfold_device_error* error);
  /* Called at most once, last, only after `open` succeeded. */
  void (*close)(void* state);

  /* All devices, always in the same order while none is added or removed. One
   * device that fails does not fail the call. */
  int32_t (*devices)(void* state, gridfold_device_sink sink, void* context,
                     struct gridfold_device_error* error);

  /* The rest is about one device. GRIDFOLD_NOT_FOUND for a uid never told. The
   * sinks of health and telemetry are called once. */
  int32_t (*health)(void* state, const char* uid, gridfold_health_sink sink, void* context,
                    struct gridfold_device_error* error);
  int32_t (*telemetry)(void* state, const char* uid, gridfold_telemetry_sink sink, void* context,
                       struct gridfold_device_error* error);
  int32_t (*links)(void* state, const char* uid, gridfold_link_sink sink, void* context,
                   struct gridfold_device_error* error);
  /* GRIDFOLD_OK without any profile: the device cannot be split. */
  int32_t (*partitions)(void* state, const char* uid, gridfold_profile_sink profile_sink,
                        gridfold_partition_sink partition_sink, void* context,
                        struct gridfold_device_error* error);
  /* GRIDFOLD_UNSUPPORTED rather than an empty list when nobody can tell: the
   * list decides whether a device is clean. */
  int32_t (*processes)(void* state, const char* uid, gridfold_process_sink sink, void* context,
                       struct gridfold_device_error* error);

  /* The variables by which a process gets exactly these devices (or
   * partitions), in this order: CUDA_VISIBLE_DEVICES, ... With count 0: those by
   * which it gets none. */
  int32_t (*environment)(void* state, const char* const* uids, uint32_t count,
                         gridfold_variable_sink sink, void* context,
                         struct gridfold_device_error* error);

  /* Optional, both or none (NULL): to split a device that is told as partitioned.
   * A new partition of this profile that begins at this slot; the sink is called
   * once, with the partition. GRIDFOLD_FAILED when there is no room for it. */
  int32_t (*make_partition)(void* state, const char* uid, const char* profile, uint32_t start,
                            gridfold_partition_sink sink, void* context,
                            struct gridfold_device_error* error);
  /* GRIDFOLD_FAILED while a process uses it. */
  int32_t (*remove_partition)(void* state, const char* uid, const char* partition_uid,
                              struct gridfold_device_error* error);
};

typedef const struct gridfold_device_plugin* (*gridfold_device_plugin_entry)(uint32_t host_abi);
#define GRIDFOLD_DEVICE_PLUGIN_SYMBOL "gridfold_device_plugin_get"

#ifdef __cplusplus
}
#endif

#endif /* GRIDFOLD_DEVICE_PLUGIN_H */
