// Fragmentation gradient descent: the placement that adds least to the room
// that the usual mix of tasks could not use (Weng et al., USENIX ATC 2023, §4).
#pragma once

#include <array>
#include <vector>

#include "base/result.h"
#include "policies/fragmentation.h"
#include "policies/registry.h"
#include "policies/request_mix.h"
#include "policies/settings.h"

namespace gridfold {

struct FgdOptions {
  Rounding rounding = Rounding::kPublished;
  std::int64_t coverage_percent = 95;  // of all tasks, by the kinds looked at
  std::int64_t max_kinds = 256;        // bounds the tables
};
Result<FgdOptions> read_fgd_options(const PolicyOptions& options);

class Fgd final : public PlacementPolicy {
 public:
  // With a known mix nothing is learned from the arrivals.
  Fgd(const FgdOptions& options, std::vector<MixEntry> known_mix)
      : options_(options), known_mix_(std::move(known_mix)) {}
  std::string_view name() const override { return "fgd"; }
  void prepare(Cluster& cluster) override;
  Choice choose(const NodeRoom& node, const Request& request) const override;
  // Plans anew at 1, 2, 4, … 2,048 arrivals and then every 2,048.
  bool learns() const override { return true; }
  bool observe(const Request& request) override;

 private:
  void plan();
  std::int64_t rounded(std::int64_t gain) const;

  FgdOptions options_;
  std::vector<MixEntry> known_mix_;
  RequestMix mix_;
  std::int64_t arrivals_ = 0;
  std::int64_t next_plan_ = 1;
  Fragmentation fragmentation_;
  // Least gain that rounds to 1, 2, … 99.
  std::array<std::int64_t, 99> thresholds_{};
};

}  // namespace gridfold
