// What a device plug-in tells, as values of ours. Whatever it does not know is
// unknown, never zero.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/node.h"

namespace gridfold {

enum class DeviceHealth : std::uint8_t { kUnknown, kOk, kDegraded, kFailed };
std::string_view to_string(DeviceHealth health);  // "unknown", "ok", …

// One device. `spec.model` is the vendor's text until the facts are applied;
// `spec.fault` is set when it must not be given to work.
struct DeviceReport {
  DeviceSpec spec;
  std::string plugin;      // name of the plug-in that told of it
  std::string pci_bus_id;  // "00000000:3b:00.0", or empty
  DeviceHealth health = DeviceHealth::kUnknown;
  std::string reason;  // why not ok, or empty
  bool partitioned = false;
};

struct HealthReport {
  DeviceHealth health = DeviceHealth::kUnknown;
  std::string reason;
};

struct DeviceTelemetry {
  Known<Bytes> memory_used;
  Known<std::int64_t> utilisation_thousandths;
  Known<MilliWatts> power;
  Known<std::int64_t> temperature_millicelsius;
};

struct DeviceLink {
  enum class Kind : std::uint8_t { kVendor, kPcie };
  Kind kind = Kind::kVendor;
  std::string peer_uid;  // empty: a switch or the host
  std::int32_t count = 1;
  Known<BitsPerSecond> bandwidth;  // of all `count` together, each way
};

struct Partition {
  std::string uid;
  std::string profile;
  Known<std::int32_t> start;
};
struct Partitions {
  std::vector<PartitionProfile> profiles;
  std::vector<Partition> existing;
};

struct DeviceProcess {
  std::int64_t pid = 0;
  Known<Bytes> memory;
};

}  // namespace gridfold
