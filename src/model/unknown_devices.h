// Models of devices that queues name and no node has: such a limit or guarantee
// has no effect, and is mostly a slip.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/queue.h"
#include "model/record.h"

namespace gridfold {

struct UnknownDevice {
  std::string queue;
  std::string device;   // "gpu:H10O"
  std::string nearest;  // "gpu:H100-SXM5-80GB", what was probably meant; or empty
  friend bool operator==(const UnknownDevice&, const UnknownDevice&) = default;
};

// "gpu:H100-SXM5-80GB" of each model that a node has, in or out of reach.
std::set<std::string> models_of(std::span<const NodeRecord> nodes);
void add_models_of(const NodeSpec& node, std::set<std::string>& models);

// Each once a queue, in the order of the queues.
std::vector<UnknownDevice> unknown_devices(std::span<const QueueSpec> queues,
                                           const std::set<std::string>& models);

}  // namespace gridfold
