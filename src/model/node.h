// What the grid offers: nodes, their devices, and the queues that share them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/topology.h"

namespace gridfold {

// Emulated devices exist only in our books; wherever they are shown they are
// marked as such.
enum class DeviceOrigin : std::uint8_t { kReal, kEmulated };

// A way in which a device can be split (MIG's profiles, a vNPU's templates).
// Slots are the device's unit of splitting, counted from 0; one partition takes
// `length` of them in a row, from one of `starts`.
struct PartitionProfile {
  std::string name;         // "3g.40gb"
  std::int32_t slices = 0;  // of the device's compute that one partition gets
  std::int32_t length = 0;  // slots
  Known<Bytes> memory;
  std::vector<std::int32_t> starts;  // slots at which one may begin
  friend bool operator==(const PartitionProfile&, const PartitionProfile&) = default;
};
// Slots a device may have: a set of them is a 32-bit mask.
inline constexpr std::int32_t kMaxPartitionSlots = 32;

struct DeviceSpec {
  std::string device_class;  // "gpu"
  std::string model;         // "H100-SXM5-80GB"
  Known<Bytes> memory;       // unknown memory cannot be asked for
  std::string uid;           // the vendor's id, or empty
  DeviceOrigin origin = DeviceOrigin::kReal;
  // Where it hangs, by numbers that mean something within the node only; -1
  // unknown.
  std::int32_t numa = -1;         // NUMA node
  std::int32_t pcie_switch = -1;  // PCIe switch
  std::int32_t island = -1;       // devices that reach each other by direct links
  // Not empty: the device is split, and given out in such partitions only.
  std::vector<PartitionProfile> partitions;
  // Why it must not be given to new work, as the backend says ("GPU is lost").
  // Empty: nothing is known to be wrong. It keeps its place among the devices.
  std::string fault;
  friend bool operator==(const DeviceSpec&, const DeviceSpec&) = default;
};

// At most 64 devices a node: a placement is a 64-bit mask of them.
inline constexpr std::size_t kMaxDevicesPerNode = 64;

struct NodeSpec {
  std::string name;
  MilliCores cpu;
  Bytes memory;
  std::vector<DeviceSpec> devices;
  // Path of domains from the widest to the node's own: {{"zone", "a"}, {"rack", "r3"}}.
  std::vector<DomainStep> domains;
  std::map<std::string, std::string> labels;
  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

// Limits hold for a queue and everything beneath it; "a/b" lies beneath "a".
struct QueueSpec {
  std::string name = "default";
  std::int32_t priority = 0;  // higher first, before job priority
  Limit<MilliCores> cpu;
  Limit<Bytes> memory;
  std::map<std::string, std::int64_t>
      devices;       // class -> thousandths of a device; absent: unlimited
  bool open = true;  // takes new jobs
  // Its jobs may stop work of this queue or beneath it that comes strictly later
  // in the queue's order (see engine/eviction_rights.h).
  bool preempts = false;
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

}  // namespace gridfold
