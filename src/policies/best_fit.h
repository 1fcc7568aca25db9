// Best fit: the node on which the least is left, CPU and devices weighing
// alike after each is divided by that of the largest node.
#pragma once

#include <memory>

#include "base/result.h"
#include "policies/registry.h"
#include "policies/settings.h"

namespace gridfold {

struct BestFitOptions {
  Rounding rounding = Rounding::kPublished;
  std::int64_t largest_cores = 128;  // CPU cores of the largest node
  std::int64_t largest_devices = 8;  // devices of the largest node
};
Result<BestFitOptions> read_best_fit_options(const PolicyOptions& options);

class BestFit final : public PlacementPolicy {
 public:
  explicit BestFit(const BestFitOptions& options) : options_(options) {}
  std::string_view name() const override { return "best_fit"; }
  Choice choose(const NodeRoom& node, const Request& request) const override;

 private:
  BestFitOptions options_;
};

}  // namespace gridfold
