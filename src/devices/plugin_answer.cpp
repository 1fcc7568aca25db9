#include "devices/plugin_answer.h"

#include <algorithm>
#include <limits>

#include "base/utf8.h"

namespace gridfold {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::int64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();

bool is_printable_utf8(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return is_valid_utf8(text) && std::none_of(text.begin(), text.end(), is_control);
}

}  // namespace

std::string_view to_string(DeviceHealth health) {
  switch (health) {
    case DeviceHealth::kUnknown: return "unknown";
    case DeviceHealth::kOk: return "ok";
    case DeviceHealth::kDegraded: return "degraded";
    case DeviceHealth::kFailed: return "failed";
  }
  return "";
}

std::string AnswerCheck::text(const char* text, const char* field) {
  if (text == nullptr) return {};
  std::string copy(text, strnlen(text, kMaxText));
  if (!is_printable_utf8(copy)) {
    fail(std::string(field) + " is not printable UTF-8 of at most 4096 bytes");
    return {};
  }
  return copy;
}

std::string AnswerCheck::required_text(const char* text, const char* field) {
  std::string copy = this->text(text, field);
  if (copy.empty()) fail(std::string(field) + " is empty");
  return copy;
}

Known<std::int64_t> AnswerCheck::number(const gridfold_device_number& number, std::int64_t high,
                                        const char* field) {
  if (number.known == 0) return Unknown{};
  if (number.value < 0 || number.value > high) {
    fail(std::string(field) + " is out of range: " + std::to_string(number.value));
    return Unknown{};
  }
  return number.value;
}

Known<Bytes> AnswerCheck::bytes(const gridfold_device_number& amount, const char* field) {
  const auto value = number(amount, kMaxNumber, field);
  return value.is_known() ? Known<Bytes>(Bytes(value.value())) : Unknown{};
}

DeviceHealth AnswerCheck::health(std::int32_t health) {
  switch (health) {
    case GRIDFOLD_HEALTH_UNKNOWN: return DeviceHealth::kUnknown;
    case GRIDFOLD_HEALTH_OK: return DeviceHealth::kOk;
    case GRIDFOLD_HEALTH_DEGRADED: return DeviceHealth::kDegraded;
    case GRIDFOLD_HEALTH_FAILED: return DeviceHealth::kFailed;
    default: fail("health is none of the four: " + std::to_string(health));
  }
  return DeviceHealth::kUnknown;
}

DeviceReport to_report(const gridfold_device* item, AnswerCheck& check) {
  const auto device = check.sized_copy(item);
  DeviceReport out;
  out.spec.uid = check.required_text(device.uid, "uid");
  out.spec.device_class = check.required_text(device.device_class, "device_class");
  out.spec.model = check.text(device.model, "model");
  out.spec.memory = check.bytes(device.memory_bytes, "memory_bytes");
  out.spec.origin = device.emulated != 0 ? DeviceOrigin::kEmulated : DeviceOrigin::kReal;
  const auto numa = check.number(device.numa_node, 1 << 20, "numa_node");
  if (numa.is_known()) out.spec.numa = static_cast<std::int32_t>(numa.value());
  out.pci_bus_id = check.text(device.pci_bus_id, "pci_bus_id");
  out.health = check.health(device.health);
  out.reason = check.text(device.reason, "reason");
  out.partitioned = device.partitioned != 0;
  if (out.health == DeviceHealth::kFailed) {
    out.spec.fault = out.reason.empty() ? "its plug-in reports it as failed" : out.reason;
  } else if (out.partitioned) {
    out.spec.fault =
        "is split into partitions; manage_partitions = true lets Gridfold make and give them out";
  }
  return out;
}

HealthReport to_health(const gridfold_device_health* item, AnswerCheck& check) {
  const auto health = check.sized_copy(item);
  return {check.health(health.health), check.text(health.reason, "reason")};
}

DeviceTelemetry to_telemetry(const gridfold_device_telemetry* item, AnswerCheck& check) {
  const auto told = check.sized_copy(item);
  DeviceTelemetry out;
  out.memory_used = check.bytes(told.memory_used_bytes, "memory_used_bytes");
  out.utilisation_thousandths =
      check.number(told.utilisation_thousandths, 1000, "utilisation_thousandths");
  const auto power = check.number(told.power_milliwatts, kMaxNumber, "power_milliwatts");
  if (power.is_known()) out.power = MilliWatts(power.value());
  // Below zero is a temperature too.
  if (told.temperature_millicelsius.known != 0) {
    out.temperature_millicelsius = told.temperature_millicelsius.value;
  }
  return out;
}

DeviceLink to_link(const gridfold_device_link* item, AnswerCheck& check) {
  const auto link = check.sized_copy(item);
  DeviceLink out;
  if (link.kind != GRIDFOLD_LINK_VENDOR && link.kind != GRIDFOLD_LINK_PCIE) {
    check.fail("link kind is none of the two: " + std::to_string(link.kind));
  }
  if (link.count < 1) check.fail("a link's count is below 1");
  out.kind = link.kind == GRIDFOLD_LINK_PCIE ? DeviceLink::Kind::kPcie : DeviceLink::Kind::kVendor;
  out.peer_uid = check.text(link.peer_uid, "peer_uid");
  out.count = link.count;
  const auto bandwidth = check.number(link.bits_per_second, kMaxNumber, "bits_per_second");
  if (bandwidth.is_known()) out.bandwidth = BitsPerSecond(bandwidth.value());
  return out;
}

PartitionProfile to_profile(const gridfold_partition_profile* item, AnswerCheck& check) {
  const auto profile = check.sized_copy(item);
  PartitionProfile out;
  out.name = check.required_text(profile.name, "profile name");
  out.slices = static_cast<std::int32_t>(std::min(profile.slices, 1u << 16));
  if (profile.slices == 0 || profile.slices > 1u << 16) check.fail("a profile's slices are absurd");
  out.length = profile.length == 0 ? out.slices
                                   : static_cast<std::int32_t>(std::min(profile.length, 1u << 16));
  out.memory = check.bytes(profile.memory_bytes, "profile memory_bytes");
  if (profile.start_count > kMaxPluginItems || (profile.start_count > 0 && !profile.starts)) {
    check.fail("a profile's starts are absurd");
    return out;
  }
  for (std::uint32_t i = 0; i < profile.start_count; ++i) {
    if (profile.starts[i] > 1u << 16) check.fail("a profile's starts are absurd");
    out.starts.push_back(static_cast<std::int32_t>(profile.starts[i]));
  }
  return out;
}

Partition to_partition(const gridfold_partition* item, AnswerCheck& check) {
  const auto partition = check.sized_copy(item);
  Partition out;
  out.uid = check.required_text(partition.uid, "partition uid");
  out.profile = check.text(partition.profile, "partition profile");
  if (partition.start_known != 0) {
    if (partition.start > 1u << 16) check.fail("a partition's start is absurd");
    out.start = static_cast<std::int32_t>(partition.start);
  }
  return out;
}

DeviceProcess to_process(const gridfold_device_process* item, AnswerCheck& check) {
  const auto process = check.sized_copy(item);
  if (process.pid < 1) check.fail("a process id is below 1");
  return {process.pid, check.bytes(process.memory_bytes, "process memory_bytes")};
}

}  // namespace gridfold
