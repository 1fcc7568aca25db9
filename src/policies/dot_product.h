// Dot product (Tetris): the node whose free room, as a vector of CPU and
// devices, has the smallest inner product with what the task asks.
#pragma once

#include "base/result.h"
#include "policies/registry.h"
#include "policies/settings.h"

namespace gridfold {

struct DotProductOptions {
  Rounding rounding = Rounding::kPublished;
  std::int64_t largest_cores = 128;  // CPU cores of the largest node
  std::int64_t largest_devices = 8;  // devices of the largest node
};
Result<DotProductOptions> read_dot_product_options(const PolicyOptions& options);

class DotProduct final : public PlacementPolicy {
 public:
  explicit DotProduct(const DotProductOptions& options) : options_(options) {}
  std::string_view name() const override { return "dot_product"; }
  Choice choose(const NodeRoom& node, const Request& request) const override;

 private:
  DotProductOptions options_;
};

}  // namespace gridfold
