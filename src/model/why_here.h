// Why work lies where it does: what its placer saw at the launch, kept as it
// was then. History, not a reason to be worked out anew: the cluster has
// changed since.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace gridfold {

// What told the place that was taken from the one that would have been next.
enum class DecidedBy : std::uint8_t {
  kUnknown,        // it was launched by a version that did not keep this
  kOnlyOne,        // there was no other
  kScore,          // the policy's: higher is better
  kName,           // equal scores: the first in order of name
  kSeededOrder,    // equal scores: the first in an order drawn once
  kDraw,           // equal scores: it was drawn
  kWholeDomain,    // all the room of its gang's domain was taken
  kRoomMade,       // others were stopped to make this room
  kFewestDomains,  // the gang lies in fewer domains one level down
  kEvenest,        // fewer tasks in the fullest domain of the level to spread over
  kLeastLeft,      // less room is left over
  kCost,           // less expected cost
  kPlan,           // where its reservation is, where no reservation is delayed, or a round's plan
};
// "only_one", "score", …: as stored and shown.
std::string_view to_string(DecidedBy by);
std::optional<DecidedBy> parse_decided_by(std::string_view text);

// Of one task. For a task of a gang that was placed by the tree of domains the
// nodes weighed are those of its own domain, with what the tasks before it left.
struct WhyHere {
  DecidedBy by = DecidedBy::kUnknown;
  NodeId runner_up = NodeId::none();
  std::int32_t feasible_nodes = 0;  // that could have held it, in all
  std::int64_t score = 0;
  std::int64_t runner_up_score = 0;
  friend bool operator==(const WhyHere&, const WhyHere&) = default;
};

// Of a gang that was placed by the tree of domains: the domain that holds it
// all, and the best of the others of its size. `value` is what decided, in the
// unit of `by`: domains, tasks or a score.
struct WhyDomain {
  std::string domain;     // its path, "zone-a/rack-1"; "grid": all nodes
  std::string runner_up;  // empty: none
  DecidedBy by = DecidedBy::kUnknown;
  std::int32_t feasible_domains = 0;  // of this size, that could have held the gang
  std::int64_t value = 0;
  std::int64_t runner_up_value = 0;
  friend bool operator==(const WhyDomain&, const WhyDomain&) = default;
};

}  // namespace gridfold
