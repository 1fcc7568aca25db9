/* A fake NPU, to try Gridfold and the device interface without hardware, and the
 * shortest complete plug-in to copy from. Its devices are marked as emulated.
 *
 * GRIDFOLD_FAKE_NPU_COUNT: 0 to 64, 4 when unset.
 * GRIDFOLD_FAKE_NPU_MEMORY_BYTES: of each, 32 GiB when unset.
 * It takes no configuration text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gridfold/device_plugin.h"

#define MOST_DEVICES 64

struct fake_npu {
  int64_t count;
  int64_t memory_bytes;
};

static struct gridfold_device_number known(int64_t value) {
  struct gridfold_device_number number = {value, 1, 0};
  return number;
}

static int32_t fail(struct gridfold_device_error* error, int32_t status, const char* message) {
  snprintf(error->message, sizeof error->message, "%s", message);
  return status;
}

/* A variable of the environment as a number in [0, high]; `fallback` when unset. */
static int32_t read_number(const char* name, int64_t high, int64_t fallback, int64_t* out,
                           struct gridfold_device_error* error) {
  const char* text = getenv(name);
  char* end = NULL;
  *out = fallback;
  if (text == NULL) return GRIDFOLD_OK;
  errno = 0;
  *out = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || *out < 0 || *out > high) {
    snprintf(error->message, sizeof error->message, "%s is not a number from 0 to %lld", name,
             (long long)high);
    return GRIDFOLD_INVALID;
  }
  return GRIDFOLD_OK;
}

static int32_t fake_open(const char* config, void** state, struct gridfold_device_error* error) {
  struct fake_npu npu;
  struct fake_npu* copy;
  int32_t status;
  if (config[0] != '\0') return fail(error, GRIDFOLD_INVALID, "takes no configuration");
  status = read_number("GRIDFOLD_FAKE_NPU_COUNT", MOST_DEVICES, 4, &npu.count, error);
  if (status != GRIDFOLD_OK) return status;
  status = read_number("GRIDFOLD_FAKE_NPU_MEMORY_BYTES", INT64_MAX, 32ll << 30, &npu.memory_bytes,
                       error);
  if (status != GRIDFOLD_OK) return status;
  copy = malloc(sizeof *copy);
  if (copy == NULL) return fail(error, GRIDFOLD_FAILED, "out of memory");
  *copy = npu;
  *state = copy;
  return GRIDFOLD_OK;
}

static void fake_close(void* state) { free(state); }

static void uid_of(int64_t index, char uid[32]) {
  snprintf(uid, 32, "fake-npu-%lld", (long long)index);
}

/* The device's index, -1 when there is none of this uid. */
static int64_t index_of(const struct fake_npu* npu, const char* uid) {
  char each[32];
  int64_t i;
  for (i = 0; i < npu->count; ++i) {
    uid_of(i, each);
    if (strcmp(each, uid) == 0) return i;
  }
  return -1;
}

static int32_t not_found(struct gridfold_device_error* error) {
  return fail(error, GRIDFOLD_NOT_FOUND, "no fake NPU of this uid");
}

static int32_t fake_devices(void* state, gridfold_device_sink sink, void* context,
                            struct gridfold_device_error* error) {
  const struct fake_npu* npu = state;
  char uid[32];
  int64_t i;
  (void)error;
  for (i = 0; i < npu->count; ++i) {
    struct gridfold_device device = {sizeof device};
    uid_of(i, uid);
    device.health = GRIDFOLD_HEALTH_OK;
    device.uid = uid;
    device.device_class = "npu";
    device.model = "Fake-NPU";
    device.memory_bytes = known(npu->memory_bytes);
    device.emulated = 1;
    sink(context, &device);
  }
  return GRIDFOLD_OK;
}

static int32_t fake_health(void* state, const char* uid, gridfold_health_sink sink, void* context,
                           struct gridfold_device_error* error) {
  struct gridfold_device_health health = {sizeof health, GRIDFOLD_HEALTH_OK, NULL};
  if (index_of(state, uid) < 0) return not_found(error);
  sink(context, &health);
  return GRIDFOLD_OK;
}

/* Nothing ever runs on it: no memory used, idle; power and heat it has none. */
static int32_t fake_telemetry(void* state, const char* uid, gridfold_telemetry_sink sink,
                              void* context, struct gridfold_device_error* error) {
  struct gridfold_device_telemetry telemetry = {sizeof telemetry};
  if (index_of(state, uid) < 0) return not_found(error);
  telemetry.memory_used_bytes = known(0);
  telemetry.utilisation_thousandths = known(0);
  sink(context, &telemetry);
  return GRIDFOLD_OK;
}

/* Every device has one link to each other. */
static int32_t fake_links(void* state, const char* uid, gridfold_link_sink sink, void* context,
                          struct gridfold_device_error* error) {
  const struct fake_npu* npu = state;
  const int64_t self = index_of(npu, uid);
  char peer[32];
  int64_t i;
  if (self < 0) return not_found(error);
  for (i = 0; i < npu->count; ++i) {
    struct gridfold_device_link link = {sizeof link};
    if (i == self) continue;
    uid_of(i, peer);
    link.kind = GRIDFOLD_LINK_VENDOR;
    link.peer_uid = peer;
    link.count = 1;
    sink(context, &link);
  }
  return GRIDFOLD_OK;
}

static int32_t fake_partitions(void* state, const char* uid, gridfold_profile_sink profile_sink,
                               gridfold_partition_sink partition_sink, void* context,
                               struct gridfold_device_error* error) {
  (void)profile_sink;
  (void)partition_sink;
  (void)context;
  return index_of(state, uid) < 0 ? not_found(error) : GRIDFOLD_OK;
}

static int32_t fake_processes(void* state, const char* uid, gridfold_process_sink sink,
                              void* context, struct gridfold_device_error* error) {
  (void)sink;
  (void)context;
  return index_of(state, uid) < 0 ? not_found(error) : GRIDFOLD_OK;
}

static int32_t fake_environment(void* state, const char* const* uids, uint32_t count,
                                gridfold_variable_sink sink, void* context,
                                struct gridfold_device_error* error) {
  char value[MOST_DEVICES * 4] = "";
  size_t used = 0;
  uint32_t i;
  if (count > MOST_DEVICES) return fail(error, GRIDFOLD_INVALID, "more devices than there are");
  for (i = 0; i < count; ++i) {
    const int64_t index = index_of(state, uids[i]);
    if (index < 0) return not_found(error);
    used += (size_t)snprintf(value + used, sizeof value - used, "%s%lld", i == 0 ? "" : ",",
                             (long long)index);
  }
  sink(context, "GRIDFOLD_FAKE_NPU_VISIBLE_DEVICES", value);
  return GRIDFOLD_OK;
}

static const struct gridfold_device_plugin plugin = {
    sizeof plugin,    GRIDFOLD_DEVICE_ABI, "fake_npu",      "1",
    fake_open,        fake_close,          fake_devices,    fake_health,
    fake_telemetry,   fake_links,          fake_partitions, fake_processes,
    fake_environment,
};

__attribute__((visibility("default"))) const struct gridfold_device_plugin* gridfold_device_plugin_get(
    uint32_t host_abi);

const struct gridfold_device_plugin* gridfold_device_plugin_get(uint32_t host_abi) {
  return host_abi == GRIDFOLD_DEVICE_ABI ? &plugin : NULL;
}
