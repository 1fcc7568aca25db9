// Why a job's tasks lie where they do, and what keeps those of a waiting job off
// the nodes, as sentences in the reader's language.
#pragma once

#include <string>
#include <string_view>

#include "apps/gridfold/reason_text.h"
#include "client/views.h"

namespace gridfold {

// A line that says as of when, one for the gang's domain, one a task; of many
// tasks the first. Each begins with two spaces.
std::string placement_text(const PlacementView& placement, Instant now, Language language);

// "Of 12 nodes 7 have too little free gpu, 5 are drained.": a line a role.
std::string limits_text(const std::vector<RoleLimitsView>& limits, Language language);

}  // namespace gridfold
