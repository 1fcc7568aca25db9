// `gridfold sim bound` without its flags: how many of a cluster's GPUs any
// policy could have allocated at best (see planner/packing_bound.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "planner/packing_goal.h"

namespace gridfold {

enum class BoundKind : std::uint8_t {
  kLossless,  // the most that can have arrived with nothing refused
  kArrived,   // the most allocated at each `arrived`
  kKept,      // the same, with what `kept` says held earlier
};
std::string_view to_string(BoundKind kind);
std::optional<BoundKind> parse_bound_kind(std::string_view text);

struct SimBoundOptions {
  std::string cluster;   // see run_inputs.h, in saturation mode
  std::string workload;  // see run_inputs.h
  std::vector<BoundKind> kinds = {BoundKind::kLossless, BoundKind::kArrived};
  std::vector<double> arrived = {1.0, 1.3};
  std::optional<KeptShare> kept;  // given when kinds has kKept
};

// One JSON object, ended by a newline; see docs/formats.md. Errors name the
// field, the reason and the next step.
Result<std::string> run_bound(const SimBoundOptions& options);

// "1.3": a share of the cluster's GPUs, above 0.
Result<double> parse_devices_share(std::string_view text);

// "0.947@0.95": a share held, and the share that had arrived then.
Result<KeptShare> parse_kept(std::string_view text);

}  // namespace gridfold
