// How much of each device class there is, is held, and can be given to nobody,
// at this moment; in thousandths of devices.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "accounting/parts.h"
#include "model/record.h"

namespace gridfold {

using ClassIndex = std::uint16_t;

// Of one class.
struct ClassAmount {
  ClassIndex device_class = 0;
  std::int64_t thousandths = 0;
};

class DeviceBooks {
 public:
  struct Amounts {
    std::int64_t supplied = 0;
    std::int64_t held = 0;
    std::int64_t free = 0;
    // Free, but not to be had: kDrained, kNodeDown, kQuarantined, kFaulty.
    std::array<std::int64_t, 4> off{};
  };

  // A node that is new or has changed.
  void set_node(const NodeRecord& node);

  // What a task holds of each class, one entry a class. A device counts whole
  // at most: where tasks that asked for a share lie beside some that asked for
  // memory alone, the last to come counts for what is left of the device.
  using Taken = std::vector<std::pair<std::uint8_t, std::int32_t>>;  // device, thousandths
  Taken take(const Allocation& at, const TaskRequest& request);
  void give_back(NodeId node, const Taken& taken);
  std::vector<ClassAmount> by_class(NodeId node, const Taken& taken) const;

  ClassIndex class_index(const std::string& device_class);
  std::span<const std::string> classes() const { return classes_; }
  const Amounts& amounts(ClassIndex index) const { return amounts_[index]; }

 private:
  struct Device {
    ClassIndex device_class = 0;
    std::int32_t held = 0;
    std::int8_t off = -1;  // index in Amounts::off; -1: it can be had
  };
  struct Node {
    NodeSpec spec;
    std::vector<Device> devices;
  };
  void count(const Device& device, int sign);
  std::int32_t wish(const DeviceRequest& group, const DeviceSpec& device) const;

  std::vector<std::string> classes_;
  std::vector<Amounts> amounts_;  // by class
  std::vector<Node> nodes_;       // by NodeId
};

// Thousandths of each class that the whole job asks for.
std::vector<ClassAmount> demand_of(const JobSpec& spec, DeviceBooks& books);

}  // namespace gridfold
