// The cluster as the engine sees it: free room of every node and device, in
// flat arrays, and requests compiled against the tables of device classes and
// models. All integers; see base/units.h for the units.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "model/node.h"
#include "model/record.h"

namespace gridfold {

// One device's room. A whole-device holding takes all of it and needs
// holders == 0; a slice takes share, memory or both.
struct DeviceRoom {
  std::uint16_t device_class = 0;  // index in Cluster::device_classes()
  std::uint16_t model = 0;         // index in Cluster::models()
  std::int32_t free_share = 1000;  // thousandths
  std::int32_t holders = 0;
  bool usable = true;              // false: quarantined
  std::int64_t memory = -1;        // bytes in all, -1 unknown
  std::int64_t free_memory = -1;   // bytes not asked for by slices
};

struct NodeRoom {
  std::int64_t cpu = 0;     // millicores free
  std::int64_t memory = 0;  // bytes free
  std::span<const DeviceRoom> devices;
};

// One device group of a compiled request.
struct DeviceNeed {
  std::uint16_t device_class = 0;
  std::int32_t count = 0;
  std::int32_t share = 1000;         // thousandths of each
  std::int64_t memory = 0;           // bytes of each
  std::vector<bool> models;          // by model index; empty: any
  bool is_whole() const { return share == 1000; }
  bool accepts(std::uint16_t model) const {
    return models.empty() || (model < models.size() && models[model]);
  }
  friend bool operator==(const DeviceNeed&, const DeviceNeed&) = default;
};

// What one task asks, compiled. Equal requests share one id.
struct Request {
  std::uint32_t id = 0;
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::vector<DeviceNeed> devices;
  TaskRequest source;
};

// Whether the room of one device suffices for one unit of the need.
bool device_fits(const DeviceRoom& device, const DeviceNeed& need);
// Whether one task of the request fits on the node now.
bool fits(const NodeRoom& node, const Request& request);

}  // namespace gridfold
