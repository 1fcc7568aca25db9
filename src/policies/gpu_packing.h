// GPU packing: devices in use before idle devices of a node in use, these
// before an idle node.
#pragma once

#include "policies/registry.h"

namespace gridfold {

class GpuPacking final : public PlacementPolicy {
 public:
  std::string_view name() const override { return "gpu_packing"; }
  Choice choose(const NodeRoom& node, const Request& request) const override;
};

}  // namespace gridfold
