// GPU clustering: tasks of a kind together. Kinds are slices and whole
// devices; among nodes of equal standing the fullest.
#pragma once

#include "base/result.h"
#include "policies/registry.h"

namespace gridfold {

struct GpuClusteringOptions {
  std::int64_t largest_devices = 8;  // devices of the largest node
};
Result<GpuClusteringOptions> read_gpu_clustering_options(const PolicyOptions& options);

class GpuClustering final : public PlacementPolicy {
 public:
  explicit GpuClustering(const GpuClusteringOptions& options) : options_(options) {}
  std::string_view name() const override { return "gpu_clustering"; }
  Choice choose(const NodeRoom& node, const Request& request) const override;

 private:
  GpuClusteringOptions options_;
};

}  // namespace gridfold
