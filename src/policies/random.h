// Random fit: any node that has room, any device of it. The yardstick that
// every other policy must beat.
#pragma once

#include "base/result.h"
#include "policies/registry.h"

namespace gridfold {

struct RandomOptions {
  std::uint64_t seed = 0;  // of the device choice; nodes follow the engine's seed
};
Result<RandomOptions> read_random_options(const PolicyOptions& options);

class RandomFit final : public PlacementPolicy {
 public:
  explicit RandomFit(const RandomOptions& options) : options_(options) {}
  std::string_view name() const override { return "random"; }
  // All nodes score alike, and the engine draws among them.
  bool draws_among_equals() const override { return true; }
  Choice choose(const NodeRoom& node, const Request& request) const override;

 private:
  RandomOptions options_;
};

}  // namespace gridfold
